"""The sentence to say first of a system."""

from typing import Any

import polars as pl
import pytest

from schemas.usage import Usage
from tasks.leaderboard.descriptions import choose_described
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.verdict import judge_run
from tasks.text.number_format import ordinal
from tests.tasks.reporting.example_run import example_data, manifest
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


def judged(*rows: dict[str, object], **changes: Any) -> list[tuple[str, str | None]]:
    """Verdicts, and what they rest on."""
    return judge_run(example_data(totals=totals(*rows), **changes)).select("verdict", "why").rows()


def test_half_of_the_items_and_of_the_datasets_are_enough() -> None:
    enough = {"n_scored": 3, "n_total": 6, "item_coverage": 0.5, "datasets_scored": 2, "coverage": 0.5}
    assert judged(totals_row(**enough)) == [("scored", None)]
    fewer = {"n_scored": 2, "item_coverage": 1 / 3, "datasets_scored": 1, "coverage": 0.25}
    ((verdict, why),) = judged(totals_row(**{**enough, **fewer}))
    assert (verdict, why) == ("too little scored", "2 of 6 items (33\u00a0%) have a score; 1 of 4 datasets have a score")


@pytest.mark.parametrize(
    ("usage", "said"),
    [({"unsent": 4, "failed": 2}, "the budget was spent with 4 calls unsent: "), ({"failed": 2}, "2 calls failed: "), ({}, "")],
)
def test_why_a_run_was_cut_short_leads(usage: dict[str, int], said: str) -> None:
    asked = Usage.model_validate({"dataset": "mood", "model": "alpha", "role": "tested", "calls": 6, "failed": 0, **usage})
    row = totals_row(**FULL, n_scored=2, n_total=6, item_coverage=1 / 3)
    ((_, why),) = judged(row, manifest=manifest(usage=(asked,)))
    assert why == f"{said}2 of 6 items (33\u00a0%) have a score"


def test_an_undecided_veto_is_a_verdict_where_there_is_a_gate() -> None:
    row = totals_row(**FULL, vetoed=None, gate_score=None)
    ((verdict, _),) = judged(row)
    assert verdict == "undecided"
    assert judged(row, blueprint=example_data().blueprint.model_copy(update={"gate": None})) == [("scored", None)]


def test_a_main_ability_is_missed_only_where_it_has_weight() -> None:
    data = example_data()
    emotional = next(main for main in data.blueprint.abilities if main.title == "Emotional Ability")
    row, gone = totals_row(datasets_scored=3, coverage=0.75), data.ability_scores.filter(pl.col("ability") != emotional.id)
    missed = [("too little scored", "Emotional Ability (100\u00a0% of the weight) has no score")]
    assert judged(row, ability_scores=gone) == missed
    weightless = [main.model_copy(update={"weight": 0.0}) if main == emotional else main for main in data.blueprint.abilities]
    design = data.blueprint.model_copy(update={"abilities": tuple(weightless)})
    assert judged(row, ability_scores=gone, blueprint=design) == [("scored", None)]
