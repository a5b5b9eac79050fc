"""Figures and tables of a benchmark's paper, for models of a leaderboard: one's own, the paper's, or both side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from schemas.benchmark import Rows
from schemas.blueprint import Blueprint
from schemas.documents.leaderboard import Group, PublishedRow, StoredRow
from schemas.paper import Paper
from schemas.table import Column, Table, Value
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.sections import Block
from tasks.solvers.registry import setting_title
from tasks.text.tables import mark_scores

ModelRow = StoredRow | PublishedRow
"""A model in one setting; `run` is null in a paper's rows, which have what else its table states (`model_extra`)."""

ORIGIN = (Column("From", "name"), Column("Comparability", "verdict"))
"""Whose a row is, and how far one's own may be compared with the paper's."""


@dataclass(frozen=True, eq=False)
class RankedModels:
    """Models that are shown together. `paper`: null = the benchmark is of none. `runs`: of one's own rows, by name."""

    blueprint: Blueprint
    rows: tuple[ModelRow, ...]
    paper: Paper | None = None
    runs: Mapping[str, PastRun] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the rows, in their order, each with the end of a title that names it; nothing where there is one."""
        settings = dict.fromkeys(row.setting for row in self.rows)
        return {setting: f": {setting_title(setting)}" if len(settings) > 1 else "" for setting in settings}

    def in_setting(self, setting: str) -> "RankedModels":
        """Return the models in one setting."""
        return replace(self, rows=tuple(row for row in self.rows if row.setting == setting))

    def read(self, row: ModelRow, layer: str) -> pl.DataFrame | None:
        """Return the rows of a layer about the model and setting of a row; null for a paper's, which has no run."""
        return System(row.model, row.setting).of(self.runs[row.run].read(layer)) if row.run else None


@dataclass(frozen=True)
class Exhibit:
    """A figure or table.

    Attributes:
        name: of its figures, where one is asked for; ends the names of its files of CSV.
        lay_out: returns its blocks; none where the models lack what it shows. They are of one group of runs, and a paper's.
        abilities: main abilities that a benchmark must have; none = any benchmark has the exhibit.
        is_of_models: whether it shows the models of each group by themselves; else it is laid out once, with those of all groups.
    """

    name: str
    lay_out: Callable[[RankedModels], Iterable[Block]]
    abilities: frozenset[str] = frozenset()
    is_of_models: bool = True


EXHIBITS = Rows("exhibits", Exhibit)


def lay_out_exhibits(models: RankedModels, groups: Sequence[Group]) -> Iterator[tuple[str, str, Block]]:
    """Yield what sets a group of runs apart (nothing if there is one), the name of an exhibit, and a block of it.

    A benchmark's own exhibits come first. A paper's models stand in all groups.
    """
    mains = {main.id for main in models.blueprint.abilities}
    exhibits = sorted((each for each in EXHIBITS.values() if each.abilities <= mains), key=lambda each: not each.abilities)
    words = {group.number: f", group {group.number}: {group.words}" if len(groups) > 1 else "" for group in groups}
    yield from (("", each.name, block) for each in exhibits if not each.is_of_models for block in each.lay_out(models))
    for number in dict.fromkeys(row.group for row in models.rows if row.run) or (None,):
        together = replace(models, rows=tuple(row for row in models.rows if row.run is None or row.group == number))
        for exhibit in (exhibit for exhibit in exhibits if exhibit.is_of_models):
            yield from ((words.get(number or 0, ""), exhibit.name, block) for block in exhibit.lay_out(together))


def with_total(rows: Iterable[ModelRow]) -> list[ModelRow]:
    """Return the rows that have a total, ranked ones first, the others by their total before the veto."""
    totals = [row for row in rows if row.has_total]
    return sorted(totals, key=lambda row: (row.rank is None, -(row.total_before_veto or 0.0)))


def origin_of(row: ModelRow) -> tuple[str, str | None]:
    """Return the cells of ORIGIN."""
    return "own" if row.run else "paper", row.comparability.verdict if row.comparability else None


def without_origin(table: Table) -> Table:
    """Return a table without the columns of ORIGIN where they say the same in all rows."""
    return table.without_constant(*(column.title for column in ORIGIN))


def models_table(
    title: str, rows: Sequence[ModelRow], heads: Sequence[Column], cells: Callable[[ModelRow], Iterable[Value]]
) -> Table:
    """Return a table with a row per model: name, cells, and where that differs whose it is and how far it may be compared.

    Scores are marked (`mark_scores`), but those of vetoed models and, beside a paper's, one's own that are not comparable.
    """
    is_mixed = len({row.run is None for row in rows}) > 1
    lines = [(row.model, *cells(row), *origin_of(row)) for row in rows]
    apart = (row.vetoed or (is_mixed and origin_of(row)[1] == "not comparable") for row in rows)
    cohorts = [None if is_apart else row.setting for is_apart, row in zip(apart, rows, strict=True)]
    return without_origin(mark_scores(Table((Column("Model", "name"), *heads, *ORIGIN), lines, title), cohorts))
