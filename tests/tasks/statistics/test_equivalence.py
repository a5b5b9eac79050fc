"""Paired tests for difference and equivalence, and ranks that can be told apart."""

from math import inf, nan

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from tasks.statistics.equivalence import Answer, equivalent_from, holm, paired_test, rank_ranges, tied_sets


def test_a_paired_test_is_scipys() -> None:
    given = np.array([0.3, -0.1, 0.4, nan, 0.2, 0.0, 0.5])
    found, whole = paired_test(given, 0.5), given[np.isfinite(given)]
    theirs = ttest_1samp(whole, 0)
    low, high = theirs.confidence_interval(0.95)
    assert (found.n, found.margin) == (6, 0.5)
    assert (found.mean, found.p_value, found.ci_low, found.ci_high) == pytest.approx((1.3 / 6, theirs.pvalue, low, high))
    assert (found.low_90, found.high_90) == pytest.approx((*theirs.confidence_interval(0.9),))
    sides = ttest_1samp(whole, -0.5, alternative="greater").pvalue, ttest_1samp(whole, 0.5, alternative="less").pvalue
    assert found.p_equivalent == pytest.approx(max(sides))
    assert found.smallest_detectable == pytest.approx((t.ppf(0.975, 5) + t.ppf(0.8, 5)) * np.std(whole, ddof=1) / np.sqrt(6))


# With many pairs differences of two errors are found, and the 90 % interval is 1.645 errors on either side.
@pytest.mark.parametrize(
    ("mean", "margin", "answer"),
    [
        (0.25, 0.3, "different"),
        (0.05, 0.3, "equivalent"),
        (-0.25, 0.5, "both"),
        (0.1, 0.2, "undecided"),
        (-0.4, 0.3, "different"),
    ],
)
def test_each_answer(mean: float, margin: float, answer: Answer) -> None:
    found = equivalent_from(mean, 0.1, 1000, margin)
    assert found.answer == answer
    within = -margin < (found.low_90 or 0) and (found.high_90 or 0) < margin
    assert within == (answer in {"equivalent", "both"})


def test_too_few_pairs_or_no_spread() -> None:
    one = paired_test(np.array([0.4, nan]), 0.1)
    assert (one.n, one.mean, one.p_value, one.answer) == (1, 0.4, None, "undecided")
    assert paired_test(np.array([nan]), 0.1).mean is None
    # Without spread there is no doubt: 0.5 each time is a difference, 0 each time is none.
    assert (paired_test(np.full(3, 0.5), 0.1).answer, paired_test(np.zeros(3), 0.1).answer) == ("different", "equivalent")
    assert paired_test(np.full(3, 0.05), 0.1).answer == "both"
    assert paired_test(np.zeros(3), 0.1).p_value == 1


def test_holm_steps_down() -> None:
    # The least of three times 3, the next times 2, never below one before it; the one without a test is not counted.
    assert holm([0.04, 0.01, nan, 0.03]) == pytest.approx([0.06, 0.03, nan, 0.06], nan_ok=True)
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def board(different: set[tuple[int, int]], n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """p-values of pairs, the lower place first: 0 where they differ."""
    return np.array([[0.0 if (one, other) in different else 1.0 for other in range(n)] for one in range(n)])


def test_rank_ranges_and_tied_sets() -> None:
    # 5, 4, 3 and 2 points: the first differs from the last two, the second from the last.
    p_values, means = board({(0, 2), (0, 3), (1, 3)}, 4), [5.0, 4, 3, 2]
    assert rank_ranges(means, p_values) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert [*tied_sets(means, p_values)] == [(0, 1), (1, 2), (2, 3)]
    # The order in which systems are named changes nothing.
    turned = board({(1, 3), (0, 3), (0, 2)}, 4)
    assert rank_ranges(means[::-1], turned) == [(3, 4), (2, 4), (1, 3), (1, 2)]
    # All alike: one set, and any rank. All different: no set.
    assert rank_ranges(means, board(set(), 4)) == [(1, 4)] * 4
    assert [*tied_sets(means, board(set(), 4))] == [(0, 1, 2, 3)]
    every = board({(one, other) for one in range(4) for other in range(one + 1, 4)}, 4)
    assert rank_ranges(means, every) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert [*tied_sets(means, every)] == []


def test_systems_without_common_items_are_not_told_apart() -> None:
    assert rank_ranges([1, 2], np.full((2, 2), nan)) == [(1, 2), (1, 2)]
    assert equivalent_from(0.0, 0.0, 5, 0.0).p_equivalent == 0.5
    assert equivalent_from(inf, 1.0, 5, 0.1).answer == "different"
