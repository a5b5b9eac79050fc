"""LongEmotion's Tables 2 and 4 and Figures 6, 7 and 8: published models cell by cell, one's own by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.chart import Chart
from schemas.table import Column, Table
from schemas.tables.comparisons import NeedleScores
from schemas.tables.layers import LAYERS
from schemas.tables.scores import AbilityScores, Totals
from tasks.benchmarks.longemotion.exhibits import EXHIBITS
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.exhibits import RankedModels
from tasks.runs.past_run import reopen
from tasks.runs.sections import Block
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import FOLDER, paper_of
from tasks.text.tables import as_cell, to_csv
from tests.tasks.reporting.example_items import make_table
from tests.tasks.runs.model_rows import model_row
from tests.tasks.runs.runs import keep_run

MINI = load_blueprint("longemotion-mini")
PRINTED = pl.read_csv(FOLDER / "longemotion_table2.csv")
RATED = "long_mini_ec_emobench"
EC, ED, MC4 = "emotion_classification", "emotion_detection", "emotion_conversation"


def lay_out(name: str, models: RankedModels) -> list[Block]:
    (exhibit,) = (exhibit for exhibit in EXHIBITS if exhibit.name == name)
    return list(exhibit.lay_out(models))


def charts(name: str, models: RankedModels) -> list[Chart]:
    return [chart for block in lay_out(name, models) for chart in block.charts]


def methods(models: RankedModels) -> Table:
    (block,) = lay_out("methods", models)
    (table,) = block.tables
    return table


def marks(table: Table, column: Column) -> dict[str, object]:
    index = table.columns.index(column)
    return {str(as_cell(row[0]).value): as_cell(row[index]).mark for row in table.rows if as_cell(row[index]).mark}


def test_table_2_is_reproduced_cell_by_cell() -> None:
    table = methods(published_leaderboard("longemotion").models)
    groups = [(column.group, column.title) for column in table.columns[1:]]
    names = {"EC": "EC", "ED": "ED", "QA": "QA", "ES": "ES", "MC4": "MC4", "EE": "EE", "Average": "avg"}
    assert groups == [(method, title) for method in ("Base", "RAG", "CoEM") for title in names]
    ours = {
        (method, str(as_cell(row[0]).value), title): as_cell(value).value
        for row in table.rows
        for (method, title), value in zip(groups, row[1:], strict=True)
        if as_cell(value).value is not None
    }
    printed = {
        (row["method"], row["model"], title): row[name] for row in PRINTED.iter_rows(named=True) for title, name in names.items()
    }
    assert (len(ours), ours.keys()) == (18 * 7, printed.keys())
    # The average is computed again: (EC + ED + QA + 20 ES + 20 MC4 + EE) / 6.
    near = {cell: pytest.approx(value, abs=0.0051 if "Average" in cell else 1e-9) for cell, value in printed.items()}
    assert {cell for cell, value in ours.items() if value != near[cell]} == set()


def test_table_2_marks_ratings_on_their_own_scale() -> None:
    table = methods(published_leaderboard("longemotion").models)
    heads = {(head.group, head.title): head for head in table.columns}
    summary, average = heads["RAG", "ES"], heads["RAG", "Average"]
    # 4.63, then 4.54, 4.53 and 4.52, and 4.26 at the end: a point of the 100 is 0.05.
    assert marks(table, summary) == {"DeepSeek-V3": "best", "Qwen3-8B": "second", "Llama3.1-8B-Instruct": "lowest"}
    # 66.30, then 63.60, and at the end 56.27.
    assert marks(table, average) == {"DeepSeek-V3": "best", "GPT-4o": "second", "Llama3.1-8B-Instruct": "lowest"}
    assert (summary.kind, average.kind) == ("number", "score")


def test_own_models_have_a_row_beside_the_papers() -> None:
    abilities = {"emotion_summary": 90.0, "emotion_conversation": 75.0, "emotion_detection": 30.0}
    own = [
        model_row("Qwen3-8B", total, setting=name, abilities=abilities, likeness=likeness)
        for name, total, likeness in (("base", 60.0, "close"), ("self_rag", 61.0, "not comparable"))
    ]
    models = published_leaderboard("longemotion").models
    table = methods(RankedModels(models.blueprint, (*own, *models.rows), models.paper))
    head, *lines = to_csv(table).splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    assert sorted(row["From"] for row in rows if row["Model"] == "Qwen3-8B") == ["own", "paper"]
    (mine,) = (row for row in rows if row["From"] == "own")
    # 90 / 20 and 75 / 20; what was not measured is empty.
    assert [mine[f"Self-RAG: {name}"] for name in ("EC", "ED", "ES", "MC4", "Average")] == ["", "30.0", "4.5", "3.75", "61.0"]
    assert (mine["RAG: Average"], mine["Comparability"]) == ("", "not comparable")


def keep(folder: Path, number: int, scores: Mapping[tuple[str, str, str], float], **plan: Any) -> str:
    """Leave a run with scores by model, setting and ability."""
    counts = {"datasets_scored": 1, "datasets_total": 1, "n_scored": 4, "n_total": 4, "coverage": 1.0, "item_coverage": 1.0}
    rows = [
        dict.fromkeys(AbilityScores.column_names())
        | counts
        | {"model": model, "setting": setting, "ability": ability, "score_0_100": score}
        for (model, setting, ability), score in scores.items()
    ]
    run = f"20260101T000000000000Z.{number}-m"
    entries = [{"name": model, "base_url": "http://x/v1"} for model in dict.fromkeys(model for model, *_ in scores)]
    settings = list(dict.fromkeys(setting for _, setting, _ in scores))
    keep_run(
        folder,
        run,
        {"totals": Totals.create_empty(), "ability_scores": make_table(AbilityScores, rows)},
        {"benchmark": MINI.name},
        benchmark=MINI.name,
        blueprint=MINI.model_dump(mode="json"),
        plan={"benchmark": MINI.name, "models": entries, "settings": settings} | plan,
    )
    return run


def own(folder: Path, *runs: str) -> RankedModels:
    rows = tuple(model_row(name, 50.0) for name in ("alpha", "beta"))
    return RankedModels(MINI, rows, paper_of(MINI), {run: reopen(folder, run) for run in runs})


def with_sage(name: str) -> dict[str, Any]:
    return {"sage": {"default": [{"name": name, "base_url": "http://x/v1"}], "datasets": {}}}


def test_figure_6_compares_sages(tmp_path: Path) -> None:
    def scores(alpha: float, beta: float) -> dict[tuple[str, str, str], float]:
        hidden = {("gamma", "coem", MC4): 99.0}
        return {("alpha", "coem", MC4): alpha, ("beta", "coem", MC4): beta, ("alpha", "base", MC4): 50.0} | hidden

    runs = [
        keep(tmp_path, 1, scores(1.0, 2.0), roles=with_sage("S1")),
        keep(tmp_path, 2, scores(60.0, 70.0), roles=with_sage("S1")),
        keep(tmp_path, 3, scores(70.0, 74.0), roles=with_sage("S2")),
        # Another seed asks other items.
        keep(tmp_path, 4, {("alpha", "coem", MC4): 99.0}, roles=with_sage("S3"), seed=7),
    ]
    (chart,) = charts("sages", own(tmp_path, *runs))
    # The newest run with S1: (60 + 70) / 2 = 65; with S2 (70 + 74) / 2 = 72.
    assert chart.words == "The mean of 2 models is highest with S2 as Sage (72.0) and lowest with S1 as Sage (65.0)."
    assert [(point.x, point.y, point.series) for point in chart.points] == [
        *(("S1", 60.0, "alpha"), ("S1", 70.0, "beta")),
        *(("S2", 70.0, "alpha"), ("S2", 74.0, "beta")),
    ]
    assert (chart.kind, chart.numbers.rows[0]) == ("lines", ("S1", 60.0, 70.0))
    assert charts("sages", own(tmp_path, *runs[:2])) == []
    same = keep(tmp_path, 5, scores(60.0, 70.02), roles=with_sage("S4"))
    (tie,) = charts("sages", own(tmp_path, runs[1], same))
    assert tie.words == "The mean of 2 models is 65.0 with all."


def test_figure_6_averages_models_with_all_sages(tmp_path: Path) -> None:
    scores = [{"alpha": 60.0, "beta": 10.0}, {"alpha": 50.0, "beta": 20.0}]
    runs = [
        keep(tmp_path, at, {(model, "coem", MC4): score for model, score in each.items()}, roles=with_sage(f"S{at}"))
        for at, each in enumerate(scores, 1)
    ]
    runs.append(keep(tmp_path, 3, {("alpha", "coem", MC4): 40.0}))
    (chart,) = charts("sages", own(tmp_path, *runs))
    assert chart.words == "The mean of 1 model is highest with S1 as Sage (60.0) and lowest with the model itself as Sage (40.0)."
    assert [row[1:] for row in chart.numbers.rows] == [(60.0, 10.0), (50.0, 20.0), (40.0, None)]


@pytest.mark.parametrize("order", ["alpha S1, beta S1, alpha S2, beta S2", "alpha S1, beta S1, beta S2, alpha S2"])
def test_figure_6_joins_runs_of_one_model(tmp_path: Path, order: str) -> None:
    scores = {"alpha S1": 60.0, "alpha S2": 50.0, "beta S1": 10.0, "beta S2": 30.0}
    runs = []
    for at, name in enumerate(order.split(", "), 1):
        model, sage = name.split()
        runs.append(keep(tmp_path, at, {(model, "coem", MC4): scores[name]}, roles=with_sage(sage)))
    (chart,) = charts("sages", own(tmp_path, *runs))
    # Means of 50 and 30, and of 60 and 10.
    assert chart.words == "The mean of 2 models is highest with S2 as Sage (40.0) and lowest with S1 as Sage (35.0)."
    assert {(point.x, point.y, point.series) for point in chart.points} == {
        *(("S1", 60.0, "alpha"), ("S2", 50.0, "alpha")),
        *(("S1", 10.0, "beta"), ("S2", 30.0, "beta")),
    }


def alpha_asked(**entry: Any) -> dict[str, Any]:
    return {"models": [{"name": "alpha", "base_url": "http://x/v1"} | entry]}


def test_a_model_asked_otherwise_is_no_variant(tmp_path: Path) -> None:
    warm, efforts = {"temperature": 1.0}, [{"reasoning_effort": effort} for effort in ("true", "false")]
    runs = [
        keep(tmp_path, 1, {("alpha", "coem", MC4): 60.0}, roles=with_sage("S1"), **alpha_asked()),
        keep(tmp_path, 2, {("alpha", "coem", MC4): 70.0}, roles=with_sage("S2"), **alpha_asked(sampling=warm)),
        keep(tmp_path, 3, {("alpha", "base", ED): 25.0}, **alpha_asked(dialect=efforts[0])),
        keep(tmp_path, 4, {("alpha", "base", ED): 75.0}, **alpha_asked(dialect=efforts[1], sampling=warm)),
    ]
    # Another version of the program has written the last plan.
    runs.append(keep(tmp_path, 5, {("alpha", "coem", MC4): 80.0}, **alpha_asked(gone=1)))
    assert [lay_out(name, own(tmp_path, *runs)) for name in ("sages", "chunks", "thinking")] == [[], [], []]


def test_figure_8_keeps_chunks_of_an_older_run(tmp_path: Path) -> None:
    cells = [("alpha", 128, 40.0), ("alpha", 512, 55.0), ("beta", 512, 90.0)]
    runs = [
        keep(tmp_path, at, {(model, "rag", EC): score}, retrieval={"chunk_tokens": size, "top_k": 4})
        for at, (model, size, score) in enumerate(cells, 1)
    ]
    (chart,) = charts("chunks", own(tmp_path, *runs))
    assert [(point.x, point.y, point.value) for point in chart.points] == [("128", "4", 40.0), ("512", "4", 55.0)]


def test_figure_8_is_a_grid_of_chunks(tmp_path: Path) -> None:
    grid = {(128, 4): 40.0, (128, 8): 62.5, (512, 4): 55.0}
    runs = [
        keep(
            tmp_path,
            at,
            {("alpha", "rag", EC): score, ("alpha", "base", EC): score},
            retrieval={"chunk_tokens": size, "top_k": count},
        )
        for at, ((size, count), score) in enumerate(grid.items(), 1)
    ]
    (chart,) = charts("chunks", own(tmp_path, *runs))
    assert chart.words == "The score is highest with 8 chunks of 128 tokens (62.5) and lowest with 4 chunks of 128 tokens (40.0)."
    assert [(point.x, point.y, point.value) for point in chart.points] == [
        *(("128", "4", 40.0), ("512", "4", 55.0)),
        *(("128", "8", 62.5), ("512", "8", None)),
    ]
    # What else is retrieved differently is another figure.
    other = keep(tmp_path, 9, {("alpha", "rag", EC): 90.0}, retrieval={"chunk_tokens": 256, "top_k": 4, "ranking": "bm25"})
    assert [each.words for each in charts("chunks", own(tmp_path, *runs, other))] == [chart.words]


def test_figure_7_follows_the_length_of_contexts(tmp_path: Path) -> None:
    cells = [
        # 2,000 tokens: (1.0 x 3 + 0.5 x 1) / 4 = 87.5; 8,000: 0.5 over both depths.
        *(
            ("alpha", 2000, 0.0, 1.0, 3),
            ("alpha", 2000, 50.0, 0.5, 1),
            ("alpha", 8000, 0.0, 0.25, 2),
            ("alpha", 8000, 50.0, 0.75, 2),
        ),
        *(("beta", 2000, 0.0, 0.5, 4), ("beta", 8000, 0.0, 0.6, 4)),
    ]
    rows = [
        {"model": model, "setting": "base", "dataset": RATED, "method": "label", "metric": metric, "length_tokens": tokens}
        | {"length_bin": str(tokens), "depth_percent": depth, "depth_bin": "d", "value": value, "n": n, "n_total": 4}
        for model, tokens, depth, value, n in cells
        for metric in ("accuracy", "strict_accuracy")
    ]
    layers = {name: LAYERS[name].schema.create_empty() for name in ("totals", "ability_scores")}
    layers["needle_scores"] = make_table(NeedleScores, rows)
    keep_run(tmp_path, "r", layers, {"benchmark": MINI.name}, benchmark=MINI.name, blueprint=MINI.model_dump(mode="json"))
    models = RankedModels(MINI, tuple(model_row(name, 50.0) for name in ("alpha", "beta")), None, {"r": reopen(tmp_path, "r")})
    (chart,) = charts("lengths", models)
    # 50 - 87.5 and 60 - 50.
    assert chart.words == "From the shortest to the longest contexts alpha changes most (−37.5 points), beta least (+10.0)."
    assert [(point.x, point.series, point.y) for point in chart.points] == [
        *(("2,000", "alpha", 87.5), ("2,000", "beta", 50.0)),
        *(("8,000", "alpha", 50.0), ("8,000", "beta", 60.0)),
    ]
    assert chart.title == "Emotion Classification, persons (EC-E), bundled items: by length, Base"


def test_table_4_pairs_the_newest_runs(tmp_path: Path) -> None:
    scores = [("true", 25.0), ("false", 100.0), ("true", 75.0), ("false", 50.0)]
    runs = [
        keep(tmp_path, at, {("alpha", "base", ED): score}, **alpha_asked(dialect={"reasoning_effort": effort}))
        for at, (effort, score) in enumerate(scores, 1)
    ]
    # The last run alone is ranked; 75 - 50.
    (block,) = lay_out("thinking", own(tmp_path, runs[-1]))
    (row,) = block.tables[0].rows
    assert row == ("Emotion Detection", "alpha", "Base", 75.0, 50.0, 25.0)
    assert lay_out("thinking", RankedModels(MINI, ())) == []
