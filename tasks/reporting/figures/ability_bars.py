"""Draw a system's abilities and total over those of the published models.

Drawn by hand, as every run's report has this figure and most have no other: to load the drawing libraries takes longer than to
write the page.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from statistics import median

from tasks.reporting.figures.palette import FONT, GATE, GRID, INK, MUTED, OURS, PUBLISHED, ROW, WIDTH
from tasks.reporting.report import SystemReport
from tasks.runs.verdict import name_score
from tasks.scoring.published import TOTAL
from tasks.text.number_format import number

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
    marks += [mark for place, bar in enumerate(bars) for mark in _marks(bar, ROW * place + ROW / 2)]
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
    place = f'x="{x:.1f}" y="{y:.1f}" dominant-baseline="middle" text-anchor="{anchor}"'
    return f'<text {place} font-size="{FONT}" font-weight="{weight}" fill="{colour}">{text}</text>'
