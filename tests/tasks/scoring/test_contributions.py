import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.blueprint import Blueprint, BlueprintDataset, Gate, MethodSpec, MetricSpec
from tasks.scoring.aggregation import aggregate_scores
from tasks.scoring.contributions import metric_contributions
from tasks.scoring.normalisation import normalise_scores
from tasks.scoring.reduction import reduce_item_scores
from tasks.scoring.tree import tree_tables
from tasks.scoring.veto import total_scores
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

TWO = BlueprintDataset(
    title="f",
    methods=(MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"), MetricSpec(metric="exact_match", weight=3))),),
)


def design() -> Blueprint:
    """A gate; able 0.3 with two tiers and levels; kind 0.7 with a dataset of two metrics."""
    hear = ability("hear", task("d1"), task("d2", "medium"), task("d3", "high", weight=2), task("d4", "high"))
    return blueprint(
        ability("safe", task("g")),
        ability("able", hear, ability("speak", task("t", datasets=["e1", "e2"], e1=3)), weight=0.3),
        ability("kind", task("f"), weight=0.7),
        gate=Gate(ability="safe", threshold=60),
        datasets={"f": TWO},
    )


ALL = ("d1", "d2", "d3", "d4", "e1", "e2", "f", "f/exact_match", "g")


def rows(hits: dict[str, int]) -> pl.DataFrame:
    parts = [
        items(name.partition("/")[0], share(count, 10), metric=name.partition("/")[2] or "accuracy")
        for name, count in hits.items()
    ]
    return pl.concat(parts)


def contributions(hits: dict[str, int]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    chosen = design()
    tree = tree_tables(chosen)
    normalized = normalise_scores(reduce_item_scores(rows(hits).lazy()), tree)
    aggregates = aggregate_scores(normalized, tree)
    abilities = aggregates.nodes.filter(tier=1).rename({"node": "ability"})
    return metric_contributions(normalized, aggregates, tree, "safe"), normalized, total_scores(abilities, chosen)


def test_complete_by_hand() -> None:
    found, _, _ = contributions(dict.fromkeys(ALL, 5))
    # able 0.3, of which hear 1/2: low 0.30, medium 0.55, high 0.15 split 2 : 1; speak 1/2 split 3 : 1. kind 0.7 split 1 : 3.
    assert {(row[0], row[1]): row[2] for row in found.select("dataset", "metric", "contribution").iter_rows()} == {
        ("d1", "accuracy"): pytest.approx(0.3 / 2 * 0.30),
        ("d2", "accuracy"): pytest.approx(0.3 / 2 * 0.55),
        ("d3", "accuracy"): pytest.approx(0.3 / 2 * 0.15 * 2 / 3),
        ("d4", "accuracy"): pytest.approx(0.3 / 2 * 0.15 / 3),
        ("e1", "accuracy"): pytest.approx(0.3 / 2 * 3 / 4),
        ("e2", "accuracy"): pytest.approx(0.3 / 2 / 4),
        ("f", "accuracy"): pytest.approx(0.7 / 4),
        ("f", "exact_match"): pytest.approx(0.7 * 3 / 4),
    }


def test_what_is_missing_is_shared_out() -> None:
    # able only through hear, low and high: 0.3 x (0.6 and 0.4); kind only through one metric: 0.7.
    found, _, _ = contributions({"d1": 5, "d4": 5, "f": 5, "g": 5})
    assert dict(found.select("dataset", "contribution").iter_rows()) == {
        "d1": pytest.approx(0.18),
        "d4": pytest.approx(0.12),
        "f": pytest.approx(0.7),
    }


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.sampled_from(ALL), st.integers(0, 10), min_size=1))
def test_scores_times_contributions_are_the_total(hits: dict[str, int]) -> None:
    found, normalized, totals = contributions(hits)
    joined = found.join(normalized, on=["model", "setting", "dataset", "method", "metric"])
    assert joined.height == found.height
    total = totals["total_before_veto"].item()
    if set(hits) == {"g"}:
        assert total is None
        assert found.is_empty()
    else:
        assert found["contribution"].sum() == pytest.approx(1)
        assert (joined["contribution"] * joined["normalized_0_100"]).sum() == pytest.approx(total)
