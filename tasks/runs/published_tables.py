"""Read a paper's table of models into the one form that reports work with."""

from dataclasses import dataclass
from functools import cached_property
from statistics import median

import polars as pl

BASE_SETTING = "base"
TOTAL = "overall"


@dataclass(frozen=True)
class PublishedRange:
    """One score of the published models: its range and its median."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A paper's table; it may be without rows.

    `wide`: a row per model and setting with a column per ability, the total before the veto as `overall`, `ranked`, and type and
    parameters where the paper states these.
    """

    wide: pl.DataFrame

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Settings of the table, in its order."""
        return tuple(dict.fromkeys(self.wide["setting"]))

    def scores(self, name: str, setting: str, *, ranked: bool = False) -> list[float]:
        """Return an ability's scores, or TOTAL's, of all models in one setting, on request of the ranked ones alone."""
        if name not in self.wide.columns:
            return []
        rows = self.wide.filter((pl.col("setting") == setting) & (pl.col("ranked") | (not ranked)))
        return rows[name].drop_nulls().to_list()

    @property
    def vetoed(self) -> int:
        """Models without a rank; their totals are before the veto."""
        return self.wide.filter(~pl.col("ranked")).height

    def range_of(self, ability: str, setting: str) -> PublishedRange | None:
        """Return range of one ability in one setting; null if the table has none."""
        values = self.scores(ability, setting)
        return PublishedRange(min(values), median(values), max(values)) if values else None


def read_table(published: pl.DataFrame | None = None) -> PublishedTable:
    """Return a paper's table in one form: `setting` is left out where all are `base`, `ranked` where all are; null = no table."""
    if published is None or published.is_empty():
        return PublishedTable(pl.DataFrame(schema={"setting": pl.String, "ranked": pl.Boolean}))
    usual = {"setting": pl.lit(BASE_SETTING), "ranked": pl.lit(value=True)}
    return PublishedTable(
        published.with_columns(**{name: value for name, value in usual.items() if name not in published.columns})
    )
