"""Intervals of scores that no bootstrap was run for, from those of their parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from schemas.blueprint import (
    CentredNormalisation,
    NoNormalisation,
    Normalisation,
    NumericNormalisation,
    RatioNormalisation,
)

LOWEST, HIGHEST = 0.0, 100.0


@dataclass(frozen=True)
class ScoreInterval:
    """95 % interval of a score on 0-100. `approximate`: put together from the intervals of parts, not resampled."""

    low: float
    high: float
    approximate: bool


@dataclass(frozen=True)
class IntervalPart:
    """One scored term of a weighted mean: its share of the mean, its score, and its interval (null = none known)."""

    share: float
    score: float
    span: ScoreInterval | None


def rescale_span(normalisation: Normalisation, low: float | None, high: float | None) -> ScoreInterval | None:
    """What an interval of a raw value becomes on 0-100; null without one, and where grades are looked up in a table."""
    if low is None or high is None:
        return None
    match normalisation:
        case RatioNormalisation():
            ends = (100 * low, 100 * high)
        case NumericNormalisation(min=least, max=most):
            ends = (100 * (low - least) / (most - least), 100 * (high - least) / (most - least))
        case CentredNormalisation(best=best, span=span):
            sides = [100 * (1 - abs(end - best) / span) for end in (low, high)]
            ends = (min(sides), HIGHEST if low <= best <= high else max(sides))
        case NoNormalisation():
            ends = (low, high)
        case _:
            return None
    return ScoreInterval(*ends, approximate=isinstance(normalisation, CentredNormalisation))


def join_spans(parts: Iterable[IntervalPart], *, same_items: bool = False) -> ScoreInterval | None:
    """Interval of a weighted mean from those of its parts; null if a part that counts has none.

    Distances of the ends from the scores are added up: in squares where the parts rest on different items and so vary on their
    own, plainly where they rest on the same ones. One part alone keeps its interval.

    Args:
        parts: scored parts; their shares sum to 1.
        same_items: whether all parts are measured on the same items.

    Source: Zou and Donner 2008 (MOVER), for sums with positive weights.
    """
    counted = [part for part in parts if part.share > 0]
    spans = [part.span for part in counted if part.span is not None]
    if not counted or len(spans) < len(counted):
        return None
    if len(counted) == 1:
        return spans[0]
    score = sum(part.share * part.score for part in counted)
    below = [part.share * (part.score - span.low) for part, span in zip(counted, spans, strict=True)]
    above = [part.share * (span.high - part.score) for part, span in zip(counted, spans, strict=True)]
    down, up = (sum(below), sum(above)) if same_items else (_root(below), _root(above))
    return ScoreInterval(max(LOWEST, score - down), min(HIGHEST, score + up), approximate=True)


def _root(distances: list[float]) -> float:
    return sqrt(sum(distance**2 for distance in distances))
