"""Each rule of the blueprint accepts and rejects."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.blueprint import Blueprint, LevelRule, MetricSpec
from schemas.metrics import CentredNormalisation, GradeNormalisation, NumericNormalisation, RatioNormalisation

METHOD: dict[str, Any] = {"id": "choice", "metrics": [{"metric": "accuracy"}]}
DATASET: dict[str, Any] = {"title": "D", "methods": [METHOD]}
TASK: dict[str, Any] = {"id": "t", "title": "T", "level": "low", "datasets": ["d"]}
ABILITY: dict[str, Any] = {"id": "a", "title": "A", "tasks": [TASK]}


def fields(**changed: Any) -> dict[str, Any]:
    sound: dict[str, Any] = {
        "name": "tiny",
        "title": "Tiny",
        "version": "1",
        "source": "none",
        "abilities": [ABILITY],
        "datasets": {"d": DATASET},
        "level_rules": [{"weights": {"low": 1}}],
    }
    return sound | changed


def nested(tiers: int) -> dict[str, Any]:
    node = ABILITY
    for tier in range(tiers - 1):
        node = {"id": f"a{tier}", "title": "A", "children": [node]}
    return node


def two(second: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A second ability `b` with dataset `e` beside the first; `second` overrides its fields."""
    task = TASK | {"id": "u", "datasets": ["e"]}
    other = {"id": "b", "title": "B", "tasks": [task]} | second
    return fields(**({"abilities": [ABILITY, other], "datasets": {"d": DATASET, "e": DATASET}} | changed))


@pytest.mark.parametrize(
    "sound",
    [
        fields(),
        fields(abilities=[nested(4)]),
        two({}, gate={"ability": "b", "threshold": 60}),
        two({"weight": 0}),
        fields(abilities=[ABILITY, {"id": "later", "title": "L", "evaluated": False}]),
        fields(
            abilities=[
                ABILITY,
                {"id": "l", "title": "L", "evaluated": False, "children": [{"id": "m", "title": "M", "evaluated": False}]},
            ]
        ),
        fields(rank_item_coverage=0),
    ],
    ids=["plain", "four tiers", "gate", "weight 0 beside 1", "named only", "named only with children", "rank all"],
)
def test_sound_blueprints_are_accepted(sound: dict[str, Any]) -> None:
    assert Blueprint.model_validate(sound).name == "tiny"


def with_task(**changed: Any) -> dict[str, Any]:
    return fields(abilities=[ABILITY | {"tasks": [TASK | changed]}])


def with_method(**changed: Any) -> dict[str, Any]:
    return fields(datasets={"d": {"title": "D", "methods": [METHOD | changed]}})


# What tests/tasks/scoring/test_blueprints.py breaks of every rule, with the message to the author, is not repeated here.
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "name with blanks": (fields(name="Tiny Bench"), "String should match pattern"),
    "no abilities": (fields(abilities=[]), "at least 1 item"),
    "task without datasets": (with_task(datasets=[]), "at least 1 item"),
    "dataset twice in a task": (with_task(datasets=["d", "d"]), "datasets used by more than one task: d"),
    "task id twice": (two({"tasks": [TASK | {"datasets": ["e"]}]}), "must be unique, repeated: t"),
    "task named like an ability": (with_task(id="a"), "must be unique, repeated: a"),
    "no weight at a level": (with_task(weight=0), "no weight above 0 in: ability a, level low"),
    "no weight among children": (
        fields(abilities=[{"id": "b", "title": "B", "children": [ABILITY | {"weight": 0}]}]),
        "no weight above 0 in: ability b",
    ),
    "no weight among metrics": (with_method(metrics=[{"metric": "mrr", "weight": 0}]), "weight above 0 in: dataset d"),
    "unknown metric": (with_method(metrics=[{"metric": "charm"}]), "Input should be 'accuracy'"),
    "rubric without judge": (with_method(rubric="summary"), "judged and rubric must be given together"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_breach_is_rejected(name: str) -> None:
    broken, message = BROKEN[name]
    with pytest.raises(ValidationError) as caught:
        Blueprint.model_validate(broken)
    assert message in str(caught.value)


def test_middle_metrics_are_centred_by_default() -> None:
    assert MetricSpec(metric="stereotype_score").normalisation == CentredNormalisation(best=0.5, span=0.5)
    assert MetricSpec.model_validate({"metric": "bias_score_ambiguous"}).normalisation == CentredNormalisation(best=0, span=1)
    assert MetricSpec(metric="icat").normalisation == RatioNormalisation()
    other = NumericNormalisation(min=-1, max=1)
    assert MetricSpec(metric="bias_score_ambiguous", normalisation=other).normalisation == other


@pytest.mark.parametrize("span", [0, -1, float("inf")])
def test_a_centre_has_something_around_it(span: float) -> None:
    with pytest.raises(ValidationError, match="span"):
        CentredNormalisation(best=0, span=span)


@pytest.mark.parametrize("table", [{}, {"A": -1}, {"A": 100.5}])
def test_grades_lie_on_the_scale(table: dict[str, float]) -> None:
    assert GradeNormalisation(table={"A": 100, "F": 0}).table["F"] == 0
    with pytest.raises(ValidationError):
        GradeNormalisation(table=table)


@pytest.mark.parametrize("weights", [{"low": 0.5}, {"low": 0.6, "high": 0.5}, {"low": 1.5, "high": -0.5}, {}])
def test_level_weights_sum_to_one(weights: dict[Any, float]) -> None:
    assert LevelRule(weights={"low": 0.3, "medium": 0.55, "high": 0.15}).weights["high"] == 0.15
    with pytest.raises(ValidationError):
        LevelRule(weights=weights)


def test_walking_the_tree_visits_parents_first() -> None:
    blueprint = Blueprint.model_validate(fields(abilities=[nested(3), {"id": "z", "title": "Z", "evaluated": False}]))
    assert [(tier, node.id) for tier, node in blueprint.nodes()] == [(1, "a1"), (2, "a0"), (3, "a"), (1, "z")]
    assert [(node.id, task.id) for node, task in blueprint.tasks()] == [("a", "t")]


def test_metric_without_headline_is_written_as_before() -> None:
    assert "headline" not in MetricSpec(metric="accuracy").model_dump(mode="json")
    assert MetricSpec(metric="accuracy", headline="Right").model_dump(mode="json")["headline"] == "Right"
