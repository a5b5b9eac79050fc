import pytest

from schemas.blueprint import Ability, Gate, MetricSpec
from schemas.metrics import NumericNormalisation
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.tree import dataset_counts, tree_tables
from tests.tasks.scoring.samples import ability, blueprint, one_dataset, task


def test_datasets_per_main_ability() -> None:
    # Table 1: 5 + 5, 8 + 8 + 3 + 8, 10 + 3 + 1 + 2 + 4, 3.
    counts = dict(dataset_counts(load_blueprint("moodbench")).iter_rows())
    assert counts == {"values_safety": 10, "foundational": 27, "emotional": 20, "companionship": 3}


def test_siblings_keep_their_proportions() -> None:
    # The largest of 0.3, 0.7 is 0.7 = 1.4 x 2**-1, so both are doubled.
    able, kind = ability("able", task("mind"), weight=0.3), ability("kind", task("heart"), weight=0.7)
    tree = tree_tables(blueprint(able, kind))
    assert tree.nodes["weight"].to_list() == [0.6, 1.4]


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_extreme_weights_come_into_range(scale: float) -> None:
    weights = tree_tables(blueprint(ability("a", task("t", datasets=["d", "e"], d=1 * scale, e=3 * scale)))).datasets["weight"]
    assert 1 <= weights.max() < 2  # type: ignore[operator]
    assert weights[1] / weights[0] == pytest.approx(3)


CENTRED = ("bias_score_ambiguous", "bias_score_disambiguated", "stereotype_score")


def test_bounds_and_level_bits() -> None:
    spec = MetricSpec(metric="mrr", normalisation=NumericNormalisation(min=-1, max=3))
    metrics = (spec, MetricSpec(metric="accuracy", weight=0), *(MetricSpec(metric=name) for name in CENTRED))
    tree = tree_tables(one_dataset(*metrics))
    assert tree.metrics.select("metric", "weight", "kind", "low", "high").rows() == [
        ("mrr", 1.0, "numeric", -1.0, 3.0),
        ("accuracy", 0.0, "ratio", 0.0, 1.0),
        ("bias_score_ambiguous", 1.0, "centred", -1.0, 1.0),
        ("bias_score_disambiguated", 1.0, "centred", -1.0, 1.0),
        ("stereotype_score", 1.0, "centred", 0.0, 1.0),
    ]
    assert tree.rules.filter(level="medium")["levels"].to_list() == [0b111, 0b011, 0b110, 0b010]


def test_abilities_without_datasets_are_left_out() -> None:
    named = Ability(id="later", title="Later", evaluated=False)
    only_named = Ability(id="some", title="Some", children=(named,))
    tree = tree_tables(blueprint(ability("a", task("d")), only_named, gate=Gate(ability="a", threshold=1)))
    assert tree.nodes["node"].to_list() == ["a"]
