"""Totals of models over their runs, as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tasks.reporting.content.leaderboard import History
from tasks.reporting.figures.drawing import SERIES, Values, chart, draw

MAX_LINES = len(SERIES)
"""More lines than colours cannot be told apart; the table holds them all."""

_WIDE, _TALL = 520, 240


@dataclass(frozen=True)
class HistoryFigure:
    """The drawing and its key: label and colour of each line. `left_out`: models without a line."""

    svg: str
    keys: tuple[tuple[str, str], ...]
    left_out: int


def draw_histories(histories: Sequence[History]) -> HistoryFigure | None:
    """Totals before the veto by the time of the run, with their intervals; null if no model has two runs."""
    drawn = list(zip(histories, SERIES, strict=False))
    if not drawn:
        return None
    x = alt.X("at:T", scale=alt.Scale(type="utc"), axis=alt.Axis(title="start of the run, UTC", grid=False, tickCount=5))
    y = alt.Y("total:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="total, before the veto", tickCount=6))
    layers = []
    for history, colour in drawn:
        points: Values = [
            {"at": moment.started_at, "total": moment.before_veto, "low": moment.ci_low, "high": moment.ci_high}
            for moment in history.moments
            if moment.before_veto is not None
        ]
        ranges = [point for point in points if point["low"] is not None]
        layers += [
            chart(ranges).mark_rule(color=colour, strokeWidth=1.5, opacity=0.5).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
            chart(points).mark_line(color=colour, strokeWidth=2).encode(x=x, y=y),
            chart(points).mark_point(color=colour, filled=True, size=50, opacity=1).encode(x=x, y=y),
        ]
    keys = tuple((history.system.label, colour) for history, colour in drawn)
    return HistoryFigure(draw(layers, _TALL, _WIDE), keys, left_out=len(histories) - len(drawn))
