"""Put raw scores on 0-100 by the normalisation of their method: in a frame, in an array, or one by one.

Which way is up is the blueprint's to say: whatever sorts, colours, filters or words a score takes it from here.
"""

from typing import Literal

import numpy as np
import polars as pl

from schemas.metrics import (
    METRICS,
    CentredNormalisation,
    GradeNormalisation,
    Metric,
    Normalisation,
    NumericNormalisation,
    reduced_by,
)
from tasks.statistics.intervals import Ends
from tasks.statistics.resampling import Floats


def raw_bounds(normalisation: Normalisation) -> tuple[float | None, float | None]:
    """Return lowest and highest raw score a method can yield; null for grades."""
    if isinstance(normalisation, NumericNormalisation):
        return normalisation.min, normalisation.max
    if isinstance(normalisation, GradeNormalisation):
        return None, None
    if isinstance(normalisation, CentredNormalisation):
        return normalisation.best - normalisation.span, normalisation.best + normalisation.span
    return 0.0, 1.0 if normalisation.type == "ratio" else 100.0


def scale(value: pl.Expr, kind: pl.Expr, low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """Return raw to 0-100 for the kinds that have bounds.

    numeric: (raw - min) / (max - min) x 100. ratio: raw x 100. none: raw itself. centred: (1 - |raw - best| / span) x 100, where
    the bounds are best - span and best + span.
    """
    # Twice the distance to the nearer bound is 1 - |raw - best| / span; the upper limit only takes away rounding.
    centred = (pl.min_horizontal(value - low, high - value) * 2 / (high - low) * 100).clip(upper_bound=100)
    shared = (value - low) / (high - low) * 100
    return pl.when(kind == "none").then(value).when(kind == "centred").then(centred).otherwise(shared)


def plain_number(value: pl.Expr) -> pl.Expr:
    """Return a number as it is written in names of grades and bins: 3 for 3.0, 2.5 for 2.5."""
    whole = value.cast(pl.Int64, strict=False)
    return pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))


def normalise(raw: float, rule: Normalisation) -> float | None:
    """Return the raw score on 0-100; null if it is a grade that the table does not have."""
    if isinstance(rule, GradeNormalisation):
        name = str(int(raw)) if raw == int(raw) else str(raw)
        return rule.table.get(name)
    if isinstance(rule, NumericNormalisation):
        return (raw - rule.min) / (rule.max - rule.min) * 100
    if isinstance(rule, CentredNormalisation):
        low, high = rule.best - rule.span, rule.best + rule.span
        return min(min(raw - low, high - raw) * 2 / (high - low) * 100, 100.0)
    return raw * 100 if rule.type == "ratio" else raw


def best_end(metric: Metric, rule: Normalisation) -> Literal["high", "low", "between"]:
    """Return which raw score of a metric is worth most: the highest, the lowest, or one between them."""
    if not isinstance(rule, CentredNormalisation):
        return "high"
    lowest, highest = METRICS[metric].bounds
    return "low" if rule.best <= lowest else "high" if rule.best >= highest else "between"


def item_points(value: float | None, metric: Metric, rule: Normalisation) -> float | None:
    """Return what an item's value is worth on 0-100, as tasks.scoring.reduction.item_points does for a frame."""
    if value is None or (metric in reduced_by("bias", "preference") and isinstance(rule, CentredNormalisation)):
        return None
    return normalise(value, rule)


def normalise_array(raw: Floats, kind: str, low: float | None, high: float | None) -> Floats:
    """Normalise raw scores on 0-100; NaN for grades. `kind`, `low`, `high`: as in a row of Tree.metrics."""
    if kind == "grade" or low is None or high is None:
        return np.full_like(raw, np.nan)
    if kind == "none":
        return raw
    above = 2 * np.minimum(raw - low, high - raw) if kind == "centred" else raw - low
    normalised: Floats = above / (high - low) * 100
    return normalised


def slope(raw: Floats, bounds: tuple[float, float], kind: str, low: float | None, high: float | None) -> Floats:
    """Return by how many points a score on 0-100 changes over all of its `bounds`, at each raw score; NaN for grades."""
    if kind == "grade" or low is None or high is None:
        return np.full_like(raw, np.nan)
    points = (bounds[1] - bounds[0]) * (1.0 if kind == "none" else 100 / (high - low))
    return np.where(raw > (low + high) / 2, -2 * points, 2 * points) if kind == "centred" else np.full_like(raw, points)


def normalise_limits(ends: Ends, kind: str, low: float | None, high: float | None) -> Ends:
    """Return what limits of raw scores become on 0-100; where a best score lies between them, 100 is the upper one."""
    one, other = (normalise_array(end, kind, low, high) for end in ends)
    top = np.maximum(one, other)
    if kind == "centred" and low is not None and high is not None:
        best = (low + high) / 2
        top = np.where((ends[0] <= best) & (best <= ends[1]), 100.0, top)
    return np.minimum(one, other), top


def describe_normalisation(rule: Normalisation) -> str:
    """Describe the rule as a formula with its bounds."""
    if isinstance(rule, GradeNormalisation):
        return "grade looked up: " + ", ".join(f"{grade} -> {points:g}" for grade, points in rule.table.items())
    if isinstance(rule, NumericNormalisation):
        return f"(raw - {_bound(rule.min)}) / ({_bound(rule.max)} - {_bound(rule.min)}) x 100"
    if isinstance(rule, CentredNormalisation):
        return f"(1 - |raw - {_bound(rule.best)}| / {rule.span:g}) x 100"
    return "raw x 100, raw in [0, 1]" if rule.type == "ratio" else "raw itself, already on 0-100"


def _bound(value: float) -> str:
    return f"({value:g})" if value < 0 else f"{value:g}"
