"""Compute 95 % intervals of scores between two bounds, and of weighted sums of them, over clusters of items.

A score is a share of what lies between its bounds. Its interval is Wilson's, for as many independent right or wrong answers as
vary like it: share x (1 - share) / error^2, where the error is the jackknife's. So graded answers, clusters, F1 and scores of
bias follow one rule. The quantile is Student's t with one degree of freedom less than there are clusters; for single answers,
right or wrong, it is z, since their share alone says how they vary. Where all clusters but one at most are alike, there is no
error to go by. Clusters that were not seen may then lie at either bound, and Wilson's limit says how many.

The interval of a sum of such scores is Wilson's as well, with the error of the sum. Clusters of one dataset vary all its scores
together; variances of datasets add up.

Sources: Wilson 1927, Journal of the American Statistical Association 22. Effective number of answers: Korn and Graubard 1998,
Survey Methodology 24; compared by Franco, Little, Louis and Slud 2019, Journal of Survey Statistics and Methodology 7. Degrees of
freedom of a sum: Satterthwaite 1946. Half a cluster: Jeffreys's prior of a share. Jackknife: Efron and Stein 1981, The Annals of
Statistics 9.
"""

from collections.abc import Sequence
from math import fsum, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.statistics import student
from tasks.statistics.resampling import Floats

LEVEL = 0.05

FEWEST_CLUSTERS = 2
"""Below so many, a score has no interval."""

_ROUNDING = 1e-12
"""Shares closer than this are the same number computed in two ways."""

Ends = tuple[Floats, Floats]
"""Lower and upper limits, [systems] each; NaN = no interval."""


class Spread(NamedTuple):
    """What the interval of a score rests on, [systems] each; NaN where a system has too few clusters."""

    bounds: tuple[float, float] | None
    share: Floats
    """Of what lies between the bounds; without these the score itself."""

    error: Floats
    clusters: Floats
    usual: Floats
    """The share of a cluster of which all others but one at most are alike; NaN = there is none."""

    df: Floats
    off: Floats
    """What the share without one cluster lies above their mean, [systems, clusters]; 0 for a cluster that a system has not."""

    folds: bool

    @property
    def standard_error(self) -> Floats:
        """Return the jackknife's, of the score in its own unit: of a mean sd / sqrt(n)."""
        low, high = self.bounds or (0.0, 1.0)
        return (high - low) * np.sqrt((self.clusters - 1) / self.clusters * row_sums(self.off**2))


def spread_of(
    scores: Floats, left_out: Floats, bounds: tuple[float, float] | None, single: NDArray[np.bool_], *, folds: bool = False
) -> Spread:
    """Compute how a score varies, for several systems.

    Args:
        scores: [systems].
        left_out: the scores without one cluster each, [systems, clusters]; NaN for a cluster that a system has not.
        bounds: lowest and highest possible score; null = none are known, and Student's interval is taken.
        single: whether each cluster is one answer, right or wrong, [systems].
        folds: whether the best score lies where shares that it is made of are in the middle. Its error is then not a share's.
    """
    low, high = bounds or (0.0, 1.0)
    share, without = (scores - low) / (high - low), (left_out - low) / (high - low)
    share = np.clip(share, 0, 1) if bounds else share
    present = np.isfinite(without)
    clusters = present.sum(axis=1).astype(np.float64)
    clusters[clusters < FEWEST_CLUSTERS] = np.nan
    mean = row_sums(np.where(present, without, 0)) / clusters
    off = np.where(present & np.isfinite(clusters)[:, None], without - mean[:, None], 0)
    variance = np.where(single, share * (1 - share) / clusters, (clusters - 1) / clusters * row_sums(off**2))
    error = np.sqrt(variance)
    usual = np.where(single, np.where(error > 0, np.nan, share), clusters * share - (clusters - 1) * _usual(without))
    usual = np.clip(usual, 0, 1) if bounds else usual
    df = np.where(single & np.isfinite(clusters), inf, clusters - 1)
    return Spread(bounds, share, error, clusters, usual, df, off, folds)


def stored_spread(
    scores: Floats, bounds: tuple[float, float] | None, standard_error: float | None, clusters: int | None
) -> Spread:
    """Return how a score varies of which only the standard error was kept, [1]; two of them vary alike."""
    low, high = bounds or (0.0, 1.0)
    share, number = (scores - low) / (high - low), np.full(1, np.nan if standard_error is None else clusters, dtype=np.float64)
    error = np.full(1, np.nan if standard_error is None else standard_error / (high - low))
    usual = np.where(error <= _ROUNDING, share, np.nan)
    return Spread(bounds, share, error, number, usual, number - 1, (error * np.sqrt(number / (number - 1)))[:, None], folds=False)


def _usual(without: Floats) -> Floats:
    """Return what most values of a row are, if all but one at most are, else NaN; [rows, values], NaN where there is none."""
    ascending, number = np.sort(without, axis=1), np.isfinite(without).sum(axis=1)
    first, second, before_last, last = (
        np.take_along_axis(ascending, np.clip(at, 0, without.shape[1] - 1)[:, None], axis=1)[:, 0]
        for at in (0 * number, 0 * number + 1, number - 2, number - 1)
    )
    of_two = (number == FEWEST_CLUSTERS) & (last - first > _ROUNDING)
    usual = np.where(before_last - first <= _ROUNDING, first, np.where(last - second <= _ROUNDING, last, np.nan))
    return np.where(of_two, np.nan, usual)


def row_sums(matrix: Floats) -> Floats:
    """Return the exact sum of each row: zeros among its values do not change the last bit."""
    return np.array([fsum(row) for row in matrix.tolist()])


def limits(spread: Spread, quantile: Floats | None = None) -> Ends:
    """Return the limits of a score, in its own unit. `quantile`: of Student's t, [systems]; null = the score's own."""
    t = _quantile(spread.df) if quantile is None else quantile
    share, error, varies = spread.share, spread.error, spread.share * (1 - spread.share)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_answers = (t * error) ** 2 / varies  # t^2 / n, n being the effective number of answers
        middle = (share + of_answers / 2) / (1 + of_answers)
        half = np.sqrt(varies * of_answers + of_answers**2 / 4) / (1 + of_answers)
    plain = spread.folds | (varies <= _ROUNDING) | (spread.bounds is None)
    middle, half = np.where(plain, share, middle), np.where(plain, t * error, half)
    if spread.bounds is None:
        half[error <= _ROUNDING] = np.nan
        return middle - half, middle + half
    unseen = t**2 / (spread.clusters + t**2)
    lower = np.fmin(middle - half, spread.usual * (1 - unseen))
    upper = np.fmax(middle + half, spread.usual + unseen * (1 - spread.usual))
    low, high = spread.bounds
    return low + (high - low) * np.clip(lower, 0, 1), low + (high - low) * np.clip(upper, 0, 1)


def _quantile(df: Floats) -> Floats:
    return student.quantile(1 - LEVEL / 2, df)


class Term(NamedTuple):
    """A score of a dataset, and what it counts for in a sum on 0-100."""

    points: Floats
    """What all of its range is worth in the sum, below 0 where higher scores are worth less, [systems]; 0 = it takes no part."""

    spread: Spread


class Addend(NamedTuple):
    """What the terms of a dataset add to a sum, [systems] each; NaN where one of them has no interval."""

    points: Floats
    """0 = it adds nothing to the sum of this system."""

    variance: Floats
    clusters: Floats
    still: NDArray[np.bool_]
    """Whether all clusters are alike."""


def addend_of(terms: Sequence[Term]) -> Addend:
    """Put terms together that rest on the same clusters, and so vary together. `terms`: one or more.

    Where all clusters but one at most are alike, one half of a cluster that was not seen counts, at the bound farther off.
    """
    points = np.stack([np.abs(term.points) for term in terms])
    clusters = np.max([np.where(term.points == 0, 0, term.spread.clusters) for term in terms], axis=0)
    off = sum(term.points[:, None] * term.spread.off for term in terms)
    seen = np.where(clusters > 0, (clusters - 1) / np.maximum(clusters, 1) * row_sums(np.asarray(off) ** 2), 0)
    errors = np.stack([np.where(term.points == 0, 0, _unseen_error(term.spread)) for term in terms])
    still = np.all([(term.points == 0) | (term.spread.error <= _ROUNDING) for term in terms], axis=0)
    return Addend(points.sum(axis=0), np.maximum(seen, (points * errors).sum(axis=0) ** 2), clusters, still)


def _unseen_error(spread: Spread) -> Floats:
    """Return the standard error of a share that half a cluster at the farther bound would give it; 0 where clusters differ."""
    half = 0.5 / (spread.clusters + 1)
    farther = np.maximum(spread.usual, 1 - spread.usual)
    return np.where(np.isnan(spread.usual), 0 * spread.clusters, farther * np.sqrt(half * (1 - half) / spread.clusters))


def sum_limits(scores: Floats, parts: Sequence[Addend], *, folds: bool = False) -> Ends:
    """Return the limits of sums on 0-100, [systems]; NaN where a part of a sum has none.

    Args:
        scores: the sums.
        parts: of the sums, one or more; independent of each other.
        folds: as of `spread_of`, for any score in the sum.
    """
    points, variances, clusters, still = (np.stack(columns) for columns in zip(*parts, strict=True))
    absent, variance = points == 0, variances.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(variance == 0, inf, variance**2 / np.where(absent, 0, variances**2 / (clusters - 1)).sum(axis=0))
        effective = points.sum(axis=0) ** 2 / np.where(absent, 0, points**2 / clusters).sum(axis=0)
    share = np.clip(scores / 100, 0, 1)
    usual = np.where((still | absent).all(axis=0), share, np.nan)
    return limits(Spread((0.0, 100.0), share, np.sqrt(variance) / 100, effective, usual, df, np.empty(0), folds))
