"""Draw figures of any kind, for a page, or as pictures that stand alone: with a title, a white ground and their source."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from textwrap import wrap

from schemas.chart import NOTHING, Chart
from tasks.reporting.figures.chart_kinds import draw_chart
from tasks.reporting.figures.palette import FONT, INK, MUTED
from tasks.text.tables import worded

_WIDE, _TALL, _MARGIN, _GAP = 1000, 563, 36, 24
"""Pixels of a picture, which is taller where its figures are."""

_TITLE, _WORDS, _LEADING, _LETTER = 26, 15, 1.4, 0.52
"""Pixels of letters; how far lines lie apart, and how wide a letter is, as shares of these."""

_COLUMNS, _LARGER = 3, 1.3
"""Most panels side by side, and how much larger than on a page one may be where the picture must grow for it."""

_SCALE, _PNG = 2.0, b"\x89PNG\r\n\x1a\n"
_BOX = re.compile(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"')


def draw_panels(chart: Chart, word: str = "ability") -> tuple[str, ...]:
    """Draw a figure as SVG elements, one for each of its panels; with another word for an ability."""
    x, y = (axis._replace(title=worded(axis.title, word)) for axis in (chart.x, chart.y))
    return draw_chart(replace(chart, x=x, y=y, numbers=NOTHING))


def draw_picture(title: str, name: str, charts: Sequence[Chart], source: str, word: str = "ability") -> str:
    """Draw figures as one SVG file, in the form of a slide: one alone with what it says, several, by their name, side by side."""
    wide, alone = _WIDE - 2 * _MARGIN, charts[0] if len(charts) == 1 else None
    panels = [("" if alone else worded(chart.title, word), panel) for chart in charts for panel in draw_panels(chart, word)]
    heading = f"{title}: {alone.title if alone else name}"
    marks, y = _lines(worded(heading, word), _MARGIN, _MARGIN + _TITLE, _TITLE, wide)
    for text, size in ((alone.words, _WORDS), (alone.note, FONT)) if alone else ():
        lines, y = _lines(worded(text, word), _MARGIN, y, size, wide, MUTED)
        marks += lines
    columns = min(len(panels), _COLUMNS)
    share = (wide - _GAP * (columns - 1)) / columns
    for start in range(0, len(panels), columns):
        bottoms = []
        for place, (above, panel) in enumerate(panels[start : start + columns]):
            x = _MARGIN + place * (share + _GAP)
            lines, top = _lines(above, x, y + _GAP, FONT, share) if above else ([], y)
            drawing, bottom = _place(panel, x, top, share)
            marks += [*lines, drawing]
            bottoms.append(bottom)
        y = max(bottoms)
    tall = max(_TALL, y + 2 * _GAP)
    marks += _lines(source, _MARGIN, tall - _GAP / 2, FONT - 1, wide, MUTED)[0]
    ground = f'<rect width="{_WIDE}" height="{tall:.0f}" fill="#ffffff"/>'
    frame = f'width="{_WIDE}" height="{tall:.0f}" viewBox="0 0 {_WIDE} {tall:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} font-family="sans-serif">{ground}{"".join(marks)}</svg>'


def to_png(svg: str) -> bytes:
    """Return a picture as PNG, sharp on a slide, with its pixels in a third of the bytes: what draws it compresses little."""
    import vl_convert  # noqa: PLC0415  few commands draw

    png = vl_convert.svg_to_png(svg, scale=_SCALE)
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
    lines = wrap(text, int(wide / size / _LETTER))
    marks = [
        f'<text x="{x:.1f}" y="{y + n * size * _LEADING:.1f}" font-size="{size}"{bold} fill="{colour}">{escape(line)}</text>'
        for n, line in enumerate(lines)
    ]
    return marks, y + len(lines) * size * _LEADING


def _place(svg: str, x: float, y: float, wide: float) -> tuple[str, float]:
    """Return a drawing at a place, as large as its share of the picture and the room below allow, and where it ends."""
    found = _BOX.search(svg)
    if found is None:
        raise ValueError(svg[:200])
    across, down = map(float, found.groups())
    scale = min(wide / across, max(_LARGER, (_TALL - 2 * _GAP - y) / down))
    size = f'x="{x:.1f}" y="{y:.1f}" width="{scale * across:.1f}" height="{scale * down:.1f}"'
    size += ' overflow="visible"'  # what is cut at its edges is drawn on a ground of its own first, in twice the time
    return svg.replace("<svg ", f"<svg {size} ", 1), y + scale * down
