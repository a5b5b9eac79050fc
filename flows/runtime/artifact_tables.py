"""Lay out what a run found for table artifacts, whose columns are ids; a cell that is null stays blank in the Prefect UI."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from schemas.changes import TOTAL, RunChanges
from schemas.documents.leaderboard import SystemRow
from schemas.lineage import RunManifest
from schemas.table import Column, Part, Table, columns
from schemas.usage import COSTS, Amounts, by_model, total
from tasks.lake.lake import Lake
from tasks.runs.failures import failed_calls
from tasks.runs.verdict import say_verdict

JOB_KEY = ["dataset", "model", "setting"]
JOB = columns("name", *JOB_KEY)

MAX_ROWS = 1000
"""Above that the UI gets slow; the description says what was left out."""


def leaderboard_table(models: Sequence[SystemRow], changes: RunChanges | None) -> Table:
    """Return one row per system; `models`: of `run_rows`, in their order; `changes`: None if nothing was compared.

    Interval and `change` are of the total before the veto.
    """
    moved = _moved(changes)
    total = (Column("total", "score"), Column("verdict", "verdict"))
    ends = (*columns("score", "before veto", "95 % low", "95 % high"), Column("change", "difference"))
    rows = [
        (
            *(row.rank, row.model, row.setting, row.total, say_verdict(row), row.total_before_veto),
            *(row.ci_low, row.ci_high, moved.get((row.model, row.setting, TOTAL)), row.coverage),
            row.comparability.verdict if row.comparability else None,
        )
        for row in models
    ]
    heads = (Column("rank", "count"), *columns("name", "model", "setting"), *total, *ends)
    return Table((*heads, Column("coverage %", "share"), Column("beside published")), rows)


def abilities_table(abilities: pl.DataFrame, changes: RunChanges | None) -> Table:
    """Return one row per system and main ability; `abilities`: rows of `ability_scores`."""
    moved = _moved(changes)
    scores = (Column("score", "score"), Column("change", "difference"), *columns("part", "datasets", "items"))
    of_each = ("model", "setting", "ability", "score_0_100", "datasets_scored", "datasets_total", "n_scored", "n_total")
    rows = [
        (*key, score, moved.get(tuple(key)), Part(scored, of), Part(n, total))
        for *key, score, scored, of, n, total in abilities.select(of_each).iter_rows()
    ]
    return Table((*columns("name", "model", "setting", "ability"), *scores), rows)


def coverage_table(raw: pl.DataFrame) -> Table:
    """Return one row per dataset and system that has a score, the least covered first; `raw`: rows of `raw_scores`.

    An item counts as scored if each of its metrics is. Datasets without a score are among the failures.
    """
    counts = (*columns("count", "scored", "of"), Column("scored %", "share"), Column("unreadable", "count"))
    jobs = raw.group_by(JOB_KEY).agg(
        *(pl.col("n_scored").min(), pl.col("n_total").max()),
        share=pl.col("n_scored").min() / pl.col("n_total").max(),
        unreadable=pl.col("n_unparsed").max(),
        metrics=pl.col("metric").cast(pl.String).unique().sort().str.join(", "),
    )
    shares = pl.when(pl.col("n_total") > 0).then("share")
    return Table((*JOB, *counts, Column("metrics")), jobs.sort("share", *JOB_KEY).with_columns(share=shares).rows())


def failures_table(manifest: RunManifest, lake: Lake) -> Table:
    """Return what has no score, and calls that failed, by dataset, model and kind; a single row says that there is nothing."""
    gaps = [(gap.dataset, gap.model or "all", gap.setting or "all", gap.reason, None, gap.next_step) for gap in manifest.missing]
    rows = [*gaps, *(row for row, _ in failed_calls(manifest, lake))] or [("", "all", "all", "nothing failed", None, "")]
    return Table((*JOB, Column("what"), Column("calls", "count"), Column("next step")), rows)


def costs_table(manifest: RunManifest) -> Table:
    """Return one row of the run, then one per model, then one per dataset, model and role; unknown costs stay empty."""
    if not manifest.usage:
        return Table((*columns("name", "dataset", "model"), Column("note")), [("", "all", "this run recorded no tokens")])
    rows = [
        {"dataset": "all", "model": "all", "role": "all", **total(manifest.usage).model_dump()},
        *({"dataset": "all", **row.model_dump()} for row in by_model(manifest.usage)),
        *(row.model_dump() for row in manifest.usage),
    ]
    counts = (name for name in Amounts.model_fields if name not in COSTS)
    costs = (*columns("money", *COSTS, digits=6), Column("currency", "name"))
    heads = (*columns("name", "dataset", "model", "role"), *costs, *columns("count", *counts))
    return Table(heads, [[{**row, "currency": manifest.currency}[head.title] for head in heads] for row in rows])


def _moved(changes: RunChanges | None) -> dict[tuple[str, str, str], float | None]:
    """Return changes by model, setting and what they are of."""
    systems = changes.units if changes else ()
    return {(system.model, system.setting, one.what): one.change for system in systems for one in system.changes}


def few(table: Table) -> tuple[Table, str]:
    """Return at most MAX_ROWS rows, and a sentence on the others."""
    if len(table.rows) <= MAX_ROWS:
        return table, ""
    rest = f" The first {MAX_ROWS:,} of {len(table.rows):,} rows; all of them are in the report."
    return replace(table, rows=table.rows[:MAX_ROWS]), rest
