"""Draw dots in rows and grids by hand, each in a wide form and in one for a phone.

To load the drawing libraries takes longer than to write the page, and the reports of most runs have no other figures than these.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from math import ceil
from typing import NamedTuple

from schemas.chart import Chart, Point
from tasks.reporting.figures.palette import FONT, GATE, GRID, HEAT, INK, MUTED, OURS, PUBLISHED, SMALL
from tasks.text.number_format import heat_step, number

_LETTER, _IDEOGRAPH, _FIRST_IDEOGRAPH = 0.58, 1.0, "\u2e80"
"""Widths of characters, as shares of their size."""

_NUMBER, _TITLE, _AXIS, _GAP, _DOT = 46, 22, 24, 20, 5
"""Pixels for a score behind its row, a line of a title, what stands below rows, between panels, and the radius of a dot."""


class Look(NamedTuple):
    """Sizes in pixels: of the drawing, most of names beside rows (0 = they stand above), of a row; panels beside each other."""

    name: str
    width: int
    names: int
    row: int
    most: int
    ticks: tuple[int, ...]


WIDE = Look("wide", 880, 300, 26, 4, (0, 25, 50, 75, 100))
NARROW = Look("narrow", 352, 0, 38, 1, (0, 20, 40, 60, 80, 100))


def draw_dots(figure: Chart, look: Look) -> str:
    """Draw a panel for each series, its rows one below the other; where each has one row, of the same name, all in one panel."""
    points = figure.points
    if len({point.y for point in points}) == 1:
        points = tuple(point._replace(series="", y=point.series or point.y) for point in points)
    panels = [list(rows) for _, rows in groupby(points, key=lambda point: point.series)]
    names = min(look.names, max(_width(f"{point.y}  {point.x}", FONT) for point in points) + _GAP)
    beside = ceil(len(panels) / ceil(len(panels) / look.most))
    wide = (look.width - names - _GAP * (beside - 1)) / beside
    marks, y = list[str](), 0.0
    for start in range(0, len(panels), beside):
        band = panels[start : start + beside]
        y += _TITLE * max(len(wrap(panel[0].series, wide)) for panel in band)
        for row, point in enumerate(band[0] if names else ()):
            marks.append(_name(point, y + look.row * (row + 0.5), names - _GAP))
        for place, panel in enumerate(band):
            marks += _panel(panel, names + place * (wide + _GAP), y, wide, look)
        y += look.row * max(map(len, band)) + _AXIS
    legend, y = _legend(points, look.width, y + _TITLE / 2)
    return _svg(look, look.width, y, [*marks, *legend])


def _panel(points: Sequence[Point], x: float, y: float, wide: float, look: Look) -> Iterator[str]:
    """Draw the rows of a series below their title, and the axis below them."""
    lines, tall, plot = wrap(points[0].series, wide), look.row * len(points), wide - _NUMBER
    for number_of, line in enumerate(lines):
        yield _bold(_text(line, x, y - _TITLE * (len(lines) - number_of - 0.5)))
    for tick in look.ticks:
        yield _rect(x + plot * tick / 100, y, 1, tall, GRID)
        yield _text(str(tick), x + plot * tick / 100, y + tall + _AXIS / 2, MUTED, "middle", SMALL)
    for row, point in enumerate(points):
        top = y + look.row * row
        at = top + (look.row / 2 if look.names else look.row - 12)
        if point.beside.threshold is not None:
            yield _rect(x + plot * point.beside.threshold / 100 - 1, top, 2.5, look.row, GATE)
        if not look.names:
            yield _name(point, top + 10, wide)
        yield from _beside(point, x, at, plot)
        yield from _score(point, x, at, plot)


def _beside(point: Point, x: float, y: float, plot: float) -> Iterator[str]:
    constant, _, published = point.beside
    if published:
        yield _rect(x + plot * published.low / 100, y - 7, plot * (published.high - published.low) / 100, 14, PUBLISHED, 0.45)
    if constant is not None:
        yield _rect(x + plot * constant / 100 - 1, y - 7, 2, 14, INK)


def _score(point: Point, x: float, y: float, plot: float) -> Iterator[str]:
    if point.value is None:
        yield _text("no score", x + 4, y, MUTED, size=SMALL)
        return
    at = x + plot * point.value / 100
    for low, high in ((point.low, point.value), (point.value, point.high)):
        if low is not None and high is not None and high > low:
            start, end = x + plot * low / 100, x + plot * high / 100
            start, end = (start, min(end, at - _DOT)) if end == at else (max(start, at + _DOT), end)
            yield _rect(start, y - 1, max(0.0, end - start), 2, OURS)
    look = f'fill="none" stroke="{OURS}" stroke-width="2"' if point.is_hollow else f'fill="{OURS}"'
    dot = f'<circle cx="{at:.1f}" cy="{y:.1f}" r="{_DOT - point.is_hollow}" {look}/>'
    # For pointers: the table of the numbers has the same link for keyboards and screen readers.
    yield f'<a tabindex="-1" href="#{point.anchor}">{dot}</a>' if point.anchor else dot
    score = _text(number(point.value), x + plot + _NUMBER, y, MUTED if point.is_hollow else INK, "end")
    yield score if point.is_hollow else _bold(score)


def _name(point: Point, y: float, wide: float) -> str:
    """Draw the name of a row, at the left end of the drawing, and the remark beside it."""
    remark = f'<tspan dx="6" font-size="{SMALL}" fill="{MUTED}">{escape(str(point.x))}</tspan>' if point.x else ""
    name = escape(_fit(str(point.y), wide - _width(f"  {point.x}".rstrip(), FONT)))
    return _text("", 0, y).replace("</text>", f"{name}{remark}</text>")


def _legend(points: Sequence[Point], wide: float, y: float) -> tuple[list[str], float]:
    """Draw a sign and a word for what is in the figure, in as many lines as they need; return also where the last one ends."""
    signs = (
        (any(not p.is_hollow for p in points), "score", f'<circle cx="6" cy="0" r="{_DOT}" fill="{OURS}"/>'),
        (
            any(p.is_hollow for p in points),
            "before the veto, or no total",
            f'<circle cx="6" cy="0" r="4" fill="none" stroke="{OURS}" stroke-width="2"/>',
        ),
        (any(p.low is not None for p in points), "95 % interval", _rect(-1, -1, 14, 2, OURS)),
        (any(p.beside.constant is not None for p in points), "best constant answer", _rect(5, -7, 2, 14, INK)),
        (any(p.beside.threshold is not None for p in points), "gate: required", _rect(5, -7, 2.5, 14, GATE)),
        (any(p.beside.published for p in points), "published models", _rect(-1, -6, 14, 12, PUBLISHED, 0.45)),
    )
    marks, x = list[str](), 0.0
    for word, sign in ((word, sign) for is_there, word, sign in signs if is_there):
        needed = 20 + _width(word, SMALL) + _GAP
        x, y = (0.0, y + _TITLE * 0.8) if x + needed - _GAP > wide else (x, y)
        marks.append(f'<g transform="translate({x:.1f},{y:.1f})">{sign}{_text(word, 18, 0, MUTED, size=SMALL)}</g>')
        x += needed
    return marks, y + _TITLE / 2


_CELL, _LEAST_CELL, _CELL_TALL, _NAME, _HEAD, _BLOCK = 72, 36, 26, {"wide": 180, "narrow": 124}, 150, 26
"""Pixels of a cell, of names and of upright heads; most rows of a block where a second one fits beside it."""


def draw_grid(figure: Chart, look: Look) -> str:
    """Draw a heat map; a cell without a value has a dash. Many rows stand in blocks beside each other where there is room."""
    across, rows = (list(dict.fromkeys(key)) for key in zip(*((p.x, (p.series, p.y)) for p in figure.points), strict=True))
    cells = {(point.x, point.series, point.y): point.value for point in figure.points}
    names = min(_NAME[look.name], max(_width(str(row), SMALL) for _, row in rows) + _GAP)
    blocks = max(1, min(ceil(len(rows) / _BLOCK), int(look.width // (names + _LEAST_CELL * len(across) + _GAP))))
    wide = min(_CELL, max(_LEAST_CELL, (look.width / blocks - names - _GAP * (blocks > 1)) / len(across)))
    longest = max(_width(str(head), SMALL) for head in across)
    tall = _TITLE if longest < wide else min(_HEAD, longest) + 8
    marks, bottom, size = list[str](), 0.0, ceil(len(rows) / blocks)
    for block in range(blocks):
        x, y = block * (names + wide * len(across) + _GAP), tall
        for place, head in enumerate(across):
            marks.append(_head(str(head), x + names + wide * (place + 0.5), tall, is_upright=tall == _TITLE))
        for series, group in groupby(rows[block * size : (block + 1) * size], key=lambda row: row[0]):
            marks += [_bold(_text(series, x, y + _CELL_TALL / 2, MUTED, size=SMALL))] if series else ()
            y += _CELL_TALL * bool(series)
            for row in group:
                lines = wrap(str(row[1]), names - 8, SMALL)
                lines = lines if len(lines) < 3 else [lines[0], f"{lines[1]} …"]  # noqa: PLR2004
                marks += [_text(line, x, y + 13 + 12 * (n - len(lines) / 2 + 0.5), size=SMALL) for n, line in enumerate(lines)]
                marks += (
                    mark
                    for place, head in enumerate(across)
                    for mark in _cell(cells.get((head, *row)), x + names + wide * place, y, wide)
                )
                y += _CELL_TALL
        bottom = max(bottom, y)
    return _svg(look, max(names + wide * len(across), x + names + wide * len(across)), bottom, marks, grows=False)


def _head(text: str, x: float, y: float, *, is_upright: bool) -> str:
    if is_upright:
        return _text(text, x, y - _TITLE / 2, MUTED, "middle", SMALL)
    return f'<g transform="translate({x:.1f},{y - 6:.1f}) rotate(-90)">{_text(_fit(text, _HEAD), 0, 0, MUTED, size=SMALL)}</g>'


def _cell(score: float | None, x: float, y: float, wide: float) -> Iterator[str]:
    if score is not None:
        yield _rect(x + 1, y + 1, wide - 2, _CELL_TALL - 2, HEAT[heat_step(score)])
    yield _text(number(score), x + wide / 2, y + _CELL_TALL / 2, MUTED if score is None else INK, "middle", SMALL)


def _width(text: str, size: int) -> float:
    return size * sum(_IDEOGRAPH if letter >= _FIRST_IDEOGRAPH else _LETTER for letter in text)


def _fit(text: str, wide: float) -> str:
    """Return a text that is as wide at most; what is too long loses its middle, since names of models often differ at the end."""
    kept, size = len(text), FONT
    while kept and _width(text[: ceil(kept / 2)] + text[len(text) - kept // 2 :], size) > wide - size * (kept < len(text)):
        kept -= 1
    return text if kept == len(text) else f"{text[: ceil(kept / 2)]}…{text[len(text) - kept // 2 :]}"


def wrap(title: str, wide: float, size: int = FONT) -> list[str]:
    """Return a title in lines that are as wide at most, as far as words allow."""
    lines: list[str] = []
    for word in title.split():
        if lines and _width(f"{lines[-1]} {word}", size) < wide:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _rect(x: float, y: float, wide: float, tall: float, colour: str, opacity: float = 1) -> str:
    seen = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:g}" fill="{colour}"{seen}/>'


def _text(text: str, x: float, y: float, colour: str = INK, anchor: str = "start", size: int = FONT) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" dominant-baseline="middle" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{colour}">{escape(text)}</text>'


def _bold(text: str) -> str:
    return text.replace("<text ", '<text font-weight="600" ')


def _svg(look: Look, wide: float, tall: float, marks: Sequence[str], *, grows: bool = True) -> str:
    size = "" if grows else f' style="min-width: {0.9 * wide:.0f}px; max-width: {1.2 * wide:.0f}px"'
    box = f'viewBox="-8 -4 {wide + 16:.0f} {tall + 8:.0f}"'
    hidden = 'aria-hidden="true" focusable="false" font-family="sans-serif"'
    return f'<svg class="{look.name}" {box}{size} {hidden}>{"".join(marks)}</svg>'
