"""Share axes between charts, and turn a chart into inline SVG.

The drawing libraries take a second to load: pages without charts import nothing from here.
"""

import re
from collections.abc import Mapping, Sequence

import altair as alt
import vl_convert

from schemas.chart import Axis
from tasks.reporting.figures.palette import FONT, GRID, INK, MUTED, WIDTH
from tasks.runs.run_tables import Row

Values = list[Row]
_FULL = 100
_LABELS = {"labelColor": INK, "titleColor": MUTED, "labelFontSize": FONT, "titleFontSize": FONT, "titleFontWeight": "normal"}
CONFIG: Mapping[str, object] = {
    "background": "transparent",
    "font": "sans-serif",
    # Marks without an ARIA label each: the figure as a whole has one, and hundreds of them make the page heavy.
    "aria": False,
    "padding": {"left": 8, "right": 44, "top": 4, "bottom": 4},
    "axis": {**_LABELS, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID},
    "text": {"fontSize": FONT},
    "legend": _LABELS,
    "title": {"anchor": "start", "color": INK, "fontSize": FONT, "fontWeight": 600},
}
"""What all figures look like, for Vega-Lite."""


def chart(values: Values) -> alt.Chart:
    """Return a chart of these rows, without marks.

    At each step Altair copies a list row by row, which takes longer than all drawing, and a tuple not at all. For the same reason
    encodings are channels and no shorthands, whose class it finds by trying.
    """
    return alt.Chart(alt.InlineData(values=tuple(values)))


def at_pixel(x: int) -> alt.XValue:
    """Return a fixed horizontal place, in pixels."""
    return alt.XValue(x)  # type: ignore[no-untyped-call]


def row_names(rows: list[str], y: alt.Y) -> alt.Chart:
    """Return names above their rows: beside them they would take half of a phone's width."""
    base = chart([{"row": row} for row in rows])
    names: alt.Chart = base.mark_text(color=INK, align="left", dy=-20).encode(x=at_pixel(0), y=y, text=alt.Text("row:N"))
    return names


def score_axis(field: str, axis: Axis) -> alt.X:
    """Return a horizontal axis from 0 to 100, or between the ends it has."""
    low, high = axis.low or 0, axis.high or _FULL
    look = alt.Axis(title=axis.title or None, tickCount=5, domain=False, ticks=False)
    return alt.X(field, scale=alt.Scale(domain=[low, high], nice=False), axis=look)


def draw(layers: Sequence[alt.Chart], height: int | alt.Step, width: int | alt.Step = WIDTH, title: Sequence[str] = ()) -> str:
    """Return an `<svg>` element with these layers on top of each other, below the lines of a title."""
    spec = alt.layer(*layers).to_dict(validate=False) | {"title": [*title]}
    # As dictionaries: each `configure_` of Altair copies the whole chart.
    sizes = {name: size if isinstance(size, int) else size.to_dict() for name, size in (("width", width), ("height", height))}
    spec |= {**sizes, "config": {**CONFIG, "view": {**spec["config"]["view"], "stroke": None}}}
    return _inline(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def _inline(svg: str) -> str:
    """Drop name spaces, which HTML implies, and the fixed size, so that the drawing follows its container.

    Links in it are for pointers: the table beside each figure has the same ones for keyboards and screen readers.
    """
    svg = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", svg)
    # The renderer puts its own base address before an anchor.
    svg = re.sub(r'<a xlink:href="[^"#]*#([^"]*)"[^>]*>', r'<a tabindex="-1" href="#\1">', svg)
    added = r'\1 aria-hidden="true" focusable="false" style="--drawn: \2px"'
    return re.sub(r'(<svg[^>]*?) width="([^"]*)" height="[^"]*"', added, svg, count=1)
