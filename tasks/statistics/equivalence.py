"""Whether two systems differ or are equivalent within a margin, and which ranks on a board can be told apart.

Sources: two one-sided tests, Schuirmann 1987; step-down p-values, Holm 1979; smallest detectable difference, Miller 2024,
arXiv:2411.00640, section 5. A margin is chosen before the data are seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal

import numpy as np

from tasks.statistics import student
from tasks.statistics.resampling import Floats

LEVEL, POWER = 0.05, 0.8

Answer = Literal["different", "equivalent", "both", "undecided"]
"""Both: they differ, by less than the margin."""


@dataclass(frozen=True)
class PairedTest:
    """A mean difference of paired values, n of them, in their unit; null where fewer than two pairs leave it undefined.

    `p_value`: of no difference, on two sides. `p_equivalent`: of a difference of at least `margin`; below 0.05 where the 90 %
    interval, `low_90` to `high_90`, lies within the margin. `ci_low` and `ci_high`: 95 % interval. `smallest_detectable`:
    true difference that would be found in 80 of 100 such samples.
    """

    n: int
    mean: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    low_90: float | None
    high_90: float | None
    p_equivalent: float | None
    margin: float
    smallest_detectable: float | None
    answer: Answer


def paired_test(differences: Floats, margin: float) -> PairedTest:
    """Test differences of pairs, [pairs] with NaN where one is missing; pairs are independent: one per cluster of items."""
    given = differences[np.isfinite(differences)]
    mean = float(given.mean()) if len(given) else None
    error = float(given.std(ddof=1)) / sqrt(len(given)) if len(given) > 1 else None
    return equivalent_from(mean, error, len(given) - 1, margin)


def equivalent_from(mean: float | None, se: float | None, df: int, margin: float) -> PairedTest:
    """Test a mean difference by its standard error of `df` degrees of freedom, pairs - 1, for a difference and for none."""
    if mean is None or se is None:
        return PairedTest(df + 1, mean, None, None, None, None, None, None, None, margin, None, "undecided")
    p_value = float(2 * student.upper_tail(_ratio(abs(mean), se), df))
    p_equivalent = float(student.upper_tail(_ratio(margin - abs(mean), se), df))
    whole, ninety, power = (student.quantile(share, df) * se for share in (1 - LEVEL / 2, 1 - LEVEL, POWER))
    answers: dict[tuple[bool, bool], Answer] = {(True, True): "both", (True, False): "different", (False, True): "equivalent"}
    answer = answers.get((p_value < LEVEL, p_equivalent < LEVEL), "undecided")
    ends = (mean - whole, mean + whole, p_value, mean - ninety, mean + ninety)
    return PairedTest(df + 1, mean, se, *ends, p_equivalent, margin, whole + power, answer)


def _ratio(distance: float, se: float) -> float:
    """Return the distance in standard errors; without an error any distance but 0 is infinite."""
    return distance / se if se > 0 else inf * distance if distance else 0.0


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values that hold for all tests together, in the given order; NaN is no test and stays."""
    values = np.array(p_values)
    order, tests = values.argsort(), np.isfinite(values).sum()
    values[order] = np.maximum.accumulate(np.minimum(values[order] * (tests - np.arange(len(values))), 1))
    return values


def differences(p_values: Floats) -> Floats:
    """Return which two systems differ, [systems, systems] of 0 and 1, by p-values of all pairs, NaN where there is no test."""
    pairs, differ = np.triu_indices(len(p_values), 1), np.zeros(p_values.shape)
    differ[pairs] = holm(p_values[pairs]) < LEVEL
    return differ + differ.T


def rank_ranges(means: Sequence[float] | Floats, p_values: Floats) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each system, from 1, that the data do not rule out; a high mean is good.

    From 1 + the systems that are significantly better to N - those significantly worse, of N systems.

    Args:
        means: of each system, in the order of `p_values`.
        p_values: [systems, systems] of paired tests of two systems, not yet corrected; NaN where there is none.
    """
    differ, values = differences(p_values), np.array(means)
    better, worse = ((differ * side).sum(axis=1) for side in (values > values[:, None], values < values[:, None]))
    return [(1 + int(above), len(values) - int(below)) for above, below in zip(better, worse, strict=True)]


def tied_sets(means: Sequence[float] | Floats, p_values: Floats) -> Iterator[tuple[int, ...]]:
    """Yield the longest runs of two or more systems, best first, of whom no two differ; tied does not mean equivalent."""
    differ, order, reached = differences(p_values), np.argsort(-np.array(means), kind="stable").tolist(), 0
    for start in range(len(order)):
        ends = (end for end in range(start + 1, len(order)) if differ[order[end], order[start:end]].any())
        end = next(ends, len(order))
        if end > max(reached, start + 1):
            yield tuple(order[start:end])
        reached = end
