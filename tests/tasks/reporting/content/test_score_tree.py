"""The score tree: what each number adds to the one above, its interval, and its place in the page."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.documents.score_part import ScorePart
from schemas.metrics import CentredNormalisation, GradeNormalisation, NumericNormalisation, RatioNormalisation
from tasks.reporting.content.score_tree import Node, join_intervals
from tasks.reporting.content.tables import ScoreInterval, rescale_interval, weakest
from tasks.reporting.content.weaknesses import WEAKEST, examples_of_others
from tasks.reporting.report import build_report
from tests.tasks.reporting.example_run import example_data


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
    assert alpha["dataset Mood"].interval == ScoreInterval(10.0, 60.0, approximate=False)
    assert alpha["task Moods"].interval == alpha["dataset Mood"].interval
    # Recognition: 25 - sqrt((0.4 x 15)^2 + (0.6 x 5)^2) and 25 + sqrt((0.4 x 35)^2 + (0.6 x 5)^2).
    span = alpha["sub-ability Emotion Recognition"].interval
    assert span is not None
    assert (span.low, span.high) == pytest.approx((25 - 45**0.5, 25 + 205**0.5))
    assert span.approximate
    # The total's is the bootstrap's; Kind has none.
    assert alpha["total Total"].interval == ScoreInterval(15.0, 35.5, approximate=False)
    assert alpha["gate Values & Safety"].interval is None


def test_nothing_scored_has_no_number_anywhere() -> None:
    gamma = trees()["gamma"]
    assert {(node.part.score, node.interval, node.part.contributes, node.in_total) for node in gamma.walk()} == {
        (None, None, None, None)
    }
    assert by_title(gamma)["dataset Mood"].reason == "nothing scored: 4 failed calls"


def term(share: float, score: float, bounds: tuple[float, float] | None) -> tuple[ScorePart, ScoreInterval | None]:
    part = replace(trees()["alpha"].part, share=share, score=score)
    return part, None if bounds is None else ScoreInterval(*bounds, approximate=False)


def test_parts_of_the_same_items_are_added_plainly() -> None:
    parts = [term(0.5, 40.0, (30.0, 60.0)), term(0.5, 80.0, (70.0, 82.0))]
    # 60 - (5 + 5) and 60 + (10 + 1).
    assert join_intervals(parts, same_items=True) == ScoreInterval(50.0, 71.0, approximate=True)
    # 60 - sqrt(50) and 60 + sqrt(101).
    apart = join_intervals(parts)
    assert apart is not None
    assert (apart.low, apart.high) == pytest.approx((60 - 50**0.5, 60 + 101**0.5))


def test_an_unknown_part_leaves_no_interval() -> None:
    known, interval = term(1.0, 40.0, (30.0, 60.0))
    assert join_intervals([(known, interval), term(0.0, 80.0, None)]) == interval
    assert join_intervals([(replace(known, share=0.5), interval), term(0.5, 80.0, None)]) is None
    assert join_intervals([]) is None


@pytest.mark.parametrize(
    ("normalisation", "low", "high", "rescaled"),
    [
        (RatioNormalisation(), 0.2, 0.5, ScoreInterval(20.0, 50.0, approximate=False)),
        # 2 is a quarter of the way from 1 to 5, 4 three quarters.
        (NumericNormalisation(min=1, max=5), 2.0, 4.0, ScoreInterval(25.0, 75.0, approximate=False)),
        # Best is 0.5, 0.25 away is half as good; the interval holds the best.
        (CentredNormalisation(best=0.5, span=0.5), 0.25, 0.55, ScoreInterval(50.0, 100.0, approximate=True)),
        (CentredNormalisation(best=0.0, span=1.0), -0.5, -0.2, ScoreInterval(50.0, 80.0, approximate=True)),
        (GradeNormalisation(table={"A": 100}), 0.0, 1.0, None),
        (RatioNormalisation(), None, None, None),
    ],
)
def test_intervals_are_rescaled_as_their_scores(normalisation: Any, low: Any, high: Any, rescaled: ScoreInterval | None) -> None:
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
