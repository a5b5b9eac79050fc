"""Describe what a setting gains over base."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.tables.comparisons import OF_ALL
from tasks.analysis.number_format import setting_order, setting_title
from tasks.analysis.run_tables import ReportData, from_row

TOTAL_TITLE = "Total"


@dataclass(frozen=True)
class GainRow:
    """What a setting gains over base in the total or in one dataset, over the items scored in both; points on 0-100."""

    title: str
    is_total: bool
    setting: str
    base_0_100: float
    setting_0_100: float
    gain: float
    ci_low: float | None
    ci_high: float | None
    n_items: int

    @property
    def is_clear(self) -> bool:
        """Whether chance alone hardly explains it: the 95 % interval does not hold 0."""
        return self.ci_low is not None and self.ci_high is not None and not self.ci_low <= 0 <= self.ci_high


@dataclass(frozen=True)
class ModelGains:
    """All gains of one model: the total, then the datasets in the blueprint's order, each in every setting."""

    anchor: str
    model: str
    rows: tuple[GainRow, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """Titles of the settings, as shown."""
        return tuple(dict.fromkeys(row.setting for row in self.rows))


def model_gains(data: ReportData) -> tuple[ModelGains, ...]:
    """Return gains by model, in the order of the report; models without any are left out."""
    found = []
    for number_, model in enumerate(dict.fromkeys(system.model for system in data.systems()), start=1):
        rows = data.gains.filter(pl.col("model") == model).to_dicts()
        rows.sort(key=lambda row: (row["scope"] != OF_ALL, data.dataset_order(row["scope"]), setting_order(row["setting"])))
        if rows:
            found.append(ModelGains(f"gains-{number_}", model, tuple(_row(row, data.titles) for row in rows)))
    return tuple(found)


def _row(row: dict[str, Any], titles: dict[str, str]) -> GainRow:
    is_total = row["scope"] == OF_ALL
    title = TOTAL_TITLE if is_total else titles.get(row["scope"], row["scope"])
    return from_row(GainRow, row, title=title, is_total=is_total, setting=setting_title(row["setting"]))
