"""Agreement of two raters, in all resamples at once: exact, kappa, distances, correlations; ICC of several raters.

What is not defined is NaN: a correlation below three pairs or of a constant, kappa of two raters who always give the same value.

Sources: kappa, Cohen 1968, squared distances of values; tau-b, Kendall 1945; ICC, Shrout and Fleiss 1979, McGraw and Wong 1996.
"""

from typing import NamedTuple

import numpy as np

from tasks.statistics.reliability import FEWEST_PAIRS
from tasks.statistics.resampling import Floats, Indices, shares

FEWEST_SYSTEMS = 5
"""For a correlation over systems."""

OF_VALUES = ("exact", "within_one", "kappa_quadratic", "mae", "bias")
CORRELATIONS = ("spearman", "pearson", "kendall_tau_b")
LEVELS = ("pooled", "by_item", "by_system")
"""What is correlated: all units; the systems' units of an item, then averaged over items; the means of five or more systems.

Pooled is also called the sample level, or (arXiv 2406.14952) the dataset level; by item the sample level there; by system the
dataset or system level.
"""

STATISTICS = [*((name, LEVELS[0]) for name in OF_VALUES), *((name, level) for level in LEVELS for name in CORRELATIONS)]
"""Name and level, in the order of `agreement`."""


class Units(NamedTuple):
    """What was rated: number of its item, its system and its cluster, all [units], and weights [units, resamples]."""

    items: Indices
    systems: Indices
    clusters: Indices
    weights: Floats

    def only(self, kept: Indices) -> "Units":
        """Return some of the units."""
        return Units(self.items[kept], self.systems[kept], self.clusters[kept], self.weights[kept])


def agreement(left: Floats, right: Floats, units: Units, scale: Floats) -> Floats:
    """Return STATISTICS of two raters, [statistics, resamples], from their ratings, [units].

    `scale`: ratings that can be given, ascending.
    """
    return np.vstack((compare_values(left, right, units, scale), correlate_levels(left, right, units)))


def correlate_levels(left: Floats, right: Floats, units: Units) -> Floats:
    """Return CORRELATIONS at each of LEVELS, [9, resamples], of two sides that may have scales of their own, [units]."""
    weights = units.weights
    pairs, pair_of = np.unique(np.column_stack((left, right)), axis=0, return_inverse=True)
    drawn = np.zeros((len(pairs), weights.shape[1]))
    np.add.at(drawn, pair_of, weights)
    # An item's weight is that of its cluster, so that of each of its units.
    of_items, drawn_items = correlate_items(left, right, units), weights[np.unique(units.items, return_index=True)[1]]
    defined = np.isfinite(of_items).all(axis=1)
    by_item = shares(of_items[defined].T @ drawn_items[defined], drawn_items[defined].sum(axis=0), np.nan)
    own = (units.systems == np.unique(units.systems)[:, None]).astype(np.float64)
    means = [shares(own @ (weights * side[:, None]), own @ weights, np.nan) for side in (left, right)]
    of_means = correlate(means[0], means[1], np.ones_like(means[0]))
    by_system = of_means if len(own) >= FEWEST_SYSTEMS else np.full_like(of_means, np.nan)
    return np.vstack((correlate(pairs[:, 0], pairs[:, 1], drawn), by_item, by_system))


def correlate_items(left: Floats, right: Floats, units: Units) -> Floats:
    """Return CORRELATIONS of each item over its systems, [items, correlations]."""
    rows = [np.flatnonzero(units.items == item) for item in np.unique(units.items)]
    return np.array([correlate(left[row], right[row], np.ones((len(row), 1)))[:, 0] for row in rows])


def compare_values(left: Floats, right: Floats, units: Units, scale: Floats) -> Floats:
    """Return OF_VALUES, [statistics, resamples]: `within_one` by places on the scale, others by values; bias: left - right."""
    x, y = left - scale.mean(), right - scale.mean()
    steps = np.interp(left, scale, np.arange(len(scale))) - np.interp(right, scale, np.arange(len(scale)))
    values = np.array([x == y, np.abs(steps) <= 1, (x - y) ** 2, np.abs(x - y), x - y, x**2 + y**2, x, y], dtype=np.float64)
    exact, within, squared, mae, bias, squares, *means = shares(values @ units.weights, units.weights.sum(axis=0), np.nan)
    # Over all pairs of left's with right's values: the mean squared distance if they were independent.
    apart = squares - 2 * means[0] * means[1]
    kappa = 1 - shares(squared, np.where(apart > np.ptp(scale) ** 2 * 1e-12, apart, 0), np.nan)
    return np.array([exact, within, kappa, mae, bias])


def correlate(left: Floats, right: Floats, weights: Floats) -> Floats:
    """Return CORRELATIONS, [correlations, resamples], ties in the middle of ranks; sides: [units] or [units, resamples]."""
    signs = [np.sign(side[:, None] - side[None]) for side in (left, right)]

    def sums(signs: Floats) -> Floats:
        """Return for each unit the sum over all others: of signs its rank, but for a constant and a factor."""
        total: Floats = signs @ weights if signs.ndim == weights.ndim else (signs * weights).sum(axis=1)
        return total

    concordant, *untied = (
        (weights * sums(sign_product)).sum(axis=0) for sign_product in (signs[0] * signs[1], *(sign**2 for sign in signs))
    )
    whole = np.sqrt(untied[0] * untied[1])
    whole[weights.sum(axis=0) < FEWEST_PAIRS] = np.nan
    linear = (_product_moment(sums(signs[0]), sums(signs[1]), weights), _product_moment(left, right, weights))
    return np.where(whole > 0, [*linear, shares(concordant, whole, np.nan)], np.nan)


def _product_moment(left: Floats, right: Floats, weights: Floats) -> Floats:
    sides = [side.reshape(len(side), -1) for side in (left, right)]
    x, y = (side - shares((weights * side).sum(axis=0), weights.sum(axis=0), np.nan) for side in sides)
    spread = np.sqrt((weights * x * x).sum(axis=0) * (weights * y * y).sum(axis=0))
    return np.clip(shares((weights * x * y).sum(axis=0), spread, np.nan), -1, 1)


def intraclass_correlations(table: Floats) -> dict[str, float]:
    """Return ICC(2,1), ICC(2,k) and ICC(1,1) of a table [units, raters] without gaps; NaN where nothing varies."""
    n, k = table.shape
    rows, columns, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    between = k * ((rows - mean) ** 2).sum() / (n - 1)
    raters = n * ((columns - mean) ** 2).sum() / (k - 1)
    rest = ((table - rows[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    within = ((table - rows[:, None]) ** 2).sum() / (n * (k - 1))
    parts = {
        "icc_2_1": (between - rest, between + (k - 1) * rest + k * (raters - rest) / n),
        "icc_2_k": (between - rest, between + (raters - rest) / n),
        "icc_1_1": (between - within, between + (k - 1) * within),
    }
    return {name: float(part / whole) if whole > 0 else np.nan for name, (part, whole) in parts.items()}
