"""The score tree: what each number adds to the one above, its interval, and its place in the page."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint, MetricSpec
from schemas.documents.score_part import ScorePart
from schemas.metrics import CentredNormalisation, GradeNormalisation, NumericNormalisation, RatioNormalisation
from schemas.table import Interval
from schemas.tables.layers import AGGREGATED
from tasks.reporting.content.score_tree import Node, interval_of
from tasks.reporting.content.tables import rescale_interval, weakest
from tasks.reporting.content.weaknesses import WEAKEST, examples_of_others
from tasks.reporting.report import build_report
from tasks.runs.run_tables import System
from tasks.runs.score_tree import explain_total, scores_of
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.reporting.example_run import example_data
from tests.tasks.scoring.samples import ability, blueprint, items, measured, share, task


def trees() -> dict[str, Node]:
    return {entry.label: entry.tree for entry in build_report(example_data()).systems}


def by_title(tree: Node) -> dict[str, Node]:
    return {f"{node.kind} {node.title}": node for node in tree.walk()}


def test_the_tree_has_every_step_in_order() -> None:
    assert [f"{node.kind} {node.title}" for node in trees()["alpha"].walk()] == [
        *("total Total", "gate Values & Safety", "level Low level", "task Kindness", "dataset Kind"),
        *("ability Emotional Ability", "sub-ability Emotion Recognition"),
        *("level Low level", "task Moods", "dataset Mood", "dataset Lost"),
        *("level Medium level", "task Tales", "dataset Tale"),
        "ability Supporting Ability",
    ]


def test_what_each_step_adds() -> None:
    alpha = by_title(trees()["alpha"])
    # Low 0.4 and medium 0.6 are both there: 25 = 0.4 x 25 + 0.6 x 25. The gate adds nothing.
    low, medium = alpha["sub-ability Emotion Recognition"].children
    added = [(node.part.weight, node.part.share, node.part.contributes, node.in_total) for node in (low, medium)]
    assert added == [pytest.approx((0.4, 0.4, 10.0, 10.0)), pytest.approx((0.6, 0.6, 15.0, 15.0))]
    # Mood is the only dataset of Moods with a score, so it is all of the task; the task is all of its level.
    assert (alpha["dataset Mood"].part.share, alpha["dataset Mood"].in_total) == pytest.approx((1.0, 10.0))
    lost = alpha["dataset Lost"]
    assert (lost.part.share, lost.part.contributes, lost.in_total, lost.reason) == (*[None] * 3, "its data is not published")
    assert (alpha["gate Values & Safety"].part.weight, alpha["gate Values & Safety"].in_total) == (0.0, None)
    assert alpha["dataset Kind"].in_total is None


def test_scores_are_sums_of_their_parts() -> None:
    for tree in trees().values():
        for node in tree.walk():
            added = [child.part.contributes for child in node.children if child.part.contributes is not None]
            if node.part.score is not None and added:
                assert sum(added) == pytest.approx(node.part.score)
        leaves = [node.in_total for node in tree.walk() if node.kind == "dataset" and node.in_total is not None]
        if tree.part.score is not None:
            assert sum(leaves) == pytest.approx(tree.part.score)


def test_intervals_come_from_the_parts() -> None:
    alpha = by_title(trees()["alpha"])
    # Mood: accuracy 0.10 to 0.60; its task and level rest on it alone.
    assert alpha["dataset Mood"].interval == Interval(10.0, 60.0)
    assert alpha["task Moods"].interval == alpha["dataset Mood"].interval
    # Recognition rests on Mood and Tale, which has one item.
    assert alpha["sub-ability Emotion Recognition"].interval is None
    # The total's is the stored one; Kind has one item.
    assert alpha["total Total"].interval == Interval(15.0, 35.5)
    assert alpha["gate Values & Safety"].interval is None


def test_nothing_scored_has_no_number_anywhere() -> None:
    gamma = trees()["gamma"]
    assert {(node.part.score, node.interval, node.part.contributes, node.in_total) for node in gamma.walk()} == {
        (None, None, None, None)
    }
    assert by_title(gamma)["dataset Mood"].reason == "nothing scored: 4 failed calls"


DESIGN = blueprint(ability("a", task("d"), task("e", datasets=["e", "f"])))
ROWS = pl.concat([items("d", share(6, 10)), items("e", share(14, 20)), items("f", share(5, 8))])


def scored(rows: pl.DataFrame, design: Blueprint = DESIGN) -> ScorePart:
    tables = score_benchmark(rows.lazy(), design, ScoreSettings())
    return explain_total(scores_of({name: tables.layer(name) for name in AGGREGATED}, System("m", "base")), design)


def part_of(root: ScorePart, name: str) -> ScorePart:
    return next(part for part in root.walk() if part.id == name)


def test_intervals_of_sums_by_hand() -> None:
    # e and f: 70 and 62.5, half each, 66.25. Variances 0.21 / 19 / 4 and 0.234375 / 7 / 4.
    first, second = 0.21 / 19 / 4, 0.234375 / 7 / 4
    t = stats.t.ppf(0.975, (first + second) ** 2 / (first**2 / 19 + second**2 / 7))
    lost = t**2 * (first + second) / (0.6625 * 0.3375)
    middle, half = (0.6625 + lost / 2) / (1 + lost), (0.6625 * 0.3375 * lost + lost**2 / 4) ** 0.5 / (1 + lost)
    found = interval_of(part_of(scored(ROWS), "task_e"))
    assert found == pytest.approx((100 * (middle - half), 100 * (middle + half)))


def test_a_total_has_the_interval_that_is_stored() -> None:
    stored = score_benchmark(ROWS.lazy(), DESIGN, ScoreSettings()).totals.select("ci_low", "ci_high").row(0)
    assert interval_of(scored(ROWS)) == pytest.approx(stored)


def test_metrics_of_the_same_items_are_taken_to_vary_alike() -> None:
    metrics = tuple(MetricSpec(metric=name, normalisation=RatioNormalisation()) for name in ("accuracy", "judged_rating"))
    design = blueprint(ability("a", task("d")), datasets={"d": measured(*metrics)})
    same = pl.concat([items("d", share(6, 10), metric=metric) for metric in ("accuracy", "judged_rating")])
    # Each has the error sqrt(0.24 / 9), and so has their mean.
    t, error = stats.t.ppf(0.975, 9), (0.24 / 9) ** 0.5
    lost = (t * error) ** 2 / 0.24
    middle, half = (0.6 + lost / 2) / (1 + lost), (0.24 * lost + lost**2 / 4) ** 0.5 / (1 + lost)
    assert interval_of(part_of(scored(same, design), "d")) == pytest.approx((100 * (middle - half), 100 * (middle + half)))


def test_an_unknown_part_leaves_no_interval() -> None:
    one = pl.concat([items("d", share(6, 10)), items("e", [1.0]), items("f", [None])])
    total = scored(one)
    assert interval_of(part_of(total, "d")) is not None
    # f has no score and counts for nothing; e has one item.
    assert interval_of(total) is None
    without = replace(part_of(total, "d"), score=None)
    assert interval_of(without) is None


@pytest.mark.parametrize(
    ("normalisation", "low", "high", "rescaled"),
    [
        (RatioNormalisation(), 0.2, 0.5, Interval(20.0, 50.0)),
        # 2 is a quarter of the way from 1 to 5, 4 three quarters.
        (NumericNormalisation(min=1, max=5), 2.0, 4.0, Interval(25.0, 75.0)),
        # Best is 0.5, 0.25 away is half as good; the interval holds the best.
        (CentredNormalisation(best=0.5, span=0.5), 0.25, 0.55, Interval(50.0, 100.0)),
        (CentredNormalisation(best=0.0, span=1.0), -0.5, -0.2, Interval(50.0, 80.0)),
        (GradeNormalisation(table={"A": 100}), 0.0, 1.0, None),
        (RatioNormalisation(), None, None, None),
    ],
)
def test_intervals_are_rescaled_as_their_scores(normalisation: Any, low: Any, high: Any, rescaled: Interval | None) -> None:
    assert rescale_interval(normalisation, low, high) == rescaled


def test_every_scored_dataset_ends_in_rows() -> None:
    alpha = by_title(trees()["alpha"])
    # Kind earned its full score and shows its first row; the weak ones show what went wrong.
    assert [example.why for example in alpha["dataset Kind"].examples] == ["Read as A, right is A."]
    assert [example.item_id for example in alpha["dataset Mood"].examples] == ["mood-1", "mood-2", "mood-3"]
    assert [example.item_id for example in alpha["dataset Tale"].examples] == ["tale-0"]
    assert alpha["task Moods"].advice
    assert alpha["task Kindness"].advice == ()


def test_examples_outside_the_weakest_tasks_are_bounded() -> None:
    # 600 in all: two each for 60 datasets and up to 5 models, one for 10, none for 11.
    assert [examples_of_others(models, 60) for models in (1, 3, 5, 6, 10, 11)] == [2, 2, 2, 1, 1, 0]


def test_full_scores_and_missing_ones_are_not_weak() -> None:
    alpha, beta, _ = build_report(example_data()).systems
    assert [task.part.id for task in weakest(alpha.tasks, WEAKEST)] == ["moods", "tales"]
    assert [task.part.id for task in weakest(beta.tasks, WEAKEST)] == ["kindness"]
