"""Ranks that can be told apart, and p-values that hold together."""

from math import nan

import numpy as np
import pytest

from tasks.statistics.ranks import holm, rank_ranges, tied_sets


def test_holm_steps_down() -> None:
    # The least of three times 3, the next times 2, never below one before it; the one without a test is not counted.
    assert holm([0.04, 0.01, nan, 0.03]) == pytest.approx([0.06, 0.03, nan, 0.06], nan_ok=True)
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def board(different: set[tuple[int, int]], n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """p-values of pairs, the lower place first: 0 where they differ."""
    return np.array([[0.0 if (one, other) in different else 1.0 for other in range(n)] for one in range(n)])


def gaps(means: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The score of the second system less that of the first."""
    values = np.array(means)
    apart: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = values - values[:, None]
    return apart


def test_rank_ranges_and_tied_sets() -> None:
    # 5, 4, 3 and 2 points: the first differs from the last two, the second from the last.
    p_values, means = board({(0, 2), (0, 3), (1, 3)}, 4), [5.0, 4, 3, 2]
    assert rank_ranges(gaps(means), p_values) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert [*tied_sets(means, p_values)] == [(0, 1), (1, 2), (2, 3)]
    # The order in which systems are named changes nothing.
    turned = board({(1, 3), (0, 3), (0, 2)}, 4)
    assert rank_ranges(gaps(means[::-1]), turned) == [(3, 4), (2, 4), (1, 3), (1, 2)]
    # All alike: one set, and any rank. All different: no set.
    assert rank_ranges(gaps(means), board(set(), 4)) == [(1, 4)] * 4
    assert [*tied_sets(means, board(set(), 4))] == [(0, 1, 2, 3)]
    every = board({(one, other) for one in range(4) for other in range(one + 1, 4)}, 4)
    assert rank_ranges(gaps(means), every) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert [*tied_sets(means, every)] == []


def test_systems_without_common_items_are_not_told_apart() -> None:
    assert rank_ranges(gaps([1, 2]), np.full((2, 2), nan)) == [(1, 2), (1, 2)]
