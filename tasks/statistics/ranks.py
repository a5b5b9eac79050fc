"""Say which ranks of several systems the data do not rule out. Source of p-values that hold together: Holm 1979."""

from collections.abc import Iterator, Sequence

import numpy as np

from tasks.statistics.paired import LEVEL
from tasks.statistics.resampling import Floats


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


def rank_ranges(gaps: Floats, p_values: Floats) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each system, from 1, that the data do not rule out; a high score is good.

    From 1 + the systems that are significantly better to N - those significantly worse, of N systems.

    Args:
        gaps: [systems, systems], the score of the second less that of the first, over the items of both.
        p_values: [systems, systems] of the same differences, not yet corrected; NaN where there is no test.
    """
    differ = differences(p_values)
    better, worse = ((differ * side).sum(axis=1) for side in (gaps > 0, gaps < 0))
    return [(1 + int(above), len(gaps) - int(below)) for above, below in zip(better, worse, strict=True)]


def tied_sets(means: Sequence[float] | Floats, p_values: Floats) -> Iterator[tuple[int, ...]]:
    """Yield the longest runs of two or more systems, best first, of whom no two differ; tied does not mean equivalent."""
    differ, order, reached = differences(p_values), np.argsort(-np.array(means), kind="stable").tolist(), 0
    for start in range(len(order)):
        ends = (end for end in range(start + 1, len(order)) if differ[order[end], order[start:end]].any())
        end = next(ends, len(order))
        if end > max(reached, start + 1):
            yield tuple(order[start:end])
        reached = end
