"""Share layers and axes between figures, and turn a figure into inline SVG: descriptions of Vega-Lite as dictionaries."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from schemas.chart import Axis, Point
from tasks.reporting.figures.palette import FONT, GRID, INK, MUTED, SERIES, WIDTH
from tasks.runs.run_tables import Row

Spec = dict[str, Any]
_FULL, _TICKS = 100, 6
_MARGIN = 5
"""Times that a log axis goes beyond its values, for names."""

_LABELS = {"labelColor": INK, "titleColor": MUTED, "labelFontSize": FONT, "titleFontSize": FONT, "titleFontWeight": "normal"}
CONFIG: Mapping[str, object] = {
    "background": "transparent",
    "font": "sans-serif",
    # Marks without an ARIA label each: the figure as a whole has one, and hundreds of them make the page heavy.
    "aria": False,
    "padding": {"left": 8, "right": 44, "top": 4, "bottom": 4},
    "axis": {**_LABELS, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID},
    "text": {"fontSize": FONT, "color": INK},
    "legend": _LABELS,
    "title": {"anchor": "start", "color": INK, "fontSize": FONT, "fontWeight": 600},
    "view": {"stroke": None},
}
"""What all figures look like."""


def layer(values: Sequence[Row], mark: Spec, **channels: str | Spec) -> Spec:
    """Return a mark for each of these rows; a channel that is a name takes that field, of numbers but in texts and links."""
    types = {"text": "nominal", "href": "nominal", "detail": "nominal"}
    encoding = {
        name: {"field": channel, "type": types.get(name, "quantitative")} if isinstance(channel, str) else channel
        for name, channel in channels.items()
    }
    return {"data": {"values": [*values]}, "mark": mark, "encoding": encoding}


def row_axis(rows: Sequence[str]) -> Spec:
    """Return a vertical axis of rows, without their names."""
    return {"field": "row", "type": "nominal", "sort": [*rows], "axis": None}


def row_names(rows: Sequence[str]) -> Spec:
    """Return names above their rows: beside them they would take half of a phone's width."""
    mark = {"type": "text", "align": "left", "dy": -20}
    return layer([{"row": row} for row in rows], mark, x={"value": 0}, y=row_axis(rows), text="row")


def score_axis(field: str, axis: Axis) -> Spec:
    """Return a horizontal axis from 0 to 100, or between the ends it has."""
    look = {"title": axis.title or None, "tickCount": 5, "domain": False, "ticks": False}
    ends = [axis.low or 0, axis.high or _FULL]
    return {"field": field, "type": "quantitative", "scale": {"domain": ends, "nice": False}, "axis": look}


def texts_at(points: Sequence[Point], end: Literal["x", "y", "series"]) -> list[Any]:
    """Return what stands at an end of the points, in the order in which it comes."""
    return list(dict.fromkeys(getattr(point, end) for point in points))


def colours(names: list[str]) -> Spec:
    """Return the colours of series by name, with a legend above the figure where there are several."""
    legend = None if len(names) == 1 else {"title": None, "orient": "top", "direction": "vertical", "labelLimit": 280}
    scale = {"domain": names, "range": SERIES[: len(names)]}
    return {"field": "series", "type": "nominal", "sort": names, "scale": scale, "legend": legend}


def scale_of(end: Literal["x", "y"], axis: Axis, points: Sequence[Point]) -> Spec:
    """Return the axis of numbers, or of texts in the order in which they come."""
    texts = texts_at(points, end)
    look: Spec = {"title": axis.title}
    if axis.is_time:
        look |= {"grid": False, "tickCount": _TICKS}
        return {"field": end, "type": "temporal", "scale": {"type": "utc"}, "axis": look}
    if any(isinstance(text, str) for text in texts):
        return {"field": end, "type": "ordinal", "sort": texts, "axis": look | {"labelAngle": 0, "grid": False}}
    ends = min(texts, default=1), max(texts, default=1)
    if axis.is_log:  # a tick per power of ten
        low, high = axis.low or ends[0] / _MARGIN, axis.high or ends[1] * _MARGIN
        powers = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
        look |= {"values": powers, "grid": False, "format": "~r"}
        return {"field": end, "type": "quantitative", "scale": {"type": "log", "domain": [low, high]}, "axis": look}
    domain: Spec = {} if None in {axis.low, axis.high} else {"domain": [axis.low, axis.high], "nice": False}
    look |= {"grid": end == "y", "tickCount": _TICKS}
    return {"field": end, "type": "quantitative", "scale": {"zero": False, **domain}, "axis": look}


def draw(layers: Sequence[Spec], height: int | Spec, width: int | Spec = WIDTH, title: Sequence[str] = ()) -> str:
    """Return an `<svg>` element with these layers on top of each other, below the lines of a title.

    Without name spaces, which HTML implies, and without a fixed size, so that the drawing follows its container. Links in it are
    for pointers: the table beside each figure has the same ones for keyboards and screen readers.
    """
    import vl_convert  # noqa: PLC0415  few commands draw

    spec = {"title": [*title], "width": width, "height": height, "layer": [*layers], "config": CONFIG}
    svg = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    # The renderer puts its own base address before an anchor.
    svg = re.sub(r'<a xlink:href="[^"#]*#([^"]*)"[^>]*>', r'<a tabindex="-1" href="#\1">', svg)
    added = r'\1 aria-hidden="true" focusable="false" style="--drawn: \2px"'
    return re.sub(r'(<svg[^>]*?) width="([^"]*)" height="[^"]*"', added, svg, count=1)
