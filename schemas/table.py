"""A table of values: each column has a title and a kind, and the kind alone decides how its cells are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal[
    "name", "text", "score", "number", "difference", "interval", "change", "share", "count", "money", "time", "verdict"
]
"""What a column holds.

name: what a row is about, in one line. text: words. score: on 0-100. number: in a unit of its own. difference: of two scores.
interval: the ends of a score. change: the ends of a difference. share: 0 to 1. count: a whole number. money: in `currency`.
time: seconds. verdict: one of few words. Null is a dash in all of them.
"""


class Interval(NamedTuple):
    """Both ends."""

    low: float
    high: float

    @classmethod
    def of(cls, low: float | None, high: float | None) -> "Interval | None":
        """Return the interval, null where an end is not known."""
        return None if low is None or high is None else cls(low, high)


class Cell(NamedTuple):
    """A value with more than its column says: a note in small print below it, or that it is the best or the second of its row."""

    value: "Value"
    note: str = ""
    mark: Literal["best", "second"] | None = None


Value = str | bool | int | float | Interval | Cell | None


class Column(NamedTuple):
    """A column. `digits`: decimals of its numbers. `currency`: of money."""

    title: str
    kind: Kind = "text"
    digits: int = 2
    currency: str | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether its cells end below each other."""
        return self.kind not in {"name", "text", "verdict"}


@dataclass(frozen=True)
class Table:
    """Rows of values below titled columns."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value]]
    title: str | None = None
