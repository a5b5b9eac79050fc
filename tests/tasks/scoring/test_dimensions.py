"""Means of rated dimensions: over a judge's repetitions, then parts, then items; what was not rated is left out."""

from typing import Any

from tasks.scoring.breakdowns import score_dimensions
from tasks.scoring.uncertainty import Resampling
from tests.tasks.rows import Row, item, items, judgement, judgements

ASKED = items(
    *(item(name, "counselor_reply", cluster=cluster) for name, cluster in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")))
)
SCALE = {"rubric": "r", "lowest": 0, "highest": 4}


def rated(item_id: str, rating: int | None, dimension: str = "warmth", **more: Any) -> Row:
    return judgement(item_id, dimension, rating, **{**SCALE, **more})


def found(*rows: Row, resamples: int = 400) -> list[tuple[Any, ...]]:
    table = score_dimensions(judgements(*rows), ASKED, Resampling(resamples, 0))
    columns = ("dimension", "scale_min", "scale_max", "mean", "ci_low", "ci_high", "n_answers", "n_total", "n_clusters")
    return table.select(columns).rows()


def test_repetitions_of_the_judge_then_parts_then_items() -> None:
    rows = [
        # a: its first part (4 + 2) / 2 = 3, its second 1: together 2. b: 4, one of the judge's two ratings being unreadable.
        *(rated("a", rating, part="first", judge_repetition=times) for times, rating in enumerate((4, 2))),
        rated("a", 1, part="second"),
        *(rated("b", rating, judge_repetition=times) for times, rating in enumerate((4, None))),
        # c: 0. d: nothing that can be read.
        rated("c", 0),
        rated("d", None),
    ]
    # (2 + 4 + 0) / 3. Of the draws of x (2, 4) and y (0), a quarter are y y: 0, and a quarter x x: 3.
    assert found(*rows) == [("warmth", 0, 4, 2.0, 0.0, 3.0, 4, 5, 2)]
    assert found(*rows, resamples=0) == [("warmth", 0, 4, 2.0, None, None, 4, 5, 2)]


def test_repeated_questions_share_one_cluster() -> None:
    rows = [rated("a", 4), rated("a", 1, repetition=1), rated("c", 1)]
    assert found(*rows) == [("warmth", 0, 4, 2.0, 1.0, 2.5, 3, 3, 2)]


def test_no_rating_no_mean_one_cluster_no_interval() -> None:
    rows = [rated("a", 3), rated("b", 1), rated("a", None, "asks", highest=1), rated("c", None, "asks", highest=1)]
    assert found(*rows) == [("asks", 0, 1, None, None, None, 0, 2, 0), ("warmth", 0, 4, 2.0, None, None, 2, 2, 1)]


def test_systems_have_rows_and_share_draws() -> None:
    rows = [rated(name, rating, model=model) for model in "mn" for name, rating in (("a", 4), ("b", 1), ("c", 1), ("d", 0))]
    table = score_dimensions(judgements(*rows), ASKED, Resampling(400, 0))
    # x (4, 1) and y (1, 0): 2.5, 1.5 and 0.5.
    assert table.select("model", "mean", "ci_low", "ci_high", "judge").rows() == [(model, 1.5, 0.5, 2.5, "j") for model in "mn"]
    assert score_dimensions(judgements(*reversed(rows)), ASKED, Resampling(400, 0)).equals(table)
