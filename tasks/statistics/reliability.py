"""Krippendorff's alpha of any number of raters, and the rank correlation of two columns."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from tasks.statistics.resampling import Floats, shares

FEWEST_PAIRS = 3
"""For a correlation: two pairs always lie on a line."""


def rank_correlation(left: Sequence[float | None] | pl.Series, right: Sequence[float | None] | pl.Series) -> float | None:
    """Return Spearman's correlation over the places where both have a value, ties in the middle of their ranks.

    It is null below three pairs, or if one of the two is constant. The order of the pairs does not matter.
    """
    pairs = pl.DataFrame({"left": left, "right": right}, strict=False).drop_nulls().sort("left", "right")
    if pairs.height < FEWEST_PAIRS or 1 in (pairs["left"].n_unique(), pairs["right"].n_unique()):
        return None
    correlation = pairs.select(pl.corr("left", "right", method="spearman")).item()
    return round(float(correlation), 12)  # arithmetic may go past 1 by its last digit


FEWEST_RATINGS = 2
"""Of a unit: with one rating there is nothing to compare."""

AlphaLevel = Literal["nominal", "ordinal", "interval"]
"""Of measurement: what a difference of two ratings is worth."""
ALPHA_LEVELS: tuple[AlphaLevel, ...] = get_args(AlphaLevel)


def krippendorff_alpha(units: Sequence[Sequence[float | None]], level: AlphaLevel = "interval") -> float | None:
    """Compute Krippendorff's alpha: 1 = raters agree, 0 = as far as chance would have it, below 0 = less than that.

    It is null if no unit has two ratings, or all ratings of such units are the same: without variance it is not defined. The
    order of units and of their ratings does not matter, to the last bit.

    Args:
        units: what was rated, each with the ratings it got; null = a rater gave none. Who gave a rating does not matter.
        level: squared differences are of the values (interval), of their ranks among all ratings (ordinal), or 0 and 1 (nominal).

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E.
    """
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    paired = [ratings for ratings in rated if len(ratings) >= FEWEST_RATINGS]
    values = sorted({rating for ratings in paired for rating in ratings})
    if len(values) < FEWEST_RATINGS:
        return None
    coincidences, of_values = _count_coincidences(paired, values)
    return float(alpha_of(coincidences[..., None], of_values[:, None], np.array(values), level)[0])


def alpha_of(coincidences: Floats, of_values: Floats, values: Floats, level: AlphaLevel) -> Floats:
    """Return alpha of several tables at once, [tables]; NaN where fewer than two values occur.

    Args:
        coincidences: how often two values meet in a unit, [values, values, tables], each rating once in all.
        of_values: how often each value occurs, [values, tables].
        values: ascending.
        level: as of `krippendorff_alpha`.
    """
    differences = 1 - np.eye(len(values))[..., None]
    if level != "nominal":
        places = values[:, None] if level == "interval" else of_values.cumsum(axis=0) - of_values / 2
        differences = (places[:, None] - places[None]) ** 2
    observed = (coincidences * differences).sum(axis=(0, 1))
    expected = (of_values[:, None] * of_values[None] * differences).sum(axis=(0, 1))
    return 1 - shares(observed, expected / np.maximum(of_values.sum(axis=0) - 1, 1), np.nan)


def _count_coincidences(units: Sequence[Sequence[float]], values: Sequence[float]) -> tuple[Floats, Floats]:
    """Return how often each two values meet in a unit, and how often each occurs.

    Each rating of a unit counts once in all, however many others there are. Whole numbers are summed before they are divided:
    fractions summed unit by unit would depend on the units' order.
    """
    counts = np.array([[ratings.count(value) for value in values] for ratings in units], dtype=np.int64)
    sizes, coincidences = counts.sum(axis=1), np.zeros((len(values), len(values)))
    for size in np.unique(sizes):
        of_size = counts[sizes == size]
        # A rating does not meet itself.
        coincidences += (of_size.T @ of_size - np.diag(of_size.sum(axis=0))) / (size - 1)
    return coincidences, counts.sum(axis=0).astype(np.float64)
