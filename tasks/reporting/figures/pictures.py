"""Draw figures of any kind, for a page, or as pictures that stand alone: with a title, a white ground and their source."""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape

from schemas.chart import Chart
from tasks.reporting.figures.palette import FONT, INK, MUTED
from tasks.reporting.figures.rows import NARROW, WIDE, Look, draw_dots, draw_grid, wrap
from tasks.text.tables import worded

_WIDE, _TALL, _MARGIN, _GAP = 1000, 563, 36, 24
"""Pixels of a picture, which is taller where its figures are."""

_TITLE, _WORDS, _LEADING = 26, 15, 1.4
_SCALE, _PNG = 2.0, b"\x89PNG\r\n\x1a\n"
_BOX = re.compile(r'<svg ([^>]*?)viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"')


_ROWS, _TALLEST_ROW = 300, 44
"""Pixels for all rows of a figure that stands alone, and most of one."""

_BY_HAND: Mapping[str, Callable[[Chart, Look], str]] = {"dots": draw_dots, "grid": draw_grid}


def draw_chart(chart: Chart, word: str = "ability") -> str:
    """Draw a figure for a page, as SVG elements, one for each width it has a form for; with another word for an ability."""
    looks = (WIDE, NARROW) if chart.kind in _BY_HAND else (WIDE,)
    return "".join(_draw(chart, look, word) for look in looks)


def _draw(chart: Chart, look: Look, word: str) -> str:
    if draw := _BY_HAND.get(chart.kind):
        return draw(chart, look)
    # The drawing libraries take a second to load; pages without charts do not pay for it.
    from tasks.reporting.figures import chart_kinds  # noqa: PLC0415

    x, y = (axis._replace(title=worded(axis.title, word)) for axis in (chart.x, chart.y))
    return chart_kinds.draw_chart(replace(chart, x=x, y=y))


def draw_picture(title: str, name: str, charts: Sequence[Chart], source: str, word: str = "ability") -> str:
    """Draw figures as one SVG file, in the form of a slide: one alone with what it says, several, by their name, side by side."""
    wide, said = _WIDE - 2 * _MARGIN, charts[0] if len(charts) == 1 else None
    columns = 1 if any(chart.kind == "dots" for chart in charts) else min(len(charts), 3)
    heading = f"{title}: {said.title if said else name}"
    marks, y = _lines(worded(heading, word), _MARGIN, _MARGIN + _TITLE, _TITLE, wide)
    for text, size in ((said.words, _WORDS), (said.note, FONT)) if said else ():
        lines, y = _lines(worded(text, word), _MARGIN, y, size, wide, MUTED)
        marks += lines
    rows = len({point.y for chart in charts for point in chart.points})
    look = WIDE._replace(row=max(WIDE.row, min(_TALLEST_ROW, _ROWS // rows))) if columns == 1 else NARROW
    share = (wide - _GAP * (columns - 1)) / columns
    for start in range(0, len(charts), columns):
        bottoms = []
        for place, chart in enumerate(charts[start : start + columns]):
            x = _MARGIN + place * (share + _GAP)
            lines, top = ([], y) if said else _lines(worded(chart.title, word), x, y + _GAP, FONT, share)
            drawing, tall = _place(_draw(chart, look, word), x, top, share)
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

    return _compressed(vl_convert.svg_to_png(svg, scale=_SCALE))


def _compressed(png: bytes) -> bytes:
    """Return a PNG with the same pixels in a third of its bytes: what draws it compresses little."""
    chunks, place = list[tuple[bytes, bytes]](), len(_PNG)
    while place < len(png):
        size = int.from_bytes(png[place : place + 4], "big")
        chunks.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + size]))
        place += size + 12
    pixels = zlib.compress(zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT")))
    kept = [(b"IHDR", chunks[0][1]), (b"IDAT", pixels), (b"IEND", b"")]
    return _PNG + b"".join(
        len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big") for kind, content in kept
    )


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
