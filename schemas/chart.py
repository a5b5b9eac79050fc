"""A figure: its values, what they show in one sentence, and the table of its numbers. What draws it is not known here."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Literal, NamedTuple

from schemas.table import Interval, Table

Kind = Literal["dots", "boxes", "strips", "ranges", "points", "lines", "grid"]
"""How values are drawn.

dots: a panel for each series, in it a row for each `y` with the score `value` on 0-100 as a dot; `x` is a remark beside the name.
boxes: the quartiles of each row. strips: a line for each value of a row, its median and its mean. ranges: a coloured dot in each
row for each series, on both sides of 0. Rows are named by `y`. points: a dot for each value; those of a series are joined and
named. lines: a coloured line for each series. grid: a cell for each `x` and `y`, coloured by `value`, which is on 0-100; a series
heads its rows.
"""

MOST_LINES = 6
"""More colours cannot be told apart; the tables hold the other lines."""


class Axis(NamedTuple):
    """What `x` or `y` is. Without ends it is as long as the values are; that of boxes and strips goes from 0 to 100."""

    title: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    is_time: bool = False


class Beside(NamedTuple):
    """What a score is seen beside: what a constant answer earns, what a gate requires, and where published scores lie."""

    constant: float | None = None
    threshold: float | None = None
    published: Interval | None = None


class Point(NamedTuple):
    """A value.

    `low`, `high`: the ends of x, drawn of `ranges` and `points`, of y, of `lines`, or of the value, of `dots`. `is_hollow`:
    estimated, or not ranked. `is_own`: measured in a run, not printed in a paper, whose values alone make boxes, medians and
    means where there are any. `anchor`: the place in the page that a dot leads to.
    """

    x: float | str
    y: float | str
    series: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_hollow: bool = False
    is_own: bool = False
    beside: Beside = Beside()
    anchor: str = ""


PLAIN, NOTHING = Axis(), Table((), ())


@dataclass(frozen=True)
class Chart:
    """A figure.

    `words`: one sentence that says what it shows, from the values. `numbers`: the values as a table, shown on demand. `curves`:
    fitted ones, the last is darker. `note`: how to read it. Rows, series and texts on axes stand in the order of the points.
    """

    title: str
    words: str
    kind: Kind
    points: tuple[Point, ...]
    numbers: Table = NOTHING
    x: Axis = PLAIN
    y: Axis = PLAIN
    curves: tuple[tuple[tuple[float, float], ...], ...] = ()
    note: str = ""

    @property
    def left_out(self) -> int:
        """How many of its lines are not drawn."""
        return max(0, len({point.series for point in self.points}) - MOST_LINES) if self.kind == "lines" else 0


def quartiles(values: Sequence[float]) -> tuple[float, ...]:
    """Return the lowest value, three quartiles, linearly interpolated, and the highest; quartiles are their own quartiles."""
    inner = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
    return (min(values), *inner, max(values))
