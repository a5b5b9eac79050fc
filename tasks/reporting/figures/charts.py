"""Draw charts as inline SVG: a run's settings, retrieval and needles, a leaderboard's totals over time."""

from collections.abc import Sequence

import altair as alt

from schemas.chart import Axis, Chart, Point
from tasks.reporting.content.leaderboard import LeaderboardEntry
from tasks.reporting.content.retrieval import CUTOFFS, NeedleGrid
from tasks.reporting.content.score_tables import ModelGains
from tasks.reporting.figures.chart_kinds import colours, draw_chart, draw_grid
from tasks.reporting.figures.drawing import Values, at_pixel, chart, draw
from tasks.reporting.figures.palette import INK, MUTED, SERIES, KeyedFigure
from tasks.runs.run_tables import Row
from tasks.text.number_format import shorten

_NAME = 36
_NAME_LONG = 50
_NAME_TALL, _LINE = 24, 14
"""Pixels for the name of a row, and for each line below it."""

_WHOLE_POINTS = 5


def draw_gains(gains: ModelGains) -> str:
    """Draw one row per dataset, the total on top: what each setting gains over base, as a dot with its 95 % interval."""
    settings, scopes = (list(dict.fromkeys(row[name] for row in gains.rows)) for name in ("setting", "title"))
    tall = _NAME_TALL + _LINE * len(settings) + _LINE / 2
    values: Values = [
        {"setting": row["setting"], "gain": row["gain"], "low": row["ci_low"], "high": row["ci_high"]}
        | {"y": tall * scopes.index(row["title"]) + _NAME_TALL + _LINE * settings.index(row["setting"])}
        for row in gains.rows
    ]
    height = round(tall * len(scopes))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    ends = [end for row in gains.rows for end in (row["gain"], row["ci_low"], row["ci_high"]) if end is not None]
    reach = 1.05 * max(abs(end) for end in ends) or 1.0
    digits = 0 if reach > _WHOLE_POINTS else 1
    axis = alt.Axis(title="points gained over Base", domain=False, ticks=False, tickCount=5, format=f"+.{digits}f")
    x = alt.X("gain:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    colour = colours("setting", settings)
    names: Values = [{"name": shorten(name, _NAME_LONG), "y": tall * index + _LINE / 2} for index, name in enumerate(scopes)]
    bounded = [value for value in values if value["low"] is not None]
    layers = [
        chart(names).mark_text(color=INK, align="left").encode(x=at_pixel(0), y=y, text=alt.Text("name:N")),
        chart([{"gain": 0}]).mark_rule(color=MUTED, strokeWidth=1).encode(x=x),
        chart(bounded).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=colour),
        chart(values).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, height)


def draw_recall(rows: Values) -> str:
    """Draw recall over k of one dataset, a line per setting, stage and model."""
    several = len({row["model"] for row in rows}) > 1
    series = [(_recall_name(row, several=several), zip(CUTOFFS, row["recall"], strict=True)) for row in rows]
    points = tuple(Point(str(k), 100 * share, name) for name, recall in series for k, share in recall)
    axes = Axis("among the first k chunks"), Axis("needle found, % of items", 0, 100)
    return draw_chart(Chart("", "", "lines", points, x=axes[0], y=axes[1]))


def _recall_name(row: Row, *, several: bool) -> str:
    name = f"{row['setting']}, {row['stage']}"
    return shorten(f"{name}, {row['model']}" if several else name, _NAME)


def draw_needles(grid: NeedleGrid) -> str:
    """Draw heat map: depth of the needle down, length of the context across, mean score in each cell."""
    # Titles of the axes would be wider than few columns, higher than few rows: the page names them beside the figure.
    cells = [Point(length, depth, value=cell.score) for (length, depth), cell in grid.cells.items()]
    return draw_grid(cells, list(grid.lengths), list(grid.depths))


_WIDE_HISTORY, _TALL_HISTORY = 520, 240


def draw_histories(histories: Sequence[Sequence[LeaderboardEntry]]) -> KeyedFigure:
    """Draw totals before the veto by the time of the run, with their intervals.

    A line joins runs of one group: totals of two groups rest on different questions or ratings.
    """
    drawn = list(zip(histories, SERIES, strict=False))
    x = alt.X("at:T", scale=alt.Scale(type="utc"), axis=alt.Axis(title="start of the run, UTC", grid=False, tickCount=5))
    y = alt.Y("total:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="total, before the veto", tickCount=6))
    layers = []
    for history, colour in drawn:
        points: Values = [
            {
                "at": moment.started_at,
                "total": moment.total_before_veto,
                "group": moment.group,
                "low": moment.ci_low,
                "high": moment.ci_high,
            }
            for moment in history
            if moment.has_total and moment.total_before_veto is not None
        ]
        ranges = [point for point in points if point["low"] is not None]
        layers += [
            chart(ranges)
            .mark_rule(color=colour, strokeWidth=1.5, opacity=0.5)
            .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
            chart(points).mark_line(color=colour, strokeWidth=2).encode(x=x, y=y, detail=alt.Detail("group:N")),
            chart(points).mark_point(color=colour, filled=True, size=50, opacity=1).encode(x=x, y=y),
        ]
    keys = tuple((history[0].system.label, colour) for history, colour in drawn)
    return KeyedFigure(draw(layers, _TALL_HISTORY, _WIDE_HISTORY), keys, left_out=len(histories) - len(drawn))
