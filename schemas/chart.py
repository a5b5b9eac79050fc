"""A figure: its values, what they show in one sentence, and the table of its numbers. What draws it is not known here."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Literal, NamedTuple

from schemas.table import Table

Kind = Literal["boxes", "strips", "points", "lines", "grid"]
"""How values are drawn.

boxes: the quartiles of each row. strips: a line for each value of a row, its median and its mean. Rows are named by `y`.
points: a dot for each value; those of a series are joined and named. lines: a coloured line for each series.
grid: a cell for each `x` and `y`, coloured by `value`, which is on 0-100.
"""


class Axis(NamedTuple):
    """What `x` or `y` is. Without ends it is as long as the values are; that of boxes and strips goes from 0 to 100."""

    title: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False


PLAIN = Axis()


class Point(NamedTuple):
    """A value. One without a number is left out of all figures but a grid.

    `low`, `high`: the ends of x, drawn of `points`. `is_hollow`: estimated, or not ranked. `is_own`: measured in a run, not
    printed in a paper.
    """

    x: float | str
    y: float | str
    series: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_hollow: bool = False
    is_own: bool = False


class Curve(NamedTuple):
    """A fitted curve; the main one of several is darker."""

    points: tuple[tuple[float, float], ...]
    is_main: bool = True


@dataclass(frozen=True)
class Chart:
    """A figure.

    Attributes:
        title: above it.
        words: one sentence that says what it shows, from the values.
        kind: how the values are drawn.
        points: the values, rows and series in their order.
        numbers: the same as a table, shown on demand.
        note: how to read it.
    """

    title: str
    words: str
    kind: Kind
    points: tuple[Point, ...]
    numbers: Table
    x: Axis = PLAIN
    y: Axis = PLAIN
    curves: tuple[Curve, ...] = ()
    note: str = ""

    @property
    def series(self) -> tuple[str, ...]:
        """Names of its series, in order."""
        return tuple(dict.fromkeys(point.series for point in self.points))


def quartiles(values: Sequence[float]) -> tuple[float, ...]:
    """Return the lowest value, three quartiles, linearly interpolated, and the highest; quartiles are their own quartiles."""
    inner = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
    return (min(values), *inner, max(values))
