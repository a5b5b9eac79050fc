"""Draw abilities by hand: bars of a system, radars of several, both over the published models.

To load the drawing libraries takes longer than to write the page, and the reports of most runs have no other figure than these.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

from schemas.chart import MOST_LINES
from tasks.reporting.figures.palette import FONT, GATE, GRID, INK, MUTED, OURS, PUBLISHED, ROW, SERIES, SMALL, WIDTH
from tasks.reporting.report import SystemReport
from tasks.runs.verdict import name_score
from tasks.scoring.published import TOTAL
from tasks.text.number_format import number, shorten

_TICKS = range(0, 101, 20)
_ABOVE, _ASIDE = 20, 8
"""Pixels from the middle of a bar up to its name, and from the end of the axis to its number."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 8, 44, 4, 24


@dataclass(frozen=True)
class _Bar:
    """A row of the figure: a score and what stands behind it, on 0-100."""

    title: str
    anchor: str
    score: float | None
    published: list[float]
    threshold: float | None = None
    interval: tuple[float, float] | None = None


def draw_abilities(entry: SystemReport) -> str | None:
    """Draw bars of a system's abilities and total over the published models, each a thin line, their median a thick one.

    A bar leads to the place of its number in the score tree.

    Returns:
        An `<svg>` element, or null if nothing has a score.
    """
    bars = list(_bars(entry))
    if all(bar.score is None for bar in bars):
        return None
    tall = ROW * len(bars)
    marks = [_rect(_at(tick), 0, 1, tall, GRID) + _text(str(tick), _at(tick), tall + 14, INK, "middle") for tick in _TICKS]
    marks += [mark for row, bar in enumerate(bars) for mark in _marks(bar, ROW * row + ROW / 2)]
    box = f"{-_LEFT} {-_TOP} {_LEFT + WIDTH + _RIGHT} {_TOP + tall + _BOTTOM}"
    return f'<svg viewBox="{box}" aria-hidden="true" focusable="false" font-family="sans-serif">{"".join(marks)}</svg>'


def _bars(entry: SystemReport) -> Iterator[_Bar]:
    verdict, setting = entry.verdict, entry.verdict.system.setting
    for node in entry.abilities:
        threshold = verdict.gate_threshold if node.kind == "gate" else None
        yield _Bar(node.title, node.anchor, node.part.score, entry.paper.scores(node.part.id, setting), threshold)
    interval = None if verdict.ci_low is None or verdict.ci_high is None else (verdict.ci_low, verdict.ci_high)
    scores = entry.paper.scores(TOTAL, setting)
    yield _Bar(name_score(verdict.verdict), entry.tree.anchor, verdict.total_before_veto, scores, interval=interval)


def _marks(bar: _Bar, y: float) -> Iterator[str]:
    """Draw one row around its middle, later marks over earlier ones."""
    yield _text(escape(bar.title), 0, y - _ABOVE, INK)
    for score in bar.published:
        yield _tick(score, y, 1.5, 24, PUBLISHED)
    if bar.published:
        yield _tick(median(bar.published), y, 3, 24, MUTED)
    if bar.score is None:
        yield _text("no score", WIDTH + _ASIDE, y, MUTED)
        return
    # For pointers: the table beside the figure has the same link for keyboards and screen readers.
    yield f'<a tabindex="-1" href="#{bar.anchor}">{_rect(0, y - 6, _at(bar.score), 12, OURS)}</a>'
    if bar.interval:
        low, high = bar.interval
        yield _rect(_at(low), y - 1, _at(high) - _at(low), 2, INK)
    if bar.threshold is not None:
        yield _tick(bar.threshold, y, 3, 28, GATE)
    yield _text(number(bar.score), WIDTH + _ASIDE, y, INK, weight=600)


def _at(score: float) -> float:
    return score / 100 * WIDTH


def _tick(score: float, y: float, wide: float, tall: float, colour: str) -> str:
    return _rect(_at(score) - wide / 2, y - tall / 2, wide, tall, colour)


def _rect(x: float, y: float, wide: float, tall: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:g}" fill="{colour}"/>'


def _text(text: str, x: float, y: float, colour: str, anchor: str = "start", weight: int = 400) -> str:
    position = f'x="{x:.1f}" y="{y:.1f}" dominant-baseline="middle" text-anchor="{anchor}"'
    return f'<text {position} font-size="{FONT}" font-weight="{weight}" fill="{colour}">{text}</text>'


FEWEST_AXES = 3
"""Two axes are a line."""

RINGS = (25, 50, 75, 100)
_FULL = 100.0
_RADIUS, _BOX_WIDE, _BOX_TALL = 112, 484, 322
_LABEL_AT = 1.1
_SIDEWAYS = 20
"""Pixels from the middle from which on a name stands beside its axis and not above it."""

_NAME_SIZE, _LINE = 15, 17
_WIDTH_OF_NAME = 14


@dataclass(frozen=True)
class KeyedFigure:
    """A drawing of several models, and its key: label and colour of each. `left_out`: models that are not drawn."""

    svg: str
    keys: tuple[tuple[str, str], ...]
    left_out: int


def point_at(axis: int, axes: int, score: float) -> tuple[float, float]:
    """Return where a score lies: x to the right, y upwards, 100 at distance 1; the first axis points up, others follow."""
    angle = 2 * math.pi * axis / axes
    return math.sin(angle) * score / _FULL, math.cos(angle) * score / _FULL


def edges(scores: Sequence[float | None]) -> list[tuple[int, int]]:
    """Return pairs of neighbouring axes that both have a score: a missing one leaves a gap and is not drawn as 0."""
    axes = len(scores)
    pairs = ((axis, (axis + 1) % axes) for axis in range(axes))
    return [(first, other) for first, other in pairs if scores[first] is not None and scores[other] is not None]


def overlay_systems(systems: Sequence[SystemReport]) -> KeyedFigure | None:
    """Draw the systems of a run over each other."""
    titles = [node.title for entry in systems[:1] for node in entry.abilities]
    return draw_overlay(titles, {entry.label: [node.part.score for node in entry.abilities] for entry in systems})


def draw_overlay(titles: Sequence[str], shapes: Mapping[str, Sequence[float | None]]) -> KeyedFigure | None:
    """Draw several models over each other, as many as there are colours.

    Drawn by hand: a chart library has no such chart, and putting one together from layers takes a second each.

    Args:
        titles: names of the axes.
        shapes: scores on 0-100 by model, null where it has none; models without any are left out.

    Returns:
        null with fewer than three axes, or with one model only.
    """
    drawn = [label for label, scores in shapes.items() if any(score is not None for score in scores)][:MOST_LINES]
    if len(titles) < FEWEST_AXES or len(drawn) < 2:  # noqa: PLR2004
        return None
    marks, keys = _grid(len(titles)), tuple(zip(drawn, SERIES, strict=False))
    for label, colour in keys:
        marks += _outline(shapes[label], f'stroke="{colour}" stroke-width="2.5" stroke-linecap="round"')
        marks += [f'<circle {_attributes(dot, "cx", "cy")} r="4" fill="{colour}"/>' for dot in _dots(shapes[label])]
    marks += _names(titles)
    box = f"{-_BOX_WIDE / 2:g} {-_BOX_TALL / 2:g} {_BOX_WIDE} {_BOX_TALL}"
    svg = f'<svg viewBox="{box}" aria-hidden="true" focusable="false" font-family="sans-serif">{"".join(marks)}</svg>'
    return KeyedFigure(svg, keys, left_out=len(shapes) - len(drawn))


def _place(axis: int, axes: int, score: float) -> tuple[float, float]:
    """Return a point in pixels from the middle, y downwards as SVG counts it."""
    x, y = point_at(axis, axes, score)
    return x * _RADIUS, -y * _RADIUS


def _dots(scores: Sequence[float | None]) -> list[tuple[float, float]]:
    return [_place(axis, len(scores), score) for axis, score in enumerate(scores) if score is not None]


def _attributes(dot: tuple[float, float], x: str, y: str) -> str:
    return f'{x}="{dot[0]:.1f}" {y}="{dot[1]:.1f}"'


def _path(dots: Sequence[tuple[float, float]]) -> str:
    return f"M{'L'.join(f'{x:.1f},{y:.1f}' for x, y in dots)}Z"


def _outline(scores: Sequence[float | None], look: str) -> list[str]:
    lines = []
    for first, other in edges(scores):
        ends = [_place(axis, len(scores), scores[axis] or 0.0) for axis in (first, other)]
        lines.append(f"<line {_attributes(ends[0], 'x1', 'y1')} {_attributes(ends[1], 'x2', 'y2')} {look}/>")
    return lines


def _grid(axes: int) -> list[str]:
    line = f'stroke="{GRID}" stroke-width="1"'
    rings = [f'<path d="{_path(_dots([ring] * axes))}" fill="none" {line}/>' for ring in RINGS]
    spokes = [f'<line x1="0" y1="0" {_attributes(_place(axis, axes, _FULL), "x2", "y2")} {line}/>' for axis in range(axes)]
    # Halfway between two axes the numbers of the rings are in nobody's way.
    halves = [(_place(0, axes, ring), _place(1, axes, ring), ring) for ring in RINGS[:-1]]
    scale = [((first[0] + other[0]) / 2, (first[1] + other[1]) / 2, str(ring)) for first, other, ring in halves]
    look = f'font-size="{SMALL}" fill="{MUTED}" text-anchor="middle"'
    return [*rings, *spokes, *(f'<text x="{x:.1f}" y="{y + 4:.1f}" {look}>{text}</text>' for x, y, text in scale)]


def _names(titles: Sequence[str]) -> list[str]:
    """Draw names outside the last ring, each beside the drawing, in several lines where it is long."""
    marks = []
    for axis, title in enumerate(titles):
        x, y = _place(axis, len(titles), _FULL * _LABEL_AT)
        anchor = "end" if x < -_SIDEWAYS else "start" if x > _SIDEWAYS else "middle"
        lines = _wrap(title)
        first = y + 5 - _LINE * (len(lines) - 1) * (1 if y < -_SIDEWAYS else 0 if y > _SIDEWAYS else 0.5)
        spans = "".join(f'<tspan x="{x:.1f}" y="{first + _LINE * n:.1f}">{escape(line)}</tspan>' for n, line in enumerate(lines))
        marks.append(f'<text font-size="{_NAME_SIZE}" fill="{INK}" text-anchor="{anchor}">{spans}</text>')
    return marks


def _wrap(title: str) -> list[str]:
    lines: list[str] = []
    for word in title.split():
        if lines and len(lines[-1]) + len(word) < _WIDTH_OF_NAME:
            lines[-1] += f" {word}"
        else:
            lines.append(shorten(word, _WIDTH_OF_NAME + 2))
    return lines
