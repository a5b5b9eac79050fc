"""Draw the kinds of figures that are described (`schemas.chart`) as inline SVG."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import mean, median
from textwrap import wrap
from typing import Any, Literal

import altair as alt
from altair.utils import schemapi

from schemas.chart import MOST_LINES, Axis, Chart, Point, quartiles
from tasks.reporting.figures.drawing import Values, at_pixel, chart, draw, row_names, score_axis
from tasks.reporting.figures.palette import GATE, HEAT, INK, MUTED, OURS, PUBLISHED, ROW, SERIES, SMALL, WIDTH
from tasks.runs.run_tables import Row
from tasks.text.number_format import number, shorten

_WIDE, _TALL = 380, 260
_LABEL_TALL = 0.05
"""Share of the height of all dots that two labels must lie apart to be readable."""

_LABEL_WIDE = 0.23
"""Share of the width of all dots that a label takes."""

_MARGIN = 5
_TICKS = 6
_NAME_LONG, _TITLE_LONG = 50, 36
_NAME_TALL, _LINE = 24, 14
"""Pixels for the name of a row of ranges, and for each line below it."""

_WHOLE_POINTS = 5
_SCORE, _NAME_WIDE = 36, 250
"""Pixels of a row of dots, and most of a name beside its score."""

_CELL, _LEAST_CELL, _CELL_TALL, _FEW_HEADS = 72, 40, 22, 6
"""Pixels of a cell of a grid, which is narrower where there are more columns than few."""

_LETTERS = 1.7
"""Letters on a line as wide as they are tall."""

_BARE: dict[str, Any] = {"title": None, "domain": False, "ticks": False}


def draw_chart(figure: Chart) -> list[str]:
    """Draw the panels of a figure of any kind, unchecked against the library's schema: that takes longer than to draw it."""
    with schemapi.debug_mode(arg=False):
        return [_KINDS[panel.kind](panel) for panel in _panels(figure)]


def _panels(figure: Chart) -> Iterator[Chart]:
    """Yield a figure for each series of dots, below its name; where each has one row of the same name, one of all rows."""
    if figure.kind != "dots":
        yield figure
    elif len(_texts(figure.points, "y")) == 1:
        yield replace(figure, title="", points=tuple(point._replace(y=point.series or point.y) for point in figure.points))
    else:
        for series, points in groupby(figure.points, key=lambda point: point.series):
            yield replace(figure, title=series, points=tuple(points))


def _draw_dots(figure: Chart) -> str:
    """Draw below the name of each row its score as a dot on its interval, and what it is seen beside."""
    names, values = list[Row](), list[Row]()
    for row, point in enumerate(figure.points):
        constant, gate, published = point.beside
        ends = dict(zip(("from", "to"), published or (None, None), strict=True))
        names.append({"y": _SCORE * row + _LINE / 2, "name": _row_name(point), "score": number(point.value)})
        values.append(
            point._asdict()
            | ends
            | {"y": _SCORE * row + _NAME_TALL, "constant": constant, "gate": gate, "link": f"#{point.anchor}"}
        )
    links = {"href": alt.Href("link:N")} if all(point.anchor for point in figure.points) else {}
    height = _SCORE * len(names)
    x, y = score_axis("value:Q", figure.x), alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    layers = [
        chart(names).mark_text(color=INK, align="left", limit=_NAME_WIDE).encode(x=at_pixel(0), y=y, text=alt.Text("name:N")),
        chart(names).mark_text(color=INK, align="right").encode(x=at_pixel(WIDTH), y=y, text=alt.Text("score:N")),
        _with("from", values).mark_rule(color=PUBLISHED, strokeWidth=14).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y),
        _with("gate", values).mark_tick(color=GATE, thickness=2.5, size=20, orient="vertical").encode(x=alt.X("gate:Q"), y=y),
        _with("constant", values)
        .mark_tick(color=INK, thickness=2, size=14, orient="vertical")
        .encode(x=alt.X("constant:Q"), y=y),
        _with("low", values).mark_rule(color=OURS, strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y),
        *(
            _with("value", [value for value in values if value["is_hollow"] == is_hollow])
            .mark_point(color=OURS, filled=not is_hollow, size=80, opacity=1)
            .encode(x=x, y=y, **links)
            for is_hollow in (False, True)
        ),
    ]
    return draw(layers, height, title=wrap(figure.title, _TITLE_LONG))


def _with(field: str, values: Values) -> alt.Chart:
    return chart([value for value in values if value[field] is not None])


def _row_name(point: Point) -> str:
    """Return a name with its remark; a long one loses its middle, since names of models often differ at the end."""
    name = f"{point.y} ({point.x})" if point.x else str(point.y)
    return name if len(name) <= _TITLE_LONG else f"{name[: _TITLE_LONG // 2]}…{name[-_TITLE_LONG // 2 :]}"


def _draw_grid(figure: Chart) -> str:
    """Draw a heat map; a cell without a value has a dash. The name of a series is a row of its own, above its rows."""
    cells: Values = [
        {"x": point.x, "row": f"{point.series}\t{point.y}", "value": point.value, "text": number(point.value)}
        for point in figure.points
    ]
    names = dict.fromkeys(
        name for point in figure.points for name in (f"{point.series}\t", f"{point.series}\t{point.y}") if name != "\t"
    )
    heads = _texts(figure.points, "x")
    wide = _CELL if len(heads) <= _FEW_HEADS else _LEAST_CELL
    upright = max(map(len, heads)) * SMALL < wide * _LETTERS
    across = alt.X(
        "x:O",
        sort=heads,
        scale=alt.Scale(paddingInner=0.04),
        axis=alt.Axis(orient="top", labelAngle=0 if upright else -90, labelLimit=150, **_BARE),
    )
    look = alt.Axis(
        labelExpr="split(datum.label, '\t')[1] || split(datum.label, '\t')[0]",
        labelFontWeight=alt.condition("test(/\\t$/, datum.value)", alt.value("bold"), alt.value("normal")),
        labelLimit=180,
        **_BARE,
    )
    down = alt.Y("row:O", sort=[*names], scale=alt.Scale(domain=[*names], paddingInner=0.08), axis=look)
    steps = alt.Scale(type="threshold", domain=[*range(10, 100, 10)], range=[*HEAT])
    layers = [
        chart([cell for cell in cells if cell["value"] is not None])
        .mark_rect()
        .encode(x=across, y=down, color=alt.Color("value:Q", scale=steps, legend=None)),
        chart(cells).mark_text(color=INK, fontSize=SMALL).encode(x=across, y=down, text=alt.Text("text:N")),
    ]
    return draw(layers, alt.Step(_CELL_TALL), alt.Step(wide))


def _draw_boxes(figure: Chart) -> str:
    """Draw a box plot per row of values, beside a paper's one's own values as lines."""
    own = [point for point in figure.points if point.is_own] if any(not point.is_own for point in figure.points) else []
    rows, ends = _values_by_row(figure.points), ("low", "quarter", "middle", "three_quarters", "high")
    y = alt.Y("row:N", sort=[*rows], axis=None)
    base = chart([{"row": name, **dict(zip(ends, quartiles(values), strict=True))} for name, values in rows.items()])
    layers = [
        row_names([*rows], y),
        base.mark_rule(color=MUTED).encode(x=score_axis("low:Q", figure.x), x2=alt.X2("high:Q"), y=y),
        base.mark_bar(color=PUBLISHED, height=18).encode(x=alt.X("quarter:Q"), x2=alt.X2("three_quarters:Q"), y=y),
        base.mark_tick(color=INK, thickness=2, size=18).encode(x=alt.X("middle:Q"), y=y),
        chart([{"row": point.y, "score": point.x} for point in own])
        .mark_tick(color=OURS, thickness=2, size=20)
        .encode(x=alt.X("score:Q"), y=y),
    ]
    return draw(layers, alt.Step(ROW))


def _values_by_row(points: Sequence[Point]) -> dict[str, list[float]]:
    """Return the values of each row that statistics are of: a paper's, or all if none of it is in the figure."""
    rows: dict[str, list[float]] = {}
    for point in [point for point in points if not point.is_own] or points:
        rows.setdefault(str(point.y), []).append(float(point.x))
    return rows


def _draw_strips(figure: Chart) -> str:
    """Draw values as lines, one's own in colour, medians thicker, means as dots."""
    values: Values = [{"row": str(point.y), "score": point.x, "is_own": point.is_own} for point in figure.points]
    names = list(dict.fromkeys(value["row"] for value in values))
    averages: Values = [
        {"row": name, "mean": mean(scores), "middle": median(scores)} for name, scores in _values_by_row(figure.points).items()
    ]
    x, y = score_axis("score:Q", figure.x), alt.Y("row:N", sort=names, axis=None)
    layers = [
        row_names(names, y),
        *(
            chart([value for value in values if value["is_own"] == is_own])
            .mark_tick(color=OURS if is_own else PUBLISHED, thickness=2, size=20)
            .encode(x=x, y=y)
            for is_own in (False, True)
        ),
        chart(averages).mark_tick(color=INK, thickness=3, size=20).encode(x=alt.X("middle:Q"), y=y),
        chart(averages).mark_point(color=GATE, filled=True, size=40, opacity=1).encode(x=alt.X("mean:Q"), y=y),
    ]
    return draw(layers, alt.Step(ROW))


def _draw_points(figure: Chart) -> str:
    """Draw dots, one's own in colour, estimates hollow, ranges as bars; lines join series, and fitted curves run through all."""
    values: Values = [point._asdict() | {"line": f"{point.series} {point.is_own}"} for point in figure.points]
    x, y = _scale("x", figure.x, figure.points), _scale("y", figure.y, figure.points)
    times = Counter(value["series"] for value in values if value["series"])
    series = [name for name, count in times.items() if count > 1]
    named = [name for name in times if name in series or any(v["is_own"] for v in values if v["series"] == name)]
    first, last = _place_names(figure, named)
    layers = [
        chart([v for v in values if v["low"] != v["high"]])
        .mark_rule(color=MUTED)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y),
        chart([v for v in values if v["series"] in series])
        .mark_line(color=PUBLISHED, strokeWidth=2)
        .encode(x=x, y=y, detail=alt.Detail("line:N")),
        *(
            chart([{"x": at, "y": value} for at, value in curve])
            .mark_line(color=OURS if curve is figure.curves[-1] else PUBLISHED, strokeWidth=2)
            .encode(x=x, y=y)
            for curve in figure.curves
        ),
        *(
            chart([v for v in values if (v["is_hollow"], v["is_own"]) == (is_hollow, is_own)])
            .mark_point(color=OURS if is_own else MUTED, filled=not is_hollow, size=45, opacity=1)
            .encode(x=x, y=y)
            for is_own in (False, True)
            for is_hollow in (True, False)
        ),
        chart(first).mark_text(color=INK, fontSize=SMALL, align="right", dx=-7).encode(x=x, y=y, text=alt.Text("series:N")),
        chart(last).mark_text(color=INK, fontSize=SMALL, align="left", dx=7).encode(x=x, y=y, text=alt.Text("series:N")),
    ]
    return draw(layers, _TALL, _WIDE)


def _draw_ranges(figure: Chart) -> str:
    """Draw below the name of each row a dot with its range for each series, as far to the left of 0 as to the right."""
    rows, series = _texts(figure.points, "y"), _texts(figure.points, "series")
    tall = _NAME_TALL + _LINE * len(series) + _LINE / 2
    values: Values = [
        point._asdict() | {"y": tall * rows.index(point.y) + _NAME_TALL + _LINE * series.index(point.series)}
        for point in figure.points
    ]
    height = round(tall * len(rows))
    reach = 1.05 * max(abs(value[end]) for value in values for end in ("x", "low", "high") if value[end] is not None) or 1.0
    look = f"+.{0 if reach > _WHOLE_POINTS else 1}f"
    axis = alt.Axis(title=figure.x.title, domain=False, ticks=False, tickCount=5, format=look)
    x = alt.X("x:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    names: Values = [{"name": shorten(name, _NAME_LONG), "y": tall * index + _LINE / 2} for index, name in enumerate(rows)]
    colour = _colours(series)
    layers = [
        chart(names).mark_text(color=INK, align="left").encode(x=at_pixel(0), y=y, text=alt.Text("name:N")),
        chart([{"x": 0}]).mark_rule(color=MUTED, strokeWidth=1).encode(x=x),
        chart([value for value in values if value["low"] is not None])
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=colour),
        chart(values).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, height)


def _draw_lines(figure: Chart) -> str:
    """Draw a coloured line for each of the first series, and the ranges of its values."""
    names = _texts(figure.points, "series")[:MOST_LINES]
    values: Values = [point._asdict() for point in figure.points if point.series in names]
    x, y = _scale("x", figure.x, figure.points), _scale("y", figure.y, figure.points)
    colour = _colours(names)
    layers = [
        chart([value for value in values if value["low"] is not None])
        .mark_rule(strokeWidth=1.5, opacity=0.5)
        .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour),
        chart(values).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        chart(values).mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, _TALL, _WIDE)


_KINDS = {
    "dots": _draw_dots,
    "grid": _draw_grid,
    "boxes": _draw_boxes,
    "strips": _draw_strips,
    "ranges": _draw_ranges,
    "points": _draw_points,
    "lines": _draw_lines,
}


def _texts(points: Sequence[Point], end: Literal["x", "y", "series"]) -> list[Any]:
    """Return what stands at an end of the points, in the order in which it comes."""
    return list(dict.fromkeys(getattr(point, end) for point in points))


def _colours(names: list[str]) -> alt.Color:
    """Return the colours of series by name, with a legend above the figure where there are several."""
    legend = None if len(names) == 1 else alt.Legend(title=None, orient="top", direction="vertical", labelLimit=280)
    return alt.Color("series:N", sort=names, scale=alt.Scale(domain=names, range=list(SERIES[: len(names)])), legend=legend)


def _scale(end: Literal["x", "y"], axis: Axis, points: Sequence[Point]) -> Any:
    """Return the axis of numbers, or of texts in the order in which they come."""
    channel, texts = {"x": alt.X, "y": alt.Y}[end], _texts(points, end)
    if axis.is_time:
        look = alt.Axis(title=axis.title, grid=False, tickCount=_TICKS)
        return channel(f"{end}:T", scale=alt.Scale(type="utc"), axis=look)
    if any(isinstance(text, str) for text in texts):
        return channel(f"{end}:O", sort=texts, axis=alt.Axis(title=axis.title, labelAngle=0, grid=False))
    ends = min(texts, default=1), max(texts, default=1)
    if axis.is_log:  # room for names on both sides, a tick per power of ten
        low, high = axis.low or ends[0] / _MARGIN, axis.high or ends[1] * _MARGIN
        powers = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
        look = alt.Axis(title=axis.title, values=powers, grid=False, format="~r")
        return channel(f"{end}:Q", scale=alt.Scale(type="log", domain=[low, high]), axis=look)
    domain: dict[str, Any] = {} if None in {axis.low, axis.high} else {"domain": [axis.low, axis.high], "nice": False}
    return channel(
        f"{end}:Q", scale=alt.Scale(zero=False, **domain), axis=alt.Axis(title=axis.title, grid=end == "y", tickCount=_TICKS)
    )


def _place_names(figure: Chart, names: Sequence[str]) -> tuple[Values, Values]:
    """Return where names of series have room, left of their first dot and right of their last."""
    across, up = _shares([point.x for point in figure.points], figure.x), _shares([point.y for point in figure.points], figure.y)
    dots = list(zip(figure.points, across, up, strict=True))
    sides: dict[int, list[tuple[Point, float]]] = {-1: [], 1: []}
    for name in names:
        members = [dot for dot in dots if dot[0].series == name]
        for (point, x, y), side in ((members[0], -1), (members[-1], 1)):
            is_hidden = any(
                0 < side * (other - x) < _LABEL_WIDE and abs(height - y) < _LABEL_TALL / 2 for _, other, height in dots
            )
            if not is_hidden and all(abs(height - y) >= _LABEL_TALL for _, height in sides[side]):
                sides[side].append((point, y))
                break
    return [point._asdict() for point, _ in sides[-1]], [point._asdict() for point, _ in sides[1]]


def _shares(values: Sequence[float | str], axis: Axis) -> list[float]:
    """Return how far along an axis values lie, the lowest at 0 and the highest at 1."""
    numbers = [math.log10(float(value)) if axis.is_log else float(value) for value in values]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    return [(value - low) / ((high - low) or 1) for value in numbers]
