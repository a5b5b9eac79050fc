"""Describe what a setting gains over base."""

from dataclasses import dataclass

import polars as pl

from schemas.table import Cell, Column, Interval, Table
from schemas.tables.comparisons import OF_ALL
from tasks.runs.run_tables import ReportData, from_row
from tasks.solvers.registry import setting_order, setting_title


@dataclass(frozen=True)
class Gain:
    """A row of `setting_gains`, with the titles of its score and setting."""

    title: str
    setting: str
    base_0_100: float | None
    setting_0_100: float | None
    gain: float
    ci_low: float | None
    ci_high: float | None
    n_items: int

    @property
    def cell(self) -> Cell:
        """The gain, marked where chance alone hardly explains it."""
        ends = Interval.of(self.ci_low, self.ci_high)
        return Cell(self.gain, mark="clear" if ends and not ends.low <= 0 <= ends.high else None, interval=ends)


@dataclass(frozen=True)
class ModelGains:
    """All gains of one model: the total, then the datasets in the blueprint's order, each in every setting."""

    anchor: str
    model: str
    rows: tuple[Gain, ...]

    @property
    def table(self) -> Table:
        """The gains with the scores that they are differences of."""
        scores = (Column("Base", "score", 1), Column("Setting", "score", 1), Column("Gain, 95 % interval", "difference", 1))
        columns = (Column("Score", "name"), Column("Setting", "name"), *scores, Column("Items", "count"))
        rows = [(row.title, row.setting, row.base_0_100, row.setting_0_100, row.cell, row.n_items) for row in self.rows]
        return Table(columns, rows, f"Gains of {self.model}")


def model_gains(data: ReportData) -> tuple[ModelGains, ...]:
    """Return gains by model, in the order of the report; models without any are left out."""
    gains = []
    for number, model in enumerate(dict.fromkeys(system.model for system in data.systems), start=1):
        rows = data.gains.filter(pl.col("model") == model).to_dicts()
        rows.sort(key=lambda row: (row["scope"] != OF_ALL, data.dataset_order(row["scope"]), setting_order(row["setting"])))
        titled = (from_row(Gain, row, title=_title(data, row["scope"]), setting=setting_title(row["setting"])) for row in rows)
        gains += [ModelGains(f"gains-{number}", model, tuple(titled))] if rows else []
    return tuple(gains)


def _title(data: ReportData, scope: str) -> str:
    return "Total" if scope == OF_ALL else data.title_of(scope)
