"""Describe what a setting gains over base."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from schemas.table import Cell, Column, Interval, Table, columns
from schemas.tables.comparisons import OF_ALL
from tasks.runs.run_tables import ReportData, Row
from tasks.scoring.gains import is_clear
from tasks.solvers.registry import setting_order, setting_title


@dataclass(frozen=True)
class ModelGains:
    """All gains of one model: the total, then the datasets in the blueprint's order, each in every setting.

    `rows`: of `setting_gains`, with the score's title, the setting's as `setting`, and whether the gain `is_clear`.
    """

    anchor: str
    model: str
    rows: list[Row]

    @property
    def table(self) -> Table:
        """The gains with the scores that they are differences of."""
        scores = (*columns("score", "Base", "Setting", digits=1), Column("Gain, 95 % interval", "difference", 1))
        rows = [
            (*(row[name] for name in ("title", "setting", "base_0_100", "setting_0_100")), _gain_cell(row), row["n_items"])
            for row in self.rows
        ]
        return Table((*columns("name", "Score", "Setting"), *scores, Column("Items", "count")), rows, f"Gains of {self.model}")


def _gain_cell(row: Row) -> Cell:
    mark: Literal["clear"] | None = "clear" if row["is_clear"] else None
    return Cell(row["gain"], mark=mark, interval=Interval.of(row["ci_low"], row["ci_high"]))


def model_gains(data: ReportData) -> tuple[ModelGains, ...]:
    """Return gains by model, in the order of the report; models without any are left out."""
    found = []
    for number_, model in enumerate(dict.fromkeys(system.model for system in data.systems), start=1):
        rows = data.gains.filter(pl.col("model") == model).to_dicts()
        rows.sort(key=lambda row: (row["scope"] != OF_ALL, data.dataset_order(row["scope"]), setting_order(row["setting"])))
        if rows:
            found.append(ModelGains(f"gains-{number_}", model, [_titled(row, data) for row in rows]))
    return tuple(found)


def _titled(row: Row, data: ReportData) -> Row:
    title = "Total" if row["scope"] == OF_ALL else data.title_of(row["scope"])
    return row | {"title": title, "setting": setting_title(row["setting"]), "is_clear": is_clear(row)}
