"""Make the rows of table artifacts: round numbers and plain cells, since the Prefect UI shows a nested one as [object Object].

A cell that is null stays blank there: nothing that is missing is shown as 0.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from schemas.changes import TOTAL, RunChanges
from schemas.documents.system import SystemRow
from schemas.lineage import RunManifest
from schemas.printing import printable
from schemas.usage import by_model, total
from tasks.lake.lake import Lake
from tasks.runs.failures import failed_calls
from tasks.runs.verdict import say_verdict

Row = dict[str, Any]
JOB_KEY = ["dataset", "model", "setting"]
FAILURE_COLUMNS = (*JOB_KEY, "what", "calls", "next step")

MAX_ROWS = 1000
"""Above that the UI gets slow; the description says what was left out."""


def leaderboard_rows(models: Sequence[SystemRow], changes: RunChanges | None) -> list[Row]:
    """Return one row per system; `models`: of `run_rows`, in their order; `changes`: None if nothing was compared.

    Interval and `change` are of the total before the veto.
    """
    moved = _moved(changes)
    return [
        {
            "rank": row.rank,
            "model": row.model,
            "setting": row.setting,
            "total": _round(row.total),
            "verdict": say_verdict(row),
            "before veto": _round(row.total_before_veto),
            "95 % low": _round(row.ci_low),
            "95 % high": _round(row.ci_high),
            "change": _round(moved.get((row.model, row.setting, TOTAL))),
            "coverage %": _round(100 * row.coverage),
            "beside published": row.comparability and row.comparability.verdict,
        }
        for row in models
    ]


def ability_rows(abilities: pl.DataFrame, changes: RunChanges | None) -> list[Row]:
    """Return one row per system and main ability; `abilities`: rows of `ability_scores`."""
    moved = _moved(changes)
    return [
        {
            "model": row["model"],
            "setting": row["setting"],
            "ability": row["ability"],
            "score": _round(row["score_0_100"]),
            "change": _round(moved.get((row["model"], row["setting"], row["ability"]))),
            "datasets": f"{row['datasets_scored']} of {row['datasets_total']}",
            "items": f"{row['n_scored']} of {row['n_total']}",
        }
        for row in abilities.iter_rows(named=True)
    ]


def coverage_rows(raw: pl.DataFrame) -> list[Row]:
    """Return one row per dataset and system that has a score, the least covered first; `raw`: rows of `raw_scores`.

    An item counts as scored if each of its metrics is. Datasets without a score are among the failures.
    """
    jobs = raw.group_by(JOB_KEY).agg(
        pl.col("n_scored").min(), pl.col("n_unparsed").max(), pl.col("n_total").max(), metrics=pl.col("metric").sort().unique()
    )
    return [
        {
            **{name: row[name] for name in JOB_KEY},
            "scored": row["n_scored"],
            "of": row["n_total"],
            "scored %": _round(100 * row["n_scored"] / row["n_total"]) if row["n_total"] else None,
            "unreadable": row["n_unparsed"],
            "metrics": ", ".join(sorted(row["metrics"])),
        }
        for row in jobs.sort(pl.col("n_scored") / pl.col("n_total"), *JOB_KEY).iter_rows(named=True)
    ]


def failure_rows(manifest: RunManifest, lake: Lake) -> list[Row]:
    """Return what has no score, and calls that failed, by dataset, model and kind; a single row says that there is nothing."""
    gaps = [(gap.dataset, gap.model or "all", gap.setting or "all", gap.reason, None, gap.next_step) for gap in manifest.missing]
    rows = [*gaps, *(row for row, _ in failed_calls(manifest, lake))] or [("", "all", "all", "nothing failed", None, "")]
    return [dict(zip(FAILURE_COLUMNS, row, strict=True)) for row in rows]


def cost_rows(manifest: RunManifest) -> list[Row]:
    """Return one row of the run, then one per model, then one per dataset, model and role; unknown costs stay empty."""
    if not manifest.usage:
        return [{"dataset": "", "model": "all", "note": "this run recorded no tokens"}]
    rows = [
        {"dataset": "all", "model": "all", "role": "all", **total(manifest.usage).model_dump()},
        *({"dataset": "all", **row.model_dump()} for row in by_model(manifest.usage)),
        *(row.model_dump() for row in manifest.usage),
    ]
    first = dict.fromkeys(("dataset", "model", "role", "cost", "paid_cost", "currency"))
    plain = ({name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()} for row in rows)
    return [{**first, **row, "currency": manifest.currency} for row in plain]


def _moved(changes: RunChanges | None) -> dict[tuple[str, str, str], float | None]:
    """Return changes by model, setting and what they are of."""
    systems = changes.units if changes else ()
    return {(system.model, system.setting, one.what): one.change for system in systems for one in system.changes}


def few(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Return at most MAX_ROWS rows as they are shown, and a sentence on the others."""
    shown = [
        {name: printable(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows[:MAX_ROWS]
    ]
    if len(rows) <= MAX_ROWS:
        return shown, ""
    return shown, f" The first {MAX_ROWS:,} of {len(rows):,} rows; all of them are in the report."


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 2) + 0.0  # no negative zero
