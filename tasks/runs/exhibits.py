"""Figures and tables of a benchmark's paper, for models of a leaderboard: one's own, the paper's, or both side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl

from schemas.benchmark import Rows
from schemas.blueprint import Blueprint
from schemas.documents.leaderboard import Group, PublishedRow, StoredRow
from schemas.paper import Paper
from schemas.table import Column, Table, Value
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.sections import Block
from tasks.runs.verdict import WITH_TOTAL
from tasks.text.tables import mark_scores

ModelRow = StoredRow | PublishedRow
"""A model in one setting; `run` is null in a paper's rows, which have what else its table states (`model_extra`)."""

OF_PAPER = "the paper"
ORIGIN = (Column("From", "name"), Column("Comparability", "verdict"))
"""Whose a row is, and how far one's own may be compared with the paper's."""


@dataclass(frozen=True, eq=False)
class RankedModels:
    """Models that are shown together.

    Attributes:
        blueprint: of the benchmark.
        rows: a row per model and setting, one's own first, by setting and rank.
        paper: null = the benchmark is of none.
        runs: of one's own rows, by name.
    """

    blueprint: Blueprint
    rows: tuple[ModelRow, ...]
    paper: Paper | None = None
    runs: Mapping[str, PastRun] = field(default_factory=dict)

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings of the rows, in their order."""
        return tuple(dict.fromkeys(row.setting for row in self.rows))

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
        name: ends the names of its files of CSV.
        lay_out: returns its blocks; none where the models lack what it shows. They are of one group of runs, and a paper's.
        abilities: main abilities that a benchmark must have; none = any benchmark has the exhibit.
        is_of_models: whether it shows models, and not the benchmark itself, which is the same for all groups.
    """

    name: str
    lay_out: Callable[[RankedModels], Iterable[Block]]
    abilities: frozenset[str] = frozenset()
    is_of_models: bool = True


EXHIBITS = Rows("exhibits", Exhibit)


class GroupExhibits(NamedTuple):
    """The exhibits of models that are ranked together: what sets their group apart, and each block with its exhibit's name."""

    words: str
    blocks: tuple[tuple[str, Block], ...]


def lay_out_exhibits(models: RankedModels, groups: Sequence[Group]) -> Iterator[GroupExhibits]:
    """Yield the exhibits of each group of runs that has any, the benchmark's own first; a paper's models stand in all groups."""
    mains = {main.id for main in models.blueprint.abilities}
    exhibits = [exhibit for exhibit in EXHIBITS.values() if exhibit.abilities <= mains]
    words = {group.number: f"group {group.number}: {group.words}" if len(groups) > 1 else "" for group in groups}
    numbers = dict.fromkeys(row.group for row in models.rows if row.run) or (None,)
    for index, number in enumerate(numbers):
        together = replace(models, rows=tuple(row for row in models.rows if row.run is None or row.group == number))
        blocks = [
            (exhibit.name, block)
            for exhibit in sorted(exhibits, key=lambda exhibit: not exhibit.abilities)
            for block in (exhibit.lay_out(together) if exhibit.is_of_models or not index else ())
        ]
        if blocks:  # tables stand before figures
            yield GroupExhibits(words.get(number or 0, ""), tuple(sorted(blocks, key=lambda pair: not pair[1].tables)))


def with_total(rows: Iterable[ModelRow]) -> list[ModelRow]:
    """Return the rows that have a total, ranked ones first, the others by their total before the veto."""
    totals = [
        (row.rank is None, -row.total_before_veto, row) for row in rows if has_total(row) and row.total_before_veto is not None
    ]
    return [row for *_, row in sorted(totals, key=lambda entry: entry[:2])]


def has_total(row: ModelRow) -> bool:
    """Return whether enough of the benchmark was scored."""
    return row.verdict in WITH_TOTAL


def origin_of(row: ModelRow) -> tuple[str, str | None]:
    """Return the cells of ORIGIN."""
    return OF_PAPER if row.run is None else "own", row.comparability.verdict if row.comparability else None


def models_table(
    title: str, rows: Sequence[ModelRow], heads: Sequence[Column], cells: Callable[[ModelRow], Iterable[Value]]
) -> Table:
    """Return a table with a row per model: name, cells, and where that differs whose it is and how far it may be compared.

    Scores are marked (`mark_scores`). One's own that are not comparable are not, where a paper's stand beside them.
    """
    is_mixed = len({row.run is None for row in rows}) > 1
    lines = [(row.model, *cells(row), *origin_of(row)) for row in rows]
    cohorts = [None if is_mixed and origin_of(row)[1] == "not comparable" else row.setting for row in rows]
    table = mark_scores(Table((Column("Model", "name"), *heads, *ORIGIN), lines, title), cohorts)
    return table.without_constant(*(column.title for column in ORIGIN))
