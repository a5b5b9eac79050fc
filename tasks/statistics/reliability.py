"""Units that are drawn by cluster, Krippendorff's alpha of any number of raters, and the rank correlation of two columns."""

from collections.abc import Sequence
from itertools import product, zip_longest
from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from tasks.statistics.resampling import Floats, Indices, shares

FEWEST_PAIRS = 3
"""For a correlation: two pairs always lie on a line."""

ONE_THREAD = 2**17
"""Multiplications of a matrix product that runs on one thread: several cost a small product more than they give."""


class Units(NamedTuple):
    """What was rated: number of its item, its system and its cluster, all [units]; weights of clusters, [clusters, resamples]."""

    items: Indices
    systems: Indices
    clusters: Indices
    weights: Floats

    def only(self, kept: Indices) -> "Units":
        """Return some of the units."""
        return Units(self.items[kept], self.systems[kept], self.clusters[kept], self.weights)

    def sums(self, *values: Floats, groups: Indices | None = None) -> Floats:
        """Return sums of values, [units] each, over the units of a group in a resample, [values, groups, resamples].

        Without groups, over all units: [values, resamples].
        """
        clusters, resamples = self.weights.shape
        places, size = (self.clusters, 1) if groups is None else (groups * clusters + self.clusters, int(groups.max()) + 1)
        table = np.vstack([np.bincount(places, one, size * clusters).reshape(size, clusters) for one in values])
        blocks = np.array_split(self.weights, table.size * resamples // ONE_THREAD + 1, axis=1)
        drawn = np.hstack([table @ block for block in blocks])
        return drawn if groups is None else drawn.reshape(len(values), size, resamples)


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
    table = np.array([*zip_longest(*units)], dtype=np.float64).reshape(-1, max(len(units), 1)).T
    at = np.zeros(len(table), dtype=np.int64)
    alpha = alphas(table, Units(at, at, at, np.ones((1, 1))))[level][0]
    return None if np.isnan(alpha) else float(alpha)


def alphas(table: Floats, units: Units) -> dict[AlphaLevel, Floats]:
    """Return Krippendorff's alpha of each level, [resamples], of a table [units, raters] with NaN where there is no rating."""
    paired = np.flatnonzero(np.isfinite(table).sum(axis=1) >= FEWEST_RATINGS)
    rated, of_kept = table[paired], units.only(paired)
    values = np.unique(rated[np.isfinite(rated)])
    if len(values) < FEWEST_RATINGS:
        return {level: np.full(units.weights.shape[1], np.nan) for level in ALPHA_LEVELS}
    counts = np.array([(rated == value).sum(axis=1) for value in values], dtype=np.float64)
    sizes, of_size = np.unique(counts.sum(axis=0), return_inverse=True)
    # A rating meets each other one of its unit, and not itself. Each counts once in all, however many others there are. Whole
    # numbers are summed before they are divided: sums of fractions would depend on the order of units.
    pairs = product(range(len(values)), repeat=2)
    meetings = of_kept.sums(*(counts[one] * (counts[other] - (one == other)) for one, other in pairs), groups=of_size)
    coincidences = (meetings / (sizes - 1)[:, None]).sum(axis=1).reshape(len(values), len(values), -1)
    of_values = of_kept.sums(*counts)
    return {level: _alpha(coincidences, of_values, values, level) for level in ALPHA_LEVELS}


def _alpha(coincidences: Floats, of_values: Floats, values: Floats, level: AlphaLevel) -> Floats:
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
