"""One paired difference over clusters: against scipy, by hand, and what is left undecided."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from tasks.statistics.paired import Answer, Stratum, compare_pairs, compare_strata, standard_error
from tasks.statistics.resampling import Floats, LeaveOneOut


def test_one_pair_per_cluster_is_the_paired_t_test() -> None:
    given = np.array([0.3, -0.1, 0.4, nan, 0.2, 0.0, 0.5])
    difference, whole = compare_pairs(given, 0.5, 4.0), given[np.isfinite(given)]
    theirs = ttest_1samp(whole, 0)
    low, high = theirs.confidence_interval(0.95)
    assert (difference.n, difference.margin) == (6, 0.5)
    of_test = difference.mean, difference.p_value, difference.ci_low, difference.ci_high, difference.df
    assert of_test == pytest.approx((1.3 / 6, theirs.pvalue, low, high, 5))
    assert (difference.low_90, difference.high_90) == pytest.approx((*theirs.confidence_interval(0.9),))
    sides = ttest_1samp(whole, -0.5, alternative="greater").pvalue, ttest_1samp(whole, 0.5, alternative="less").pvalue
    assert difference.p_equivalent == pytest.approx(max(sides))
    assert difference.smallest_detectable == pytest.approx((t.ppf(0.975, 5) + t.ppf(0.8, 5)) * whole.std(ddof=1) / sqrt(6))


# Half of 1,002 clusters lie 3.16 above the mean and half below it: the error is 3.16 / sqrt(1001) = 0.1, and the 90 % interval
# is 1.645 errors on either side.
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
    difference = compare_pairs(mean + np.repeat([-1.0, 1.0], 501) * 0.1 * sqrt(1001), margin, 100.0)
    assert difference.standard_error == pytest.approx(0.1)
    assert difference.answer == answer
    assert difference.differs == (answer in {"different", "both"})
    within = -margin < (difference.low_90 or 0) and (difference.high_90 or 0) < margin
    assert within == (answer in {"equivalent", "both"})


def test_fewer_than_five_clusters_decide_nothing() -> None:
    four, five = (compare_pairs(np.array([3.0, 3.1, 2.9, 3.0, 3.0][:n]), 1.0, 100.0) for n in (4, 5))
    assert (four.answer, four.ci_low, four.p_value, four.is_tested) == ("undecided", None, None, False)
    assert (four.mean, four.df) == pytest.approx((3.0, 3))
    assert (five.answer, five.is_tested) == ("different", True)
    assert compare_pairs(np.array([nan]), 1.0, 100.0).mean is None
    assert compare_strata([], 1.0, 100.0).answer == "undecided"


def test_no_variance_is_no_certainty() -> None:
    # Of 20 clusters none differs: up to 1 - 0.05 ** (1 / 20) = 13.9 % of all may, by 100 points each.
    alike = compare_pairs(np.zeros(20), 1.0, 100.0)
    assert (alike.mean, alike.answer) == (0.0, "undecided")
    assert (alike.low_90, alike.high_90, alike.p_value) == pytest.approx((-13.9108, 13.9108, 1.0), abs=1e-4)
    assert (alike.ci_high or 0) > 13.9
    # Below 1 % first with 299: 0.05 ** (1 / 299) = 0.990031.
    assert [compare_pairs(np.zeros(n), 1.0, 100.0).answer for n in (298, 299)] == ["undecided", "equivalent"]
    # All fell by half of what is possible: not by chance.
    assert compare_pairs(np.full(20, -50.0), 1.0, 100.0).answer == "different"


def test_a_single_cluster_that_differs_is_no_estimate() -> None:
    # One of 300 differs by 100: the jackknife has 1 / 3 of a point, the limit of none seen is 0.9936 points.
    given = np.zeros(300)
    given[7] = 100.0
    limit = 100 * (1 - 0.05 ** (1 / 300)) / t.ppf(0.95, 299)
    assert compare_pairs(given, 1.0, 100.0).standard_error == pytest.approx(limit)
    # Two of them are.
    given[8] = -100.0
    assert compare_pairs(given, 1.0, 100.0).standard_error == pytest.approx(given.std(ddof=1) / sqrt(300))


def test_variances_of_parts_add() -> None:
    # One part of 6 clusters with the error 2, one of 11 with the error 1, weighed 1/4 and 3/4.
    ends = [np.repeat([-2.0, 2.0], 3) * sqrt(5), np.append(np.repeat([-1.0, 1.0], 5), 0) * sqrt(11)]
    parts = [Stratum(weight, 10.0, 10 - off / (len(off) - 1)) for weight, off in zip((0.25, 0.75), ends, strict=True)]
    difference = compare_strata(parts, 1.0, 100.0)
    variances = 0.25, 0.5625
    assert (difference.n, difference.mean) == (17, 10)
    assert difference.standard_error == pytest.approx(sqrt(sum(variances)))
    # Satterthwaite: (a + b) ** 2 / (a ** 2 / 5 + b ** 2 / 10).
    assert difference.df == pytest.approx(sum(variances) ** 2 / (0.25**2 / 5 + 0.5625**2 / 10))


def test_clusters_of_unlike_size() -> None:
    # Sums 3, 0 and 1 of 3, 2 and 1 items: 4 / 6. Without one each: 1 / 3, 4 / 4, 3 / 5.
    left_out = np.array([1 / 3, 1.0, 0.6])
    assert standard_error(left_out, 1.0) == pytest.approx(sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum()))


def test_sums_without_one_cluster() -> None:
    matrix: Floats = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 1.0]])
    assert (matrix @ LeaveOneOut(3)).tolist() == [[6, 5, 3], [2, 1, 1]]
    # Columns 0 and 2 are of cluster 1, column 1 of cluster 0.
    columns = LeaveOneOut(2, np.array([1, 0, 1]))
    assert (matrix @ columns).tolist() == [[5, 2], [1, 1]]
    assert (matrix[:, [0, 1]] @ columns[np.array([0, 1])]).tolist() == [[1, 2], [0, 1]]


def test_a_stratum_of_one_cluster_leaves_a_sum_untested() -> None:
    many = Stratum(0.5, 10.0, np.array([9.0, 11.0, 10.5, 9.5, 10.0, 10.0, 8.0, 12.0]))
    assert compare_strata([many], 1.0, 100.0).is_tested
    both = compare_strata([many, Stratum(0.5, 4.0, np.array([np.nan]))], 1.0, 100.0)
    assert (both.mean, both.is_tested, both.answer) == (7.0, False, "undecided")
    assert not compare_strata([many, Stratum(0.5, 4.0, np.array([4.0]))], 1.0, 100.0).is_tested
