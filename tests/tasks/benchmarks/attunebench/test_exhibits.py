"""Models by mode and the rank correlation of the parts, from three rows worked out by hand."""

from pathlib import Path

import polars as pl
import pytest

from schemas.blueprint import MetricSpec
from schemas.documents.leaderboard import StoredRow
from tasks.benchmarks.attunebench.exhibits import lay_out_modes
from tasks.leaderboard.ranking import run_rows
from tasks.runs.exhibits import RankedModels
from tasks.runs.sections import Block
from tasks.text.tables import as_cell, to_csv
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, measured, task

HEADLINES = {
    "pillar_emotion": "Emotion",
    "binary_accuracy": "Behaviour",
    "pairwise_accuracy": "Preference",
    "draft_judge_score": "Judged drafts",
    "composite_score": "Composite",
}
SPECS = [MetricSpec(metric=name, weight=float(name == "composite_score"), headline=title) for name, title in HEADLINES.items()]
DESIGN = blueprint(ability("attunement", task("own")), datasets={"own": measured(*SPECS, method="annotations")})
RUNS: dict[str, dict[str, tuple[float, ...]]] = {
    "default": {"b": (0.7, 0.8, 0.1, 71.0), "a": (0.5, 0.6, 0.3, 60.0)},
    "verbose": {"a": (0.9, 0.9, 0.2, 80.0)},
}
"""Emotion, behaviour, preference and composite by mode and model; nobody judged drafts."""


def laid_out(folder: Path, runs: dict[str, dict[str, tuple[float, ...]]]) -> list[Block]:
    opened, rows = {}, []
    for number, (mode, models) in enumerate(runs.items(), 1):
        parts = [
            items("own", [value], model, method="annotations", metric=metric, setting="annotate")
            for model, (*values, composite) in models.items()
            for metric, value in zip(HEADLINES, (*values, None, composite), strict=True)
        ]
        solvers = {"annotate": {"mode": mode.partition(" ")[0]}}
        opened[mode] = run_of(folder / mode, DESIGN, {"item_scores": pl.concat(parts)}, {}, bootstrap=0, solvers=solvers)
        rows += [StoredRow(**row.model_dump(), run=mode, group=number, fuller_run=None) for row in run_rows(opened[mode])]
    return [*lay_out_modes(RankedModels(DESIGN, tuple(rows), runs=opened))]


def test_each_model_by_mode_composite_last(tmp_path: Path) -> None:
    table = laid_out(tmp_path, RUNS)[0].tables[0]
    assert to_csv(table).splitlines() == [
        "Model,Mode,Group,Conversations,Emotion,Behaviour,Preference,Composite",
        *("a,default,1,1,50.0,60.0,30.0,60.0", "a,verbose,2,1,90.0,90.0,20.0,80.0", "b,default,1,1,70.0,80.0,10.0,71.0"),
    ]
    # Within a mode: the verbose row stands alone.
    assert [as_cell(row[4]).mark for row in table.rows] == ["second", None, "best"]
    # As does one of another group in the same mode.
    table = laid_out(tmp_path / "again", RUNS | {"default again": RUNS["verbose"]})[0].tables[0]
    assert [(row[2], as_cell(row[4]).mark) for row in table.rows if row[1] == "default"] == [
        (1, "second"),
        (3, None),
        (1, "best"),
    ]


def test_rank_correlation_of_the_parts(tmp_path: Path) -> None:
    block = laid_out(tmp_path, RUNS)[1]
    # Ranks of emotion 1 3 2, behaviour 1 3 2, preference 3 2 1: squared differences 4 + 1 + 1, so 1 - 6 x 6 / (3 x 8) = -1/2.
    half = pytest.approx(-0.5)
    (chart,) = block.charts
    assert [list(row) for row in chart.numbers.rows] == [
        ["Emotion", "", pytest.approx(1), half, None],
        ["Behaviour", pytest.approx(1), "", half, None],
        ["Preference", half, half, "", None],
        ["Judged drafts", None, None, None, ""],
    ]
    expected = (
        "Over 3 pairs of model and mode Emotion and Behaviour rank most alike (rho 1.00), Behaviour and Preference least (-0.50)."
    )
    assert (chart.words, chart.points[0].y) == (expected, "Emotion and Behaviour")
    assert [point.x for point in chart.points] == pytest.approx([1, -0.5, -0.5])


def test_two_rows_have_no_rank_correlation(tmp_path: Path) -> None:
    assert [block.title for block in laid_out(tmp_path, {"default": RUNS["default"]})] == ["Model by mode"]
