"""Student's t distribution, bit for bit that of scipy.stats, which takes a second to import."""

from math import inf, nan

import numpy as np
import pytest
from scipy.stats import t

from tasks.statistics.student import quantile, upper_tail

RATIOS = np.array([[0.0, 0.3, inf, nan], [2.2, 40.0, 1e9, -3.0]])


@pytest.mark.parametrize("df", [0, 1, 2, 7, 30, 1000])
def test_upper_tail_is_scipys(df: int) -> None:
    np.testing.assert_array_equal(upper_tail(RATIOS, df), t.sf(RATIOS, df))


def test_upper_tail_takes_degrees_of_freedom_of_each_ratio() -> None:
    each = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    np.testing.assert_array_equal(upper_tail(RATIOS, each), t.sf(RATIOS, each))


@pytest.mark.parametrize("df", [1, 2, 7, 1000])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.95, 0.975])
def test_quantile_is_scipys(share: float, df: int) -> None:
    assert quantile(share, df) == t.ppf(share, df)
