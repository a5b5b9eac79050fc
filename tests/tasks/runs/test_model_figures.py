"""Figures of any benchmark's models: each says in one sentence what its values show."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.chart import Chart
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.exhibits import ModelRow, RankedModels
from tasks.runs.model_figures import EXHIBITS
from tasks.runs.sections import Block
from tasks.scoring.blueprints import load_blueprint
from tasks.text.tables import to_records
from tests.tasks.runs.model_rows import model_row

MINI = load_blueprint("moodbench-mini")


def lay_out(name: str, models: RankedModels) -> list[Block]:
    (exhibit,) = (exhibit for exhibit in EXHIBITS if exhibit.name == name)
    return list(exhibit.lay_out(models))


def draw(name: str, *rows: ModelRow) -> Chart:
    (block,) = lay_out(name, RankedModels(MINI, rows))
    (chart,) = block.charts
    return chart


def published(name: str, benchmark: str = "moodbench") -> Chart:
    (block,) = lay_out(name, published_leaderboard(benchmark).models)
    return block.charts[0]


def described(model: str, total: float, rank: int | None = 1, **about: str) -> ModelRow:
    return model_row(model, total, rank, about=about, abilities={"emotional": total + 10})


FOUR = (
    described("q7", 40.0, openness="open", series="Q", parameters="7B"),
    described("q30", 60.0, openness="open", series="Q", parameters="20-40B (estimated)"),
    described("g1", 70.0, openness="closed", series="G", parameters="1T"),
    described("g2", 50.0, openness="closed", series="G", parameters="2T"),
)


def test_boxes_are_quartiles_of_own_models() -> None:
    chart = draw("abilities", *FOUR)
    # Of 40, 50, 60, 70 the quarters lie three quarters of the way: 47.5 and 62.5. One ability has scores.
    assert chart.words == "Half of 4 models have a total from 47.5 to 62.5."
    assert to_records(chart.numbers)[-1] == {
        "Score": "Total, before the veto",
        "Lowest": 40,
        "Quarter": 47.5,
        "Median": 55,
        "Three quarters": 62.5,
        "Highest": 70,
    }
    assert [point.x for point in chart.points if point.y == "Emotional Ability"] == [80.0, 70.0, 60.0, 50.0]
    assert lay_out("abilities", RankedModels(MINI, FOUR[:2])) == []


def test_statistics_are_of_the_paper_beside_it() -> None:
    theirs = [model_row(name, total, is_own=False) for name, total in (("a", 10.0), ("b", 20.0), ("c", 30.0))]
    chart = draw("abilities", *FOUR, *theirs)
    assert chart.words == "Half of 3 models have a total from 15.0 to 25.0."
    assert [point.is_own for point in chart.points if str(point.y).startswith("Total")] == [True] * 4 + [False] * 3


def test_open_and_closed_models_have_medians() -> None:
    chart = draw("openness", *FOUR, described("none", 99.0))
    # Closed: half way between 50 and 70; open: between 40 and 60.
    assert chart.words == "Closed models have a median total of 60.0, open ones 50.0."
    averages = {"All": 2, "Mean": 50, "Median": 50, "Ranked: All": 2, "Ranked: Mean": 50, "Ranked: Median": 50}
    assert to_records(chart.numbers)[-1] == {"Score": "Total, before the veto", "Models": "open", **averages}
    assert lay_out("openness", RankedModels(MINI, FOUR[:2])) == []


def test_own_models_enter_no_statistics_beside_the_paper() -> None:
    theirs = [
        model_row(name, total, is_own=False, about={"openness": kind})
        for name, total, kind in (("a", 10.0, "closed"), ("b", 20.0, "open"))
    ]
    chart = draw("openness", *theirs, described("mine", 41.0, openness="domain"), described("other", 43.0, openness="open"))
    assert chart.words == "Closed models have a median total of 10.0, open ones 20.0."
    rows = [(row["Models"], row["All"], row["Median"], row["Ranked: All"]) for row in to_records(chart.numbers)]
    assert rows[-3:] == [("closed", 1, 10, 1), ("open", 1, 20, 1), ("domain-specific", 0, None, 0)]
    assert [(point.x, point.is_own) for point in chart.points][-3:] == [(43.0, True), (20.0, False), (41.0, True)]


def test_published_models_are_apart_by_language() -> None:
    english, chinese = lay_out("openness", published_leaderboard("esc-eval").models)
    # Each model is there once in a language; of those in English ChatGPT and GPT-4 are closed.
    counts: list[list[Any]] = [[row["All"] for row in to_records(block.charts[0].numbers)] for block in (english, chinese)]
    assert ([sum(each) for each in counts], counts[0][0]) == ([14, 12], 2)
    mine = model_row("mine", 30.0, setting="role_play", about={"openness": "open"}, abilities={"english": 20.0, "chinese": 40.0})
    models = published_leaderboard("esc-eval").models
    boxes = lay_out("abilities", replace(models, rows=(*models.rows, mine)))
    assert [block.charts[0].title for block in boxes] == [f"Scores by ability: {language}" for language in ("English", "Chinese")]
    assert [[point.x for point in block.charts[0].points if point.is_own] for block in boxes] == [[20.0], [40.0]]


def test_published_models_by_openness() -> None:
    chart = published("openness")
    # Open, ranked: 68.40 + 68.32 + 68.26 + 66.78 + 66.31 + 65.43 + 65.23 = 468.73, over 7; the fourth is in the middle. With
    # qwen3-0.6b's 47.40: 516.13 over 8; half way between 66.31 and 66.78.
    row = to_records(chart.numbers)[-1]
    assert [row[name] for name in ("All", "Mean", "Median")] == [8, 64.52, pytest.approx(66.545, abs=0.006)]
    assert [row[name] for name in ("Ranked: All", "Ranked: Mean", "Ranked: Median")] == [7, 66.96, 66.78]
    assert chart.words == "Closed models have a median total of 67.1, open ones 66.5."


def test_families_are_ordered_by_their_medians() -> None:
    chart = draw("families", *FOUR, described("alone", 90.0, series="A"))
    assert chart.words == "Of 2 families with several models G (60.0) has the highest median total and Q (50.0) the lowest."
    assert [(point.x, point.y) for point in chart.points] == [(70.0, "G"), (50.0, "G"), (60.0, "Q"), (40.0, "Q")]


def test_sizes_stand_at_the_middle_of_ranges() -> None:
    chart = draw("sizes", *FOUR, described("unsized", 30.0, series="Q"))
    # Q rises from 7 to 30, G falls from 1,000 to 2,000.
    words = "the total rises in 1 of 2 steps from a model to the next larger one of its family."
    assert chart.words == f"From 7 to 2000 billion parameters {words}"
    assert [(point.x, point.low, point.high, point.is_hollow) for point in chart.points][-1:] == [(30.0, 20.0, 40.0, True)]
    assert chart.note.endswith("Left out, as no number is said: unsized.")


def test_models_of_one_size_count_with_their_mean() -> None:
    sizes = (("a", 50.0, "1B"), ("b", 40.0, "2B"), ("c", 70.0, "2B"), ("d", 52.0, "3B"))
    chart = draw("sizes", *(described(name, total, series="F", parameters=size) for name, total, size in sizes))
    # 50, then 55, then 52.
    assert "the total rises in 1 of 2 steps" in chart.words


def test_own_families_move_no_sentence_about_the_papers() -> None:
    theirs = [
        model_row(name, total, is_own=False, about={"series": series, "parameters": size})
        for name, total, series, size in (
            *(("x1", 10.0, "X", "1B"), ("x2", 20.0, "X", "2B"), ("y1", 30.0, "Y", "3B"), ("y2", 50.0, "Y", "4B")),
            ("q8", 5.0, "Q", "8B"),
        )
    ]
    chart = draw("families", *FOUR, *theirs)
    assert chart.words == "Of 2 families with several models Y (40.0) has the highest median total and X (15.0) the lowest."
    # One's own stand below: of G the paper has none, of Q one.
    rows = [(row["Family"], row["All"], row["Median"]) for row in to_records(chart.numbers)]
    assert rows == [("Y", 2, 40), ("X", 2, 15), ("G", 0, None), ("Q", 1, 5)]
    assert [point.y for point in chart.points if point.is_own] == ["G", "G", "Q", "Q"]
    assert draw("sizes", *FOUR, *theirs).words.startswith("From 1 to 8 billion parameters the total rises in 2 of 2 steps")


def test_published_sizes_are_those_of_the_paper() -> None:
    chart = published("sizes")
    doubao = [point for point in chart.points if point.series == "Doubao"]
    # Half way: 110 / 2 is 55, 196.5 / 2 is 98.25.
    assert [(point.x, point.low, point.high) for point in doubao] == [(10, 10, 10), (55, 50, 60), (98.25, 66.5, 130)]
    assert all(point.is_hollow for point in doubao)
    assert {name: sum(point.series == name for point in chart.points) for name in ("GPT", "Qwen")} == {"GPT": 7, "Qwen": 4}
    assert chart.note.endswith("qwen-max and qwen-plus.")


def test_gains_over_base_are_within_a_source() -> None:
    (block,) = lay_out("gains", published_leaderboard("longemotion").models)
    rows = to_records(block.tables[0])
    assert [row["Setting"] for row in rows] == ["RAG"] * 5 + ["CoEM"] * 5
    (row,) = (row for row in rows if (row["Model"], row["Setting"]) == ("Qwen3-8B", "RAG"))
    # 58.65 - 58.98; 41.59 - 48.00; 20 x (4.54 - 4.51)
    assert (row["Total"], row["Emotion Classification"], row["Emotion Summary"]) == (-0.33, -6.41, 0.6)
    mine = (model_row("m", 50.0), model_row("m", 60.0, setting="rag"), model_row("m", 90.0, is_own=False, setting="coem"))
    (block,) = lay_out("gains", RankedModels(MINI, mine))
    assert [(row["Setting"], row["Total, before the veto"]) for row in to_records(block.tables[0])] == [("RAG", 10.0)]
    assert lay_out("gains", published_leaderboard("moodbench").models) == []
