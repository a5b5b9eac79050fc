"""From normalised scores to abilities, and what each metric contributes to a total."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.blueprint import Blueprint, Gate, MetricSpec
from schemas.vocabulary import Level
from tasks.scoring.aggregation import Aggregates, aggregate_scores, metric_contributions, total_scores
from tasks.scoring.reduction import normalise_scores, reduce_item_scores
from tasks.scoring.tree import tree_tables
from tests.rows import each_row
from tests.tasks.scoring.samples import ability, blueprint, items, measured, one_dataset, share, task

TWO_METRICS = (MetricSpec(metric="accuracy"), MetricSpec(metric="exact_match", weight=3))


def aggregate(design: Blueprint, *parts: pl.DataFrame) -> Aggregates:
    tree = tree_tables(design)
    return aggregate_scores(normalise_scores(reduce_item_scores(pl.concat(parts).lazy()), tree), tree)


def one(frame: pl.DataFrame, **named: str) -> dict[str, Any]:
    rows = frame.filter(**named)
    assert rows.height == 1
    return rows.row(0, named=True)


SCORES: dict[Level, int] = {"low": 50, "medium": 80, "high": 20}


@each_row(
    ("present", "expected"),
    [
        ("low medium high", 62.0),  # 0.30 x 50 + 0.55 x 80 + 0.15 x 20 = 15 + 44 + 3
        ("low medium", 68.0),  # 0.4 x 50 + 0.6 x 80 = 20 + 48
        ("low high", 38.0),  # 0.6 x 50 + 0.4 x 20 = 30 + 8
        ("medium high", 62.0),  # 0.7 x 80 + 0.3 x 20 = 56 + 6
        ("low", 50.0),
        ("medium", 80.0),
        ("high", 20.0),
    ],
)
@each_row("how", ["designed", "scored"])
def test_level_weights_follow_what_is_there(present: str, expected: float, how: str) -> None:
    """The same weights, whether the blueprint lacks a level or its results are missing."""
    levels = [level for level in SCORES if level in present.split()]
    tasks = [task(level, level) for level in (levels if how == "designed" else SCORES)]
    parts = [items(level, share(SCORES[level], 100)) for level in levels]
    node = one(aggregate(blueprint(ability("a", *tasks)), *parts).nodes)
    assert node["score_0_100"] == pytest.approx(expected, abs=1e-12)
    assert (node["datasets_scored"], node["datasets_total"]) == (len(levels), len(tasks))


def test_a_true_zero_is_present() -> None:
    # 0.4 x 0 + 0.6 x 80 = 48; were the zero taken for missing it would be 80.
    design = blueprint(ability("a", task("low", "low"), task("medium", "medium")))
    node = one(aggregate(design, items("low", share(0, 10)), items("medium", share(8, 10))).nodes)
    assert node["score_0_100"] == 48.0
    assert node["datasets_scored"] == 2


def test_dataset_counts_items_that_every_metric_scored() -> None:
    parts = items("d", share(1, 4)), items("d", [1, 1, None, None], metric="exact_match")
    found = one(aggregate(one_dataset(*TWO_METRICS), *parts).datasets)
    # (25 + 3 x 100) / 4, over 4 and 2 items.
    assert (found["score_0_100"], found["n_scored"], found["n_total"]) == (81.25, 2, 4)


def test_weightless_metrics_cause_no_missing_items() -> None:
    metrics = (MetricSpec(metric="accuracy"), MetricSpec(metric="exact_match", weight=0))
    parts = items("d", [1, 1, 0, None]), items("d", [1, None, None, None], metric="exact_match")
    found = one(aggregate(one_dataset(*metrics), *parts).datasets)
    assert (found["score_0_100"], found["n_scored"], found["n_total"]) == (pytest.approx(200 / 3), 3, 4)


def test_four_tiers() -> None:
    # deep = 80; third = mean(80, 40) = 60; second = (60 + 3 x 20) / 4 = 30; first = mean(30, 70) = 50.
    deep = ability("deep", task("d1"))
    third = ability("third", deep, ability("deep2", task("d2")))
    second = ability("second", third, ability("third2", task("d3"), weight=3))
    design = blueprint(ability("first", second, ability("second2", task("d4"))))
    parts = [items(name, share(hits, 10)) for name, hits in (("d1", 8), ("d2", 4), ("d3", 2), ("d4", 7))]
    nodes = aggregate(design, *parts).nodes
    scores = {"deep": 80, "deep2": 40, "third": 60, "third2": 20, "second": 30, "second2": 70, "first": 50}
    assert dict(nodes.select("node", "score_0_100").iter_rows()) == scores
    assert dict(nodes.select("node", "tier").iter_rows())["deep"] == 4
    assert one(nodes, node="first")["datasets_total"] == 4


def test_missing_is_left_out_and_shows_in_coverage() -> None:
    # t: d 90 and e missing -> 90, 1 of 2. u: missing. Ability: 90 from 1 of 3 datasets.
    design = blueprint(ability("a", task("t", datasets=["d", "e"]), task("u", datasets=["f"])))
    found = aggregate(design, items("d", share(9, 10)))
    assert one(found.tasks, task="task_t")["score_0_100"] == 90.0
    assert one(found.tasks, task="task_t")["datasets_scored"] == 1
    missing = one(found.tasks, task="task_u")
    assert missing["score_0_100"] is None
    assert (missing["datasets_scored"], missing["datasets_total"], missing["n_scored"], missing["n_total"]) == (0, 1, 0, 0)
    whole = one(found.nodes)
    assert (whole["score_0_100"], whole["datasets_scored"], whole["datasets_total"]) == (90.0, 1, 3)


def test_a_score_without_weight_does_not_count() -> None:
    # d has weight 0 and is scored, e has weight 1 and is missing: nothing to take a mean of.
    design = blueprint(ability("a", task("t", datasets=["d", "e"], d=0)))
    found = one(aggregate(design, items("d", share(9, 10))).tasks)
    assert found["score_0_100"] is None
    assert found["datasets_scored"] == 0


@pytest.mark.parametrize("score", [0, 1, 3, 7, 10])
def test_the_mean_of_equal_scores_is_that_score(score: int) -> None:
    """Rounding in sums and divisions must not lift a 100 above 100, nor drop a 60 below the gate."""
    names = [f"d{number}" for number in range(7)]
    design = blueprint(ability("a", *[task(name, weight=0.1 * (number + 1)) for number, name in enumerate(names)]))
    found = aggregate(design, *[items(name, share(score, 10)) for name in names])
    assert one(found.nodes)["score_0_100"] == one(found.datasets, dataset="d0")["score_0_100"]


def design() -> Blueprint:
    """A gate; able 0.3 with two tiers and levels; kind 0.7 with a dataset of two metrics."""
    hear = ability("hear", task("d1"), task("d2", "medium"), task("d3", "high", weight=2), task("d4", "high"))
    return blueprint(
        ability("safe", task("g")),
        ability("able", hear, ability("speak", task("t", datasets=["e1", "e2"], e1=3)), weight=0.3),
        ability("kind", task("f"), weight=0.7),
        gate=Gate(ability="safe", threshold=60),
        datasets={"f": measured(*TWO_METRICS)},
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
    return metric_contributions(normalized, aggregates, tree), normalized, total_scores(abilities, chosen)


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


@settings(max_examples=5)
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
