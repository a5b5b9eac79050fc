"""Agreement of two raters, in all resamples at once: exact, kappa, distances, correlations; ICC of several raters.

What is not defined is NaN: a correlation below three pairs or of a constant, kappa of two raters who always give the same value.

Sources: kappa, Cohen 1968, squared distances of values; tau-b, Kendall 1945; ICC, Shrout and Fleiss 1979, McGraw and Wong 1996.
"""

from itertools import combinations

import numpy as np

from tasks.statistics.reliability import FEWEST_PAIRS, Units
from tasks.statistics.resampling import Floats, shares

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


def agreement(left: Floats, right: Floats, units: Units, scale: Floats) -> Floats:
    """Return STATISTICS of two raters, [statistics, resamples], from their ratings, [units].

    `scale`: ratings that can be given, ascending.
    """
    return np.vstack((compare_values(left, right, units, scale), correlate_levels(left, right, units)))


def correlate_levels(left: Floats, right: Floats, units: Units) -> Floats:
    """Return CORRELATIONS at each of LEVELS, [9, resamples], of two sides that may have scales of their own, [units]."""
    _, systems = np.unique(units.systems, return_inverse=True)
    *both, own = units.sums(left, right, np.ones(len(left)), groups=systems)
    means = shares(np.array(both), own, np.nan)
    by_system = correlate(means[0], means[1], np.ones_like(own)) * (1 if len(own) >= FEWEST_SYSTEMS else np.nan)
    # An item's weight is that of its cluster, so that of each of its units.
    of_items, firsts = correlate_items(left, right, units), np.unique(units.items, return_index=True)[1]
    defined = np.isfinite(of_items).all(axis=1)
    items = units.only(firsts[defined])
    sums = items.sums(*of_items[defined].T, np.ones(defined.sum()))
    return np.vstack((correlate_pooled(left, right, units), shares(sums[:-1], sums[-1], np.nan), by_system))


def correlate_pooled(left: Floats, right: Floats, units: Units) -> Floats:
    """Return CORRELATIONS over all units, [correlations, resamples]: of a table of how often two values meet in a resample."""
    pairs, pair_of = np.unique(np.column_stack((left, right)), axis=0, return_inverse=True)
    return correlate(pairs[:, 0], pairs[:, 1], units.sums(np.ones(len(left)), groups=pair_of)[0])


def correlate_items(left: Floats, right: Floats, units: Units) -> Floats:
    """Return CORRELATIONS of each item over its systems, [items, correlations]."""
    _, places, sizes = np.unique(units.items, return_inverse=True, return_counts=True)
    order, starts = np.argsort(places, kind="stable"), sizes.cumsum() - sizes
    correlations = np.full((len(sizes), len(CORRELATIONS)), np.nan)
    for size in np.unique(sizes[sizes >= FEWEST_PAIRS]):
        rows = order[starts[sizes == size] + np.arange(size)[:, None]]
        correlations[sizes == size] = correlate(left[rows], right[rows], np.ones(rows.shape)).T
    return correlations


def halo(dimensions: Floats, units: Units) -> Floats:
    """Return the mean Spearman between the dimensions of one rater, [dimensions, units], over units rated in all: [resamples]."""
    kept = np.flatnonzero(np.isfinite(dimensions).all(axis=0))
    if len(dimensions) == 1 or len(kept) < FEWEST_PAIRS:
        return np.full(units.weights.shape[1], np.nan)
    of_kept = units.only(kept)
    of_pairs = [correlate_pooled(left[kept], right[kept], of_kept)[0] for left, right in combinations(dimensions, 2)]
    mean: Floats = np.mean(of_pairs, axis=0)
    return mean


def compare_values(left: Floats, right: Floats, units: Units, scale: Floats) -> Floats:
    """Return OF_VALUES, [statistics, resamples]: `within_one` by places on the scale, others by values; bias: left - right."""
    x, y = left - scale.mean(), right - scale.mean()
    steps = np.interp(left, scale, np.arange(len(scale))) - np.interp(right, scale, np.arange(len(scale)))
    values = [x == y, np.abs(steps) <= 1, (x - y) ** 2, np.abs(x - y), x - y, x**2 + y**2, x, y, np.ones(len(x))]
    sums = units.sums(*values)
    exact, within, squared, mae, bias, squares, *means = shares(sums[:-1], sums[-1], np.nan)
    # Over all pairs of left's with right's values: the mean squared distance if they were independent.
    apart = squares - 2 * means[0] * means[1]
    kappa = 1 - shares(squared, np.where(apart > np.ptp(scale) ** 2 * 1e-12, apart, 0), np.nan)
    return np.array([exact, within, kappa, mae, bias])


def compare_names(left: Floats, right: Floats, units: Units, scale: Floats) -> Floats:
    """Return OF_VALUES of ratings that are names without an order: `exact`, and Cohen's kappa as `kappa_quadratic`; else NaN."""
    sides = [units.sums(*(side == value for value in scale)) for side in (left, right)]
    same, n = units.sums(left == right)[0], sides[0].sum(axis=0)
    kappa = 1 - shares(n * (n - same), n**2 - (sides[0] * sides[1]).sum(axis=0), np.nan)
    nothing = np.full_like(n, np.nan)
    return np.array([shares(same, n, np.nan), nothing, kappa, nothing, nothing])


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


def partial_spearman(left: Floats, right: Floats, given: Floats) -> float:
    """Return Spearman's correlation of two sides where the third, all [units], is held: of ranks; NaN where not defined."""
    ones = np.ones((len(left), 1))
    a, b, c = (correlate(*sides, ones)[0, 0] for sides in ((left, right), (left, given), (right, given)))
    rest = (1 - b**2) * (1 - c**2)
    return float((a - b * c) / np.sqrt(rest)) if rest > 0 else np.nan
