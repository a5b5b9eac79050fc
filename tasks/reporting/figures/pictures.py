"""Draw figures of any kind, for a page, or as pictures that stand alone: with a title, a white ground and their source."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from schemas.chart import Chart
from tasks.reporting.figures.palette import FONT, INK, MUTED
from tasks.reporting.figures.rows import NARROW, WIDE, draw_dots, draw_grid, wrap
from tasks.text.tables import worded

_WIDE, _TALL, _MARGIN, _GAP = 1000, 563, 36, 24
"""Pixels of a picture, which is taller where its figures are."""

_TITLE, _WORDS, _LEADING = 26, 15, 1.4
_SCALE = 2.0
_BOX = re.compile(r'<svg ([^>]*?)viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"')


def draw_chart(chart: Chart, word: str = "ability") -> str:
    """Draw a figure for a page, as SVG elements, one for each width it has a form for; with another word for an ability."""
    return "".join(_forms(chart, word))


def _forms(chart: Chart, word: str) -> Sequence[str]:
    """Return the forms of a figure, the widest first."""
    if draw := {"dots": draw_dots, "grid": draw_grid}.get(chart.kind):
        return [draw(chart, look) for look in (WIDE, NARROW)]
    # The drawing libraries take a second to load; pages without charts do not pay for it.
    from tasks.reporting.figures import chart_kinds  # noqa: PLC0415

    x, y = (axis._replace(title=worded(axis.title, word)) for axis in (chart.x, chart.y))
    return [chart_kinds.draw_chart(replace(chart, x=x, y=y))]


def draw_picture(title: str, charts: Sequence[Chart], source: str, word: str = "ability") -> str:
    """Draw figures as one SVG file, in the form of a slide: one alone with what it says, several side by side."""
    wide, columns = _WIDE - 2 * _MARGIN, min(len(charts), 3)
    said = charts[0] if len(charts) == 1 else None
    heading = f"{title}: {said.title}" if said else title
    marks, y = _lines(worded(heading, word), _MARGIN, _MARGIN + _TITLE, _TITLE, wide)
    for text in (said.words, said.note) if said else ():
        lines, y = _lines(worded(text, word), _MARGIN, y, _WORDS if text == said.words else FONT, wide, MUTED)
        marks += lines
    share = (wide - _GAP * (columns - 1)) / columns
    for start in range(0, len(charts), columns):
        bottoms = []
        for place, chart in enumerate(charts[start : start + columns]):
            x = _MARGIN + place * (share + _GAP)
            lines, top = ([], y) if said else _lines(worded(chart.title, word), x, y + _GAP, FONT, share)
            drawing, tall = _place(_forms(chart, word)[0 if said else -1], x, top, share)
            marks += [*lines, drawing]
            bottoms.append(top + tall)
        y = max(bottoms)
    tall = max(_TALL, y + 2 * _GAP)
    marks += _lines(source, _MARGIN, tall - _GAP / 2, FONT - 1, wide, MUTED)[0]
    ground = f'<rect width="{_WIDE}" height="{tall:.0f}" fill="#ffffff"/>'
    size = f'width="{_WIDE}" height="{tall:.0f}" viewBox="0 0 {_WIDE} {tall:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">{ground}{"".join(marks)}</svg>'


def to_png(svg: str) -> bytes:
    """Return a picture as PNG, sharp on a slide."""
    import vl_convert  # noqa: PLC0415  pages do not need it

    return bytes(vl_convert.svg_to_png(svg, scale=_SCALE))


def _lines(text: str, x: float, y: float, size: int, wide: float, colour: str = INK) -> tuple[list[str], float]:
    """Return the lines of a text from a baseline on, and the baseline of what follows."""
    bold = ' font-weight="600"' if colour == INK else ""
    lines = wrap(text, wide, size)
    marks = [
        f'<text x="{x:.1f}" y="{y + n * size * _LEADING:.1f}" font-size="{size}"{bold} fill="{colour}">{escape(line)}</text>'
        for n, line in enumerate(lines)
    ]
    return marks, y + len(lines) * size * _LEADING


def _place(svg: str, x: float, y: float, wide: float) -> tuple[str, float]:
    """Return a drawing at a place, at most a little larger than it was drawn, and its height."""
    found = _BOX.search(svg)
    if found is None:
        raise ValueError(svg[:200])
    scale = min(wide / float(found[4]), 1.3)
    size = f'x="{x:.1f}" y="{y:.1f}" width="{scale * float(found[4]):.1f}" height="{scale * float(found[5]):.1f}"'
    return svg.replace("<svg ", f"<svg {size} ", 1), scale * float(found[5])
