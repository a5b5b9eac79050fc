"""Set settings beside each other: scores of each model per setting, and what a setting gains over base."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.tables.comparisons import OF_ALL
from tasks.analysis.number_format import counted, number, setting_order, setting_title, signed, signed_interval
from tasks.analysis.run_tables import ReportData, System, from_row

TOTAL_TITLE = "Total"


@dataclass(frozen=True)
class SideRow:
    """The total or one main ability of a model by setting: scores on 0-100, and what the total gains over base."""

    title: str
    scores: tuple[float | None, ...]
    gains: tuple[float | None, ...]


@dataclass(frozen=True)
class SideBySide:
    """All models of a run in each of its settings, named as in the columns; of each model the total first."""

    settings: tuple[str, ...]
    models: Mapping[str, tuple[SideRow, ...]]


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

    @property
    def sentences(self) -> tuple[str, ...]:
        """What each setting does to the total, in words."""
        return tuple(_say(self.model, row) for row in self.rows if row.is_total)


def side_by_side(data: ReportData) -> SideBySide | None:
    """Return every model in every setting; null if the run has one setting."""
    if len(data.settings) == 1 or not data.systems():
        return None
    totals = {System(row["model"], row["setting"]): row["total"] for row in data.totals.iter_rows(named=True)}
    scores = {
        (System(row["model"], row["setting"]), row["ability"]): row["score_0_100"] for row in data.ability.iter_rows(named=True)
    }
    of_totals = data.gains.filter(pl.col("scope") == OF_ALL)
    gains = {System(row["model"], row["setting"]): row["gain"] for row in of_totals.iter_rows(named=True)}
    none, models = (None,) * len(data.settings), {}
    for model in dict.fromkeys(system.model for system in data.systems()):
        systems = [System(model, setting) for setting in data.settings]
        first = SideRow(TOTAL_TITLE, tuple(map(totals.get, systems)), tuple(map(gains.get, systems)))
        others = [
            SideRow(main.title, tuple(scores.get((system, main.id)) for system in systems), none)
            for main in data.blueprint.abilities
            if main.evaluated
        ]
        models[model] = (first, *others)
    return SideBySide(tuple(setting_title(setting) for setting in data.settings), models)


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


def _say(model: str, row: GainRow) -> str:
    seen = f"With {row.setting} {model} scores {number(row.setting_0_100)} in total, with Base {number(row.base_0_100)}"
    seen += f": a gain of {signed(row.gain)} points over {counted(row.n_items, 'item')}"
    if row.ci_low is None:
        return f"{seen}. No interval was computed, so it is open whether chance explains it."
    bounds = f" (95 % interval {signed_interval(row.ci_low, row.ci_high)})"
    return f"{seen}{bounds}." if row.is_clear else f"{seen}{bounds}. The interval holds 0, so chance could explain it."
