"""Show a run that is not a whole benchmark for a terminal: its datasets, and no total over fewer than half of them."""

from typing import Any

import polars as pl
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from flows.commands.console import label_system, numbers, text_table, unbroken
from flows.commands.run_view import leaderboard_table
from schemas.blueprint import Blueprint
from schemas.lineage import RunManifest
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.analysis.baselines import Baselines
from tasks.analysis.number_format import counted, interval, number
from tasks.analysis.past_run import PastRun
from tasks.analysis.run_tables import ReportData
from tasks.lake.lake import Lake
from tasks.reporting.content.verdicts import LEAST_COVERAGE


def scores_view(title: str, document: dict[str, Any], manifest: RunManifest, lake: Lake) -> list[RenderableType]:
    """Return the leaderboard of a run; the scores of its datasets where it chose some, or where few of them are scored.

    Args:
        title: of the leaderboard.
        document: of `run_document`.
        manifest: of the run.
        lake: where its layers are.
    """
    models = document["models"]
    most, of = max((row["coverage"] for row in models), default=0.0), len(manifest.blueprint["datasets"])
    if manifest.plan.get("datasets") is None and not 0 < most < LEAST_COVERAGE:
        return [leaderboard_table(title, models)]
    table = _dataset_table(title, document, PastRun(manifest, Blueprint.model_validate(manifest.blueprint), lake))
    if most >= LEAST_COVERAGE:
        return [table, leaderboard_table(title, models)]
    few = f"{round(most * of)} of {counted(of, 'dataset')} of {escape(manifest.benchmark)} have a score"
    return [table, f"No total: {few}, and a total needs half of them."]


def _dataset_table(title: str, document: dict[str, Any], run: PastRun) -> Table:
    heads = numbers("Score", "95 % interval", "Items", "Unreadable", "Constant answer")
    table = text_table(unbroken("Dataset"), "Model", "Metric", *heads, title=title)
    baselines = _read(run).baselines
    for row in document["raw_scores"]:
        constant = baselines.get((row["dataset"], row["metric"]), Baselines()).constant
        table.add_row(
            *map(escape, (row["dataset"], label_system(row), row["metric"])),
            number(row["value"], 3),
            interval(row["ci_low"], row["ci_high"], 3),
            f"{row['n_scored']} of {row['n_total']}",
            str(row["n_unparsed"]),
            f"{number(constant.share, 3)}, always {constant.letter}" if constant else number(None),
        )
    return table


def _read(run: PastRun) -> ReportData:
    """Return what baselines are measured on: items, and in which order they were shown."""
    items, answers = ([run.lake.read(ref, kind) for ref in run.partitions(layer)] for layer, kind in KINDS.items())
    shown = answers or [Answers.create_empty()]  # a run of version 0.1 has none
    return ReportData(run.manifest, run.blueprint, items=Items.cast(pl.concat(items)), answers=Answers.cast(pl.concat(shown)))


KINDS: dict[str, Any] = {"items": Items, "answers": Answers}
