"""The sentence to say first of a system."""

import polars as pl
import pytest

from tasks.leaderboard.descriptions import choose_described
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.verdict import judge_run
from tasks.text.number_format import ordinal
from tests.tasks.reporting.example_run import example_data
from tests.tasks.reporting.example_scores import totals, totals_row

FULL = {"datasets_scored": 4, "coverage": 1.0}


def headlines(*rows: dict[str, object], **layers: pl.DataFrame) -> list[str]:
    return judge_run(example_data(totals=totals(*rows), **layers))["headline"].to_list()


def test_place_and_weakest_task_are_told() -> None:
    first, second, third = (totals_row(**FULL, model=name, rank=n) for n, name in ((1, "alpha"), (2, "beta"), (2, "gamma")))
    tasks = example_data().task_scores
    moods = pl.when(pl.col("model") == "alpha", pl.col("task") == "moods").then(12.5).otherwise("score_0_100")
    told = headlines(first, second, third, task_scores=tasks.with_columns(score_0_100=moods))
    # Of alpha Emotional Ability has 25.0, and Moods in it 12.5.
    weakest = "Weakest ability: Emotional Ability (25.0), lowest in Moods (12.5)."
    assert told[0] == f"alpha scores 25.0 of 100 [15.0, 35.5], 1st of 3. {weakest}"
    assert told[1].startswith("beta scores 25.0 of 100 [15.0, 35.5], joint 2nd of 3.")
    assert told[2] == "gamma scores 25.0 of 100 [15.0, 35.5], joint 2nd of 3."


def test_one_ranked_system_has_no_place() -> None:
    (told,) = headlines(totals_row(**FULL, rank=1, ci_low=None, ci_high=None))
    assert told.startswith("alpha scores 25.0 of 100. Weakest ability:")


def test_chosen_models_have_places_among_themselves() -> None:
    board = published_leaderboard("moodbench")
    (best, *_), chosen = board.rows, choose_described(board, "billions < 10", None)
    assert f", 1st of {board.totals['rank'].count()}." in best.headline
    assert f", 1st of {chosen.totals['rank'].count()}." in chosen.rows[0].headline


@pytest.mark.parametrize(
    ("n", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (12, "12th"), (22, "22nd"), (113, "113th")]
)
def test_ordinal_has_its_ending(n: int, said: str) -> None:
    assert ordinal(n) == said
