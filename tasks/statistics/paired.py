"""Compare two systems over the same clusters of items: the difference, its error, interval and test, and an answer.

A difference is a weighted sum over independent strata: datasets. The error of a stratum comes from leaving out one cluster at a
time, whatever the score is made of: a mean, an F1, a bias. Variances of strata add.

Sources: jackknife, Efron and Stein 1981, The Annals of Statistics 9; of a mean over clusters of one size it is sd / sqrt(G), the
error of the paired t-test. Degrees of freedom of several strata: Satterthwaite 1946. Two one-sided tests: Schuirmann 1987.
Smallest detectable difference: Miller 2024, arXiv:2411.00640, section 5. Clusters that do not vary: the exact upper limit of a
share that was never seen, Clopper and Pearson 1934, of which "three in n" is the rule of thumb. Why: docs/decisions/0042.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import Literal, NamedTuple

import numpy as np

from tasks.statistics import student
from tasks.statistics.resampling import Floats

LEVEL, POWER = 0.05, 0.8

FEWEST_CLUSTERS = 5
"""Below so many clusters, or degrees of freedom of one less, a difference has no interval and no answer."""

Answer = Literal["different", "equivalent", "both", "undecided"]
"""`both`: they differ, by less than the margin."""


class Stratum(NamedTuple):
    """The difference in a dataset, whose items are drawn independently of those of others."""

    weight: float
    difference: float
    left_out: Floats
    """The difference without one cluster each, [clusters]."""


@dataclass(frozen=True)
class PairedDifference:
    """A difference of two systems in the unit of its scores; null = too few clusters."""

    n: int
    """Clusters of all strata."""

    mean: float | None
    standard_error: float | None
    df: float | None
    """Degrees of freedom of the standard error."""

    ci_low: float | None
    ci_high: float | None
    """Ends of the 95 % interval. It leaves out 0 where `p_value` is below 0.05."""

    p_value: float | None
    """Of no difference, on two sides."""

    low_90: float | None
    high_90: float | None
    """Ends of the 90 % interval. It lies within the margin where `p_equivalent` is below 0.05."""

    p_equivalent: float | None
    """Of a difference of at least the margin."""

    margin: float
    """Difference that would matter, chosen before the data are seen."""

    smallest_detectable: float | None
    """True difference that 80 of 100 such samples would show."""

    answer: Answer

    @property
    def is_tested(self) -> bool:
        """Whether there are clusters enough for an interval and an answer."""
        return self.p_value is not None

    @property
    def differs(self) -> bool:
        """Whether chance alone hardly explains the difference."""
        return self.answer in {"different", "both"}


def compare_pairs(differences: Floats, margin: float, step: float, most: float = inf) -> PairedDifference:
    """Compare two systems by one difference per cluster, [clusters], NaN where one is missing; their mean counts.

    Args:
        differences: in any unit.
        margin: difference that would matter, in that unit.
        step: by how much a cluster differs where it does: 100 points for right and wrong, 1 for ratings in steps.
        most: the largest difference that is possible, at which intervals end.
    """
    given = differences[np.isfinite(differences)]
    if not len(given):
        return _untested(0, None, None, None, margin)
    left_out = (given.sum() - given) / max(len(given) - 1, 1)
    return compare_strata([Stratum(1.0, float(given.mean()), left_out)], margin, step, most)


def compare_strata(strata: Sequence[Stratum], margin: float, step: float, most: float = inf) -> PairedDifference:
    """Compare two systems by the weighted sum of the differences in several datasets; arguments as above."""
    mean, sizes = fsum(stratum.weight * stratum.difference for stratum in strata), [len(each.left_out) for each in strata]
    n = sum(sizes)
    if min(sizes, default=0) < 2 or not all(np.isfinite(stratum.left_out).all() for stratum in strata):  # noqa: PLR2004
        return _untested(n, mean, None, None, margin)
    variances = [(stratum.weight * standard_error(stratum.left_out, step)) ** 2 for stratum in strata]
    variance = fsum(variances)
    df = variance**2 / fsum(own**2 / (size - 1) for own, size in zip(variances, sizes, strict=True)) if variance else 0.0
    if df < FEWEST_CLUSTERS - 1 - 1e-9:
        return _untested(n, mean, sqrt(variance), df, margin)
    return _tested(n, mean, sqrt(variance), df, margin, most)


def standard_error(left_out: Floats, step: float) -> float:
    """Return the jackknife's standard error of a score or a difference, from its values without one cluster each, [clusters].

    Where all clusters but one say the same, there is nothing to estimate it from: it is at least such that the 95 % limit, on one
    side, is what the other clusters allow, none of which differs. `step`: as above.
    """
    clusters = len(left_out)
    off = left_out - left_out.mean()
    error = sqrt((clusters - 1) / clusters * float(off @ off))
    alike = np.unique(left_out.round(9), return_counts=True)[1].max()
    if alike < clusters - 1:
        return error
    unseen = 1 - float(LEVEL ** (1 / clusters))
    return max(error, step * unseen / float(student.quantile(1 - LEVEL, clusters - 1)))


def _tested(n: int, mean: float, error: float, df: float, margin: float, most: float) -> PairedDifference:
    p_value = float(2 * student.upper_tail(abs(mean) / error, df))
    p_equivalent = float(student.upper_tail((margin - abs(mean)) / error, df))
    whole, ninety, power = (float(student.quantile(share, df)) * error for share in (1 - LEVEL / 2, 1 - LEVEL, POWER))
    # A difference cannot lie outside of what is possible.
    low, high, low_90, high_90 = np.clip([mean - whole, mean + whole, mean - ninety, mean + ninety], -most, most).tolist()
    answers: dict[tuple[bool, bool], Answer] = {(True, True): "both", (True, False): "different", (False, True): "equivalent"}
    answer = answers.get((p_value < LEVEL, p_equivalent < LEVEL), "undecided")
    return PairedDifference(n, mean, error, df, low, high, p_value, low_90, high_90, p_equivalent, margin, whole + power, answer)


def _untested(n: int, mean: float | None, error: float | None, df: float | None, margin: float) -> PairedDifference:
    return PairedDifference(n, mean, error, df, None, None, None, None, None, None, margin, None, "undecided")
