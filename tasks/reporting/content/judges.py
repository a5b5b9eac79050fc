"""Describe what judges gave by dimension, and how far they can be trusted: agreement, and what else moves their ratings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.runs.run_tables import ReportData, Row, System
from tasks.solvers.registry import setting_order
from tasks.text.number_format import listed, number, signed

LEAST_ALPHA = 0.67
"""Krippendorff (2004): below .667 not even tentative conclusions."""

MOST_CORRELATION = 0.5
MAX_NAMED = 4


@dataclass(frozen=True)
class JudgeReport:
    """Means and agreement by dimension, and one warning per dataset and system with a doubtful one.

    `dimensions`: rows of `dimension_scores` with a `scale`, `rows`: of `agreements` with `doubts`, what speaks against them; both
    with the dataset's `title` and the `system`.
    """

    dimensions: list[Row]
    rows: list[Row]
    warnings: tuple[str, ...]


def describe_judges(data: ReportData) -> JudgeReport | None:
    """Describe what is known about the judges; null if nothing is."""
    if data.agreements.is_empty() and data.dimensions.is_empty():
        return None
    dimensions = [{**row, "scale": f"{row['scale_min']} to {row['scale_max']}"} for row in _named(data, data.dimensions)]
    agreements = data.agreements.with_columns(pl.col("judges").list.sort())
    rows = [{**row, "doubts": _doubts(row["alpha"], row["length_correlation"])} for row in _named(data, agreements)]
    return JudgeReport(dimensions, rows, _warnings(rows))


def _named(data: ReportData, frame: pl.DataFrame) -> Iterator[Row]:
    """Yield rows by dataset, model and setting, each with how these and the dimension are called."""

    def order(row: Row) -> Any:
        return data.dataset_order(row["dataset"]), row["model"], setting_order(row["setting"])

    for row in sorted(frame.to_dicts(), key=order):
        title, system = data.titles.get(row["dataset"], row["dataset"]), System(row["model"], row["setting"]).label
        yield row | {"title": title, "system": system, "dimension": row["dimension"].replace("_", " ")}


def _doubts(alpha: float | None, correlation: float | None) -> tuple[str, ...]:
    found = []
    if alpha is not None and alpha < LEAST_ALPHA:
        found.append(f"alpha {number(alpha, 2)}")
    if correlation is not None and abs(correlation) > MOST_CORRELATION:
        found.append(f"length {signed(correlation, 2)}")
    return tuple(found)


def _warnings(rows: list[Row]) -> tuple[str, ...]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["title"], row["system"]), []).append(row)
    return tuple(_warn(key, group) for key, group in groups.items() if any(row["doubts"] for row in group))


def _warn(key: tuple[str, str], group: list[Row]) -> str:
    doubtful = [row for row in group if row["doubts"]]
    named = [f"{row['dimension']} ({', '.join(row['doubts'])})" for row in doubtful[:MAX_NAMED]]
    named += [f"{len(doubtful) - MAX_NAMED} more"] if len(doubtful) > MAX_NAMED else []
    title, system = key
    return f"{title}, {system}: read the ratings with doubt, {len(doubtful)} of {len(group)} dimensions: {listed(named)}."
