"""Wilson's interval of scores, and those of their sums: by hand, against scipy, and where there is none."""

from math import inf, isnan, sqrt

import numpy as np
import pytest
from scipy import stats

from tasks.statistics.intervals import Spread, Term, addend_of, limits, spread_of, sum_limits
from tasks.statistics.resampling import Floats

SHARE = (0.0, 1.0)
ANSWERS = np.array([True])
GRADED = np.array([False])


def without_each(values: list[float]) -> Floats:
    """Means without one value each."""
    return np.array([[(sum(values) - value) / (len(values) - 1) for value in values]])


def mean_of(
    values: list[float], bounds: tuple[float, float] | None = SHARE, *, single: bool = False, folds: bool = False
) -> Spread:
    mean = np.array([sum(values) / len(values)])
    return spread_of(mean, without_each(values), bounds, ANSWERS if single else GRADED, folds=folds)


def ends(spread: Spread) -> tuple[float, float]:
    low, high = limits(spread)
    return float(low[0]), float(high[0])


@pytest.mark.parametrize(("right", "of"), [(15, 20), (1, 7), (299, 300), (2, 5)])
def test_single_answers_have_wilsons_interval(right: int, of: int) -> None:
    found = ends(mean_of([1.0] * right + [0.0] * (of - right), single=True))
    wilson = stats.binomtest(right, of).proportion_ci(method="wilson")
    assert found == pytest.approx((wilson.low, wilson.high))


@pytest.mark.parametrize(("value", "expected"), [(1.0, (20 / 23.841459, 1.0)), (0.0, (0.0, 3.841459 / 23.841459))])
def test_all_right_or_all_wrong(value: float, expected: tuple[float, float]) -> None:
    # z^2 is 3.841459: the limits are 20 / (20 + z^2) and z^2 / (20 + z^2).
    assert ends(mean_of([value] * 20, single=True)) == pytest.approx(expected)


def test_graded_answers_by_hand() -> None:
    # p = 0.625, s^2 = 0.104167 / 4, n = 0.234375 / s^2 = 9; t of 3 degrees is 3.182446.
    middle, half = (0.625 + 0.562665) / 2.125330, sqrt(0.234375 * 1.125330 + 0.316592) / 2.125330
    assert ends(mean_of([0.25, 0.5, 0.75, 1.0])) == pytest.approx((middle - half, middle + half), abs=1e-5)
    assert ends(mean_of([0.25, 0.5, 0.75, 1.0])) == pytest.approx((0.20038, 0.91726), abs=1e-5)


def test_the_unit_does_not_matter() -> None:
    low, high = ends(mean_of([0.25, 0.5, 0.75, 1.0]))
    assert ends(mean_of([2.0, 3.0, 4.0, 5.0], (1.0, 5.0))) == pytest.approx((1 + 4 * low, 1 + 4 * high))


def test_clusters_of_equal_answers_are_one_answer_each() -> None:
    """Left out are clusters, so what they hold does not matter: ten pairs of equal answers are ten answers."""
    shares = [1.0] * 6 + [0.0] * 4
    low, high = ends(mean_of(shares))
    # Wilson with n = 9, since the variance of the sample has n - 1 below, and t of 9 degrees, 2.262157.
    lost = 2.262157**2 / 9
    half = sqrt(0.24 * lost + lost**2 / 4) / (1 + lost)
    assert (low, high) == pytest.approx(((0.6 + lost / 2) / (1 + lost) - half, (0.6 + lost / 2) / (1 + lost) + half), abs=1e-6)


def test_alike_clusters_leave_room_for_others() -> None:
    # t of 3 degrees is 3.182446: u = 10.127963 / 14.127963 = 0.716874.
    assert ends(mean_of([0.5] * 4)) == pytest.approx((0.5 * (1 - 0.716874), 0.5 * 1.716874), abs=1e-6)


@pytest.mark.parametrize("odd", [0.9, 1.0])
def test_one_cluster_that_differs_leaves_no_less(odd: float) -> None:
    # t of 9 degrees is 2.262157: u = 5.117354 / 15.117354.
    low, high = ends(mean_of([*[1.0] * 9, odd]))
    assert (low, high) == pytest.approx((1 - 5.117354 / 15.117354, 1.0), abs=1e-6)


def test_two_clusters_that_differ_are_not_usual() -> None:
    low, high = ends(mean_of([0.4, 0.6]))
    # s^2 = 0.01, n = 25; t of 1 degree is 12.706205.
    lost = 12.706205**2 / 25
    half = sqrt(0.25 * lost + lost**2 / 4) / (1 + lost)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


def test_without_bounds_it_is_students() -> None:
    values = [3.0, 9.0, -4.0, 12.0, 7.0]
    expected = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert ends(mean_of(values, None)) == pytest.approx(expected)
    assert all(map(isnan, ends(mean_of([2.0] * 5, None))))


def test_a_score_that_folds_is_students_within_its_bounds() -> None:
    values = [0.9, 1.0, 0.8, 1.0, 0.95, 0.7]
    low, high = stats.t.interval(0.95, 5, loc=np.mean(values), scale=stats.sem(values))
    assert high > 1
    assert ends(mean_of(values, folds=True)) == pytest.approx((low, 1.0))


def test_one_cluster_has_no_interval() -> None:
    left_out = np.array([[0.5, np.nan, np.nan], [0.5, 0.25, 0.75]])
    low, high = limits(spread_of(np.array([0.5, 0.5]), left_out, SHARE, np.array([True, False])))
    assert np.isnan([low[0], high[0]]).all()
    assert 0 < low[1] < 0.5 < high[1] < 1


def test_clusters_of_others_change_nothing() -> None:
    values = [0.1, 0.7, 0.35, 0.9, 0.55]
    alone = without_each(values)
    beside = np.insert(alone, [1, 3, 3], np.nan, axis=1)
    assert ends(spread_of(np.array([0.52]), alone, SHARE, GRADED)) == ends(spread_of(np.array([0.52]), beside, SHARE, GRADED))


def term(weight: float, values: list[float], *, single: bool = False) -> Term:
    return Term(np.array([100 * weight]), mean_of(values, single=single))


def sum_ends(score: float, *parts: list[Term], folds: bool = False) -> tuple[float, float]:
    low, high = sum_limits(np.array([score]), [addend_of(terms) for terms in parts], folds=folds)
    return float(low[0]), float(high[0])


def wilson(share: float, error: float, t: float) -> tuple[float, float]:
    lost = (t * error) ** 2 / (share * (1 - share))
    middle, half = (share + lost / 2) / (1 + lost), sqrt(share * (1 - share) * lost + lost**2 / 4) / (1 + lost)
    return 100 * (middle - half), 100 * (middle + half)


def test_sum_of_two_datasets_by_hand() -> None:
    # 0.3 x 60 + 0.7 x 80 = 74. Variances 0.24 / 9 and 0.16 / 19, weighed by 0.09 and 0.49.
    first, second = 0.09 * 0.24 / 9, 0.49 * 0.16 / 19
    t = stats.t.ppf(0.975, (first + second) ** 2 / (first**2 / 9 + second**2 / 19))
    parts = [term(0.3, [1.0] * 6 + [0.0] * 4, single=True)], [term(0.7, [1.0] * 16 + [0.0] * 4, single=True)]
    assert sum_ends(74.0, *parts) == pytest.approx(wilson(0.74, sqrt(first + second), t))


def test_a_dataset_without_variance_adds_half_a_cluster() -> None:
    # Of 20 right ones, half a wrong one: 0.5 / 21.
    half, other = 0.25 * (0.5 / 21) * (20.5 / 21) / 20, 0.25 * 0.24 / 9
    t = stats.t.ppf(0.975, (half + other) ** 2 / (half**2 / 19 + other**2 / 9))
    found = sum_ends(80.0, [term(0.5, [1.0] * 20, single=True)], [term(0.5, [1.0] * 6 + [0.0] * 4, single=True)])
    assert found == pytest.approx(wilson(0.8, sqrt(half + other), t))


def test_sums_of_what_does_not_vary() -> None:
    # All right, 10 of 10 twice at half the weight each, are as 20 of 20; t has 18 degrees: 2.100922.
    found = sum_ends(100.0, *([term(0.5, [1.0] * 10, single=True)] for _ in range(2)))
    assert found == pytest.approx((100 * 20 / (20 + 2.100922**2), 100.0), abs=1e-4)


def test_metrics_of_a_dataset_vary_together() -> None:
    values = [0.2, 0.9, 0.4, 0.8, 0.6, 0.1]
    low, high = ends(mean_of(values))
    assert sum_ends(50.0, [term(0.4, values), term(0.6, values)]) == pytest.approx((100 * low, 100 * high))
    # A metric and its reverse have the same sum whatever is drawn.
    assert sum_ends(50.0, [term(0.5, values), term(0.5, [1 - value for value in values])]) == pytest.approx((50, 50), abs=1e-6)
    # So have a metric and itself, where less of the second is better.
    assert sum_ends(50.0, [term(0.5, values), term(-0.5, values)]) == pytest.approx((50, 50), abs=1e-6)


def test_what_counts_for_nothing_takes_no_part() -> None:
    values, one = [0.2, 0.9, 0.4], spread_of(np.array([1.0]), np.array([[np.nan]]), SHARE, ANSWERS)
    nothing = Term(np.zeros(1), one)
    assert sum_ends(50.0, [term(1.0, values)], [nothing]) == pytest.approx(sum_ends(50.0, [term(1.0, values)]))
    assert sum_ends(50.0, [term(1.0, values), Term(np.zeros(1), one)])[0] > 0
    assert all(map(isnan, sum_ends(50.0, [term(0.5, values)], [Term(np.array([50.0]), one)])))


def test_sums_that_fold_are_students() -> None:
    values = [0.9, 1.0, 0.8, 1.0, 0.95, 0.7]
    low, high = stats.t.interval(0.95, 5, loc=np.mean(values), scale=stats.sem(values))
    assert high > 1
    assert sum_ends(100 * float(np.mean(values)), [term(1.0, values)], folds=True) == pytest.approx((100 * low, 100.0))


def test_standard_error_is_that_of_a_mean() -> None:
    values = [2.0, 3.0, 5.0, 4.0]
    assert mean_of(values, (1.0, 5.0)).standard_error[0] == pytest.approx(stats.sem(values))
    assert mean_of([1.0, 0.0, 1.0], single=True).standard_error[0] == pytest.approx(stats.sem([1, 0, 1]))
    assert mean_of(values, None).standard_error[0] == pytest.approx(stats.sem(values))


def test_degrees_of_single_answers_are_not_counted() -> None:
    assert mean_of([1.0, 0.0, 1.0], single=True).df[0] == inf
    assert mean_of([1.0, 0.0, 0.5]).df[0] == 2


def test_one_cluster_above_the_others_leaves_no_more() -> None:
    # As above, from the other side: nine at 0 and one at 0.1.
    low, high = ends(mean_of([*[0.0] * 9, 0.1]))
    assert (low, high) == pytest.approx((0.0, 5.117354 / 15.117354), abs=1e-6)


def test_unequal_weights_leave_fewer_clusters() -> None:
    # 1 / (0.81 / 10 + 0.01 / 10) = 12.195; the variances are as 0.81 to 0.01, so t has 9 x 0.82^2 / 0.6562 = 9.2222 degrees.
    found = sum_ends(100.0, [term(0.9, [1.0] * 10, single=True)], [term(0.1, [1.0] * 10, single=True)])
    effective, t = 1 / 0.082, stats.t.ppf(0.975, 9 * 0.82**2 / 0.6562)
    assert found == pytest.approx((100 * effective / (effective + t**2), 100.0))


def test_what_counts_downwards_counts_as_much() -> None:
    alike = [0.5] * 6
    assert addend_of([term(0.5, alike), term(-0.5, alike)]).points[0] == pytest.approx(100)
    assert addend_of([term(-0.5, alike)]).variance[0] == addend_of([term(0.5, alike)]).variance[0] > 0
