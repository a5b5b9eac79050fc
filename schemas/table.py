"""A table of values: each column has a title and a kind, and the kind alone decides how its cells are written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

Kind = (
    Literal["name", "code", "text", "score", "number", "difference", "interval", "change"]
    | Literal["share", "count", "part", "money", "time", "verdict"]
)
"""What a column holds.

name: what something is called, in one line; the first such column says what a row is about. code: what a program calls it.
text: words. score: on 0-100. number: in a unit of its own; a whole one has no decimals. difference: of two scores. interval: the
ends of a score. change: the ends of a difference. share: 0 to 1. count: a whole number. part: so many of so many. money: in
`currency`. time: seconds. verdict: one of few words. Null is a dash in all of them.
"""


class Interval(NamedTuple):
    """Both ends."""

    low: float
    high: float

    @classmethod
    def of(cls, low: float | None, high: float | None) -> "Interval | None":
        """Return the interval, null where an end is not known."""
        return None if low is None or high is None else cls(low, high)


class Part(NamedTuple):
    """So many of so many."""

    n: int
    of: int


class Cell(NamedTuple):
    """A value with more than its column says.

    `note`: in small print below it. `mark`: it is the best of its row or column, the second, or the lowest, in a column also what
    lies within a point of best and lowest; or a difference that chance hardly explains. `interval`: of the value, written as its
    column is. `href`: where a page leads from it. `language`: of a text that is not ours.
    """

    value: "Value"
    note: str = ""
    mark: Literal["best", "second", "lowest", "clear"] | None = None
    interval: Interval | None = None
    href: str = ""
    language: str = ""


Value = str | bool | int | float | Interval | Part | Cell | None


class Column(NamedTuple):
    """A column. `digits`: decimals of its numbers. `currency`: of money. `group`: title above it and its neighbours."""

    title: str
    kind: Kind = "text"
    digits: int = 2
    currency: str | None = None
    group: str = ""

    @property
    def full_title(self) -> str:
        """Its title, after that of its group."""
        return f"{self.group}: {self.title}" if self.group else self.title

    @property
    def is_numeric(self) -> bool:
        """Whether its cells end below each other."""
        return self.kind not in {"name", "code", "text", "verdict"}


def columns(kind: Kind, *titles: str, digits: int = 2, group: str = "") -> tuple[Column, ...]:
    """Return columns of one kind."""
    return tuple(Column(title, kind, digits, group=group) for title in titles)


@dataclass(frozen=True)
class Table:
    """Rows of values below titled columns."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value]]
    title: str | None = None

    @property
    def head(self) -> int | None:
        """Index of the column that says what a row is about."""
        return next((index for index, column in enumerate(self.columns) if column.kind == "name"), None)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Titles above neighbouring columns with their number; none where no column has one."""
        runs = [(title, len([*run])) for title, run in groupby(self.columns, lambda column: column.group)]
        return runs if any(title for title, _ in runs) else []

    def without_empty(self, *titles: str) -> "Table":
        """Return the table without those of these columns that have nothing but nulls and empty texts."""
        return self._without(titles, lambda values: all(value in {None, ""} for value in values))

    def without_constant(self, *titles: str) -> "Table":
        """Return the table without those of these columns that say the same in all rows."""
        return self._without(titles, lambda values: len({*values}) == 1)

    def without_repeats(self) -> tuple["Table", list[tuple[Column, Value]]]:
        """Return the table without names and codes that are the same in all rows, and the columns of these with their values."""
        names = [column.title for column in self.columns if column.kind in {"name", "code"}]
        table = self.without_constant(*names) if len(self.rows) > 1 else self
        if table.head is None:
            return self, []
        return table, [(column, self.rows[0][n]) for n, column in enumerate(self.columns) if column not in table.columns]

    def _without(self, titles: Sequence[str], is_idle: Callable[[Sequence[Value]], bool]) -> "Table":
        kept = [
            index
            for index, column in enumerate(self.columns)
            if column.title not in titles or not is_idle([row[index] for row in self.rows])
        ]
        rows = [[row[index] for index in kept] for row in self.rows]
        return Table(tuple(self.columns[index] for index in kept), rows, self.title)
