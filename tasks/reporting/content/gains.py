"""Describe what a setting gains over base."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.tables.comparisons import OF_ALL
from tasks.runs.run_tables import ReportData
from tasks.scoring.gains import is_clear
from tasks.solvers.registry import setting_order, setting_title


@dataclass(frozen=True)
class ModelGains:
    """All gains of one model: the total, then the datasets in the blueprint's order, each in every setting.

    `rows`: of `setting_gains`, with the score's title, the setting's as `setting`, and whether the gain `is_clear`.
    """

    anchor: str
    model: str
    rows: list[dict[str, Any]]


def model_gains(data: ReportData) -> tuple[ModelGains, ...]:
    """Return gains by model, in the order of the report; models without any are left out."""
    found = []
    for number_, model in enumerate(dict.fromkeys(system.model for system in data.systems), start=1):
        rows = data.gains.filter(pl.col("model") == model).to_dicts()
        rows.sort(key=lambda row: (row["scope"] != OF_ALL, data.dataset_order(row["scope"]), setting_order(row["setting"])))
        if rows:
            found.append(ModelGains(f"gains-{number_}", model, [_titled(row, data.titles) for row in rows]))
    return tuple(found)


def _titled(row: dict[str, Any], titles: dict[str, str]) -> dict[str, Any]:
    title = "Total" if row["scope"] == OF_ALL else titles.get(row["scope"], row["scope"])
    return row | {"title": title, "setting": setting_title(row["setting"]), "is_clear": is_clear(row)}
