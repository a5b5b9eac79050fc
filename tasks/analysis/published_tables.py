"""Read a paper's table of models into the one form that reports work with."""

from dataclasses import dataclass
from functools import cached_property
from statistics import median

import polars as pl

BASE_SETTING = "base"
TOTAL = "overall"
_ABOUT = ("rank", "model", "setting", TOTAL, "ranked", "institution", "type", "parameters")
"""Columns of a wide table that are no abilities."""

_SCORES = pl.Schema({"model": pl.String, "setting": pl.String, "ability": pl.String, "score_0_100": pl.Float64})
_TOTALS = pl.Schema({"model": pl.String, "setting": pl.String, "total": pl.Float64, "ranked": pl.Boolean})


@dataclass(frozen=True)
class PublishedRange:
    """One score of the published models: its range, and how many of them a score is above (null without a score)."""

    models: int
    low: float
    middle: float
    high: float
    above: int | None


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A paper's table.

    `scores`: model, setting, ability, score_0_100. `totals`: model, setting, total (before the veto), ranked. `wide`: the
    table with a column per ability, and with type and parameters where the paper states these; it may be without rows.
    """

    scores: pl.DataFrame
    totals: pl.DataFrame
    wide: pl.DataFrame

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Settings of the table, in its order."""
        return tuple(dict.fromkeys(self.totals["setting"]))

    def ability(self, ability: str, setting: str) -> list[float]:
        """Return scores of all models in one setting; empty if it has none."""
        found = self.scores.filter((pl.col("ability") == ability) & (pl.col("setting") == setting))
        return found["score_0_100"].drop_nulls().to_list()

    def total(self, setting: str, *, ranked: bool = False) -> list[float]:
        """Return totals of all models in one setting, on request of the ranked ones alone."""
        found = self.totals.filter((pl.col("setting") == setting) & (pl.col("ranked") | (not ranked)))
        return found["total"].drop_nulls().to_list()

    @property
    def vetoed(self) -> int:
        """Models without a rank; their totals are before the veto."""
        return self.totals.filter(~pl.col("ranked")).height

    def range_of(self, ability: str, setting: str, score: float | None) -> PublishedRange | None:
        """Return range of one ability in one setting; null if the table has none."""
        values = self.ability(ability, setting)
        if not values:
            return None
        above = None if score is None else sum(value < score for value in values)
        return PublishedRange(len(values), min(values), median(values), max(values), above)


def read_table(published: pl.DataFrame | None) -> PublishedTable:
    """Bring a paper's table into one form.

    Args:
        published: a row per model with a column per ability (`overall` is the total; `setting`, if not all are `base`; `ranked`,
            if not all are; type and parameters, where the paper states these); null = there is none.
    """
    if published is None or published.is_empty():
        return PublishedTable(pl.DataFrame(schema=_SCORES), pl.DataFrame(schema=_TOTALS), pl.DataFrame())
    usual = {"setting": pl.lit(BASE_SETTING), "ranked": pl.lit(value=True)}
    full = published.with_columns(**{name: value for name, value in usual.items() if name not in published.columns})
    abilities = [name for name in published.columns if name not in _ABOUT]
    scores = full.unpivot(abilities, index=["model", "setting"], variable_name="ability", value_name="score_0_100")
    totals = full.select("model", "setting", pl.col(TOTAL).alias("total"), "ranked")
    return PublishedTable(scores.select(*_SCORES).cast(_SCORES), totals.cast(_TOTALS), full)
