"""Draw the kinds of figures that are described (`schemas.chart`) as inline SVG."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, product
from statistics import mean, median
from textwrap import wrap

from schemas.chart import MOST_LINES, Axis, Chart, Point, quartiles
from tasks.reporting.figures.drawing import Spec, colours, draw, layer, row_axis, row_names, scale_of, score_axis, texts_at
from tasks.reporting.figures.palette import GATE, HEAT, INK, MUTED, OURS, PUBLISHED, ROW, SMALL, WIDTH
from tasks.runs.run_tables import Row
from tasks.text.number_format import number, shorten

_WIDE, _TALL = 380, 260
_LABEL_TALL = 0.05
"""Share of the height of all dots that two labels must lie apart to be readable."""

_LABEL_WIDE = 0.23
"""Share of the width of all dots that a label takes."""

_NAME_LONG, _TITLE_LONG = 50, 36
_NAME_TALL, _LINE = 24, 14
"""Pixels for the name of a row of ranges, and for each line below it."""

_WHOLE_POINTS = 5
_SCORE, _DOT, _NAME_WIDE, _MOST_ROWS = 36, 22, 250, 12
"""Pixels of a row of dots, from its top to the dot, and of a name beside its score; most rows below each other."""

_FEW_TALL, _MOST_SCORE = 192, 72
"""Pixels that a few rows share, so that they fill a slide, and the most for one."""

_CELL, _LEAST_CELL, _CELL_TALL, _FEW_HEADS = 72, 40, 22, 6
"""Pixels of a cell of a grid, which is narrower where there are more columns than few."""

_LETTERS = 1.7
"""Letters on a line as wide as they are tall."""


@lru_cache(maxsize=64)  # the figure that leads a report is also its picture
def draw_chart(figure: Chart) -> tuple[str, ...]:
    """Draw the panels of a figure of any kind."""
    return tuple(_KINDS[panel.kind](panel) for panel in _panels(figure))


def _panels(figure: Chart) -> Iterator[Chart]:
    """Yield a figure for each series of dots, several for a long one; where each has one row of the same name, one of all."""
    if figure.kind != "dots":
        yield figure
    elif len(texts_at(figure.points, "y")) == 1:
        yield replace(figure, title="", points=tuple(point._replace(y=point.series or point.y) for point in figure.points))
    else:
        for series, points in groupby(figure.points, key=lambda point: point.series):
            rows = tuple(points)
            size = math.ceil(len(rows) / math.ceil(len(rows) / _MOST_ROWS))
            for start in range(0, len(rows), size):
                yield replace(figure, title=series, points=rows[start : start + size])


def _draw_dots(figure: Chart) -> str:
    """Draw below the name of each row its score as a dot on its interval, and what it is seen beside."""
    names, values = list[Row](), list[Row]()
    tall = max(_SCORE, min(_MOST_SCORE, _FEW_TALL // len(figure.points)))
    for row, point in enumerate(figure.points):
        top = tall * row + (tall - _SCORE) / 2
        constant, gate, published = point.beside
        names.append({"y": top + _LINE / 2, "name": _row_name(point), "score": number(point.value)})
        beside = {"constant": constant, "gate": gate, "from": published and published.low, "to": published and published.high}
        values.append(point._asdict() | beside | {"y": top + _DOT, "link": f"#{point.anchor}"})
    height = tall * len(names)
    x, y = score_axis("value", figure.x), _down(height)
    links: Spec = {"href": "link"} if all(point.anchor for point in figure.points) else {}
    tick = {"type": "tick", "orient": "vertical"}
    layers = [
        layer(names, {"type": "text", "align": "left", "limit": _NAME_WIDE}, x={"value": 0}, y=y, text="name"),
        layer(names, {"type": "text", "align": "right"}, x={"value": WIDTH}, y=y, text="score"),
        layer(_with("from", values), {"type": "rule", "color": PUBLISHED, "strokeWidth": 14}, x="from", x2="to", y=y),
        layer(_with("gate", values), {**tick, "color": GATE, "thickness": 2.5, "size": 16}, x="gate", y=y),
        layer(_with("constant", values), {**tick, "color": INK, "thickness": 2, "size": 14}, x="constant", y=y),
        layer(_with("low", values), {"type": "rule", "color": OURS, "strokeWidth": 2}, x="low", x2="high", y=y),
    ]
    for is_hollow in (False, True):
        own = [value for value in _with("value", values) if value["is_hollow"] == is_hollow]
        dot: Spec = {"type": "point", "color": OURS, "filled": not is_hollow, "size": 80, "opacity": 1}
        layers.append(layer(own, dot, x=x, y=y, **links))
    return draw(layers, height, title=wrap(figure.title, _TITLE_LONG))


def _with(field: str, values: Sequence[Row]) -> list[Row]:
    return [value for value in values if value[field] is not None]


def _down(height: float) -> Spec:
    """Return a vertical axis in pixels from the top."""
    return {"field": "y", "type": "quantitative", "scale": {"domain": [height, 0], "nice": False}, "axis": None}


def _row_name(point: Point) -> str:
    """Return a name with its remark; a long one loses its middle, since names of models often differ at the end."""
    name = f"{point.y} ({point.x})" if point.x else str(point.y)
    return name if len(name) <= _TITLE_LONG else f"{name[: _TITLE_LONG // 2]}…{name[-_TITLE_LONG // 2 :]}"


def _draw_grid(figure: Chart) -> str:
    """Draw a heat map; a cell without a value has a dash. The name of a series is a row of its own, above its rows."""
    cells = [
        {"x": point.x, "row": f"{point.series}\t{point.y}", "value": point.value, "text": number(point.value)}
        for point in figure.points
    ]
    both = [name for point in figure.points for name in (f"{point.series}\t", f"{point.series}\t{point.y}")]
    rows, heads = [name for name in dict.fromkeys(both) if name != "\t"], texts_at(figure.points, "x")
    wide = _CELL if len(heads) <= _FEW_HEADS else _LEAST_CELL
    is_upright = max(map(len, heads)) * SMALL < wide * _LETTERS
    bare = {"title": None, "domain": False, "ticks": False}
    look = {
        **bare,
        "labelExpr": "split(datum.label, '\t')[1] || split(datum.label, '\t')[0]",
        "labelFontWeight": {"condition": {"test": "test(/\\t$/, datum.value)", "value": "bold"}, "value": "normal"},
        "labelLimit": 180,
    }
    turned = {**bare, "orient": "top", "labelAngle": 0 if is_upright else -90, "labelLimit": 150}
    x = {"field": "x", "type": "ordinal", "sort": heads, "scale": {"paddingInner": 0.04}, "axis": turned}
    y = {"field": "row", "type": "ordinal", "scale": {"domain": rows, "paddingInner": 0.08}, "axis": look}
    steps = {"type": "threshold", "domain": [*range(10, 100, 10)], "range": [*HEAT]}
    colour = {"field": "value", "type": "quantitative", "scale": steps, "legend": None}
    layers = [
        layer(_with("value", cells), {"type": "rect"}, x=x, y=y, color=colour),
        layer(cells, {"type": "text", "fontSize": SMALL}, x=x, y=y, text="text"),
    ]
    return draw(layers, {"step": _CELL_TALL}, {"step": wide})


def _draw_boxes(figure: Chart) -> str:
    """Draw a box plot per row of values, beside a paper's one's own values as lines."""
    own = [point for point in figure.points if point.is_own] if any(not point.is_own for point in figure.points) else []
    rows, ends = _values_by_row(figure.points), ("low", "quarter", "middle", "three_quarters", "high")
    boxes = [{"row": name, **dict(zip(ends, quartiles(values), strict=True))} for name, values in rows.items()]
    y, tick = row_axis([*rows]), {"type": "tick", "thickness": 2}
    layers = [
        row_names([*rows]),
        layer(boxes, {"type": "rule", "color": MUTED}, x=score_axis("low", figure.x), x2="high", y=y),
        layer(boxes, {"type": "bar", "color": PUBLISHED, "height": 18}, x="quarter", x2="three_quarters", y=y),
        layer(boxes, {**tick, "color": INK, "size": 18}, x="middle", y=y),
        layer([{"row": point.y, "score": point.x} for point in own], {**tick, "color": OURS, "size": 20}, x="score", y=y),
    ]
    return draw(layers, {"step": ROW})


def _values_by_row(points: Sequence[Point]) -> dict[str, list[float]]:
    """Return the values of each row that statistics are of: a paper's, or all if none of it is in the figure."""
    rows: dict[str, list[float]] = {}
    for point in [point for point in points if not point.is_own] or points:
        rows.setdefault(str(point.y), []).append(float(point.x))
    return rows


def _draw_strips(figure: Chart) -> str:
    """Draw values as lines, one's own in colour, medians thicker, means as dots."""
    values = [{"row": str(point.y), "score": point.x, "is_own": point.is_own} for point in figure.points]
    rows = _values_by_row(figure.points).items()
    averages = [{"row": name, "mean": mean(scores), "middle": median(scores)} for name, scores in rows]
    names = list(dict.fromkeys(str(point.y) for point in figure.points))
    x, y, tick = score_axis("score", figure.x), row_axis(names), {"type": "tick", "size": 20}
    layers = [
        row_names(names),
        layer([value for value in values if not value["is_own"]], {**tick, "color": PUBLISHED, "thickness": 2}, x=x, y=y),
        layer([value for value in values if value["is_own"]], {**tick, "color": OURS, "thickness": 2}, x=x, y=y),
        layer(averages, {**tick, "color": INK, "thickness": 3}, x="middle", y=y),
        layer(averages, {"type": "point", "color": GATE, "filled": True, "size": 40, "opacity": 1}, x="mean", y=y),
    ]
    return draw(layers, {"step": ROW})


def _draw_points(figure: Chart) -> str:
    """Draw dots, one's own in colour, estimates hollow, ranges as bars; lines join series, and fitted curves run through all."""
    values = [point._asdict() | {"line": f"{point.series} {point.is_own}"} for point in figure.points]
    x, y = scale_of("x", figure.x, figure.points), scale_of("y", figure.y, figure.points)
    times = Counter(value["series"] for value in values if value["series"])
    series = [name for name, count in times.items() if count > 1]
    named = [name for name in times if name in series or any(v["is_own"] for v in values if v["series"] == name)]
    first, last = _place_names(figure, named)
    line, text = {"type": "line", "strokeWidth": 2}, {"type": "text", "fontSize": SMALL}
    layers = [
        layer([v for v in values if v["low"] != v["high"]], {"type": "rule", "color": MUTED}, x="low", x2="high", y=y),
        layer([v for v in values if v["series"] in series], {**line, "color": PUBLISHED}, x=x, y=y, detail="line"),
    ]
    for curve in figure.curves:
        colour = OURS if curve is figure.curves[-1] else PUBLISHED
        layers.append(layer([{"x": at, "y": value} for at, value in curve], {**line, "color": colour}, x=x, y=y))
    for is_own, is_hollow in product((False, True), (True, False)):
        alike = [v for v in values if (v["is_hollow"], v["is_own"]) == (is_hollow, is_own)]
        dot = {"type": "point", "color": OURS if is_own else MUTED, "filled": not is_hollow, "size": 45, "opacity": 1}
        layers.append(layer(alike, dot, x=x, y=y))
    layers.append(layer(first, {**text, "align": "right", "dx": -7}, x=x, y=y, text="series"))
    layers.append(layer(last, {**text, "align": "left", "dx": 7}, x=x, y=y, text="series"))
    return draw(layers, _TALL, _WIDE)


def _draw_ranges(figure: Chart) -> str:
    """Draw below the name of each row a dot with its range for each series, as far to the left of 0 as to the right."""
    rows, series = texts_at(figure.points, "y"), texts_at(figure.points, "series")
    tall = _NAME_TALL + _LINE * len(series) + _LINE / 2
    values = [
        point._asdict() | {"y": tall * rows.index(point.y) + _NAME_TALL + _LINE * series.index(point.series)}
        for point in figure.points
    ]
    height = round(tall * len(rows))
    reach = 1.05 * max(abs(value[end]) for value in values for end in ("x", "low", "high") if value[end] is not None) or 1.0
    look = f"+.{0 if reach > _WHOLE_POINTS else 1}f"
    axis = {"title": figure.x.title, "domain": False, "ticks": False, "tickCount": 5, "format": look}
    x: Spec = {"field": "x", "type": "quantitative", "scale": {"domain": [-reach, reach], "nice": False}, "axis": axis}
    y, colour = _down(height), colours(series)
    names = [{"name": shorten(name, _NAME_LONG), "y": tall * index + _LINE / 2} for index, name in enumerate(rows)]
    layers = [
        layer(names, {"type": "text", "align": "left"}, x={"value": 0}, y=y, text="name"),
        layer([{"x": 0}], {"type": "rule", "color": MUTED, "strokeWidth": 1}, x=x),
        layer(_with("low", values), {"type": "rule", "strokeWidth": 2}, x="low", x2="high", y=y, color=colour),
        layer(values, {"type": "point", "filled": True, "size": 60, "opacity": 1}, x=x, y=y, color=colour),
    ]
    return draw(layers, height)


def _draw_lines(figure: Chart) -> str:
    """Draw a coloured line for each of the first series, and the ranges of its values."""
    names = texts_at(figure.points, "series")[:MOST_LINES]
    values = [point._asdict() for point in figure.points if point.series in names]
    x, y = scale_of("x", figure.x, figure.points), scale_of("y", figure.y, figure.points)
    colour = colours(names)
    layers = [
        layer(_with("low", values), {"type": "rule", "strokeWidth": 1.5, "opacity": 0.5}, x=x, y="low", y2="high", color=colour),
        layer(values, {"type": "line", "strokeWidth": 2}, x=x, y=y, color=colour),
        layer(values, {"type": "point", "filled": True, "size": 50, "opacity": 1}, x=x, y=y, color=colour),
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


def _place_names(figure: Chart, names: Sequence[str]) -> tuple[list[Row], list[Row]]:
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
