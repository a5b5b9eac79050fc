import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.scoring.aggregation import exact_sum, fixed_point_sum, from_fixed_point

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=200)


def summed(values: list[float | None]) -> float:
    return float(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}).select(exact_sum(pl.col("x"))).item())


@settings(deadline=None)
@given(SHARES.flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_order_does_not_matter(orders: tuple[list[float], list[float]]) -> None:
    assert summed(list(orders[0])) == summed(list(orders[1]))


@settings(deadline=None)
@given(SHARES)
def test_agrees_with_the_exact_sum(values: list[float]) -> None:
    # Each term loses less than 2**-60, the result less than one rounding.
    assert abs(Fraction(summed(list(values))) - sum(map(Fraction, values))) < len(values) * 2.0**-60 + math.ulp(sum(values))


def test_null_adds_nothing_and_nothing_sums_to_zero() -> None:
    assert summed([0.25, None, 0.5]) == 0.75
    assert summed([None]) == 0.0


def test_large_sums_do_not_overflow() -> None:
    assert summed([1e9] * 1000) == 1e12


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100) | st.none(), max_size=200), st.integers(0, 2))
def test_sums_of_sums_are_the_exact_sum(values: list[float | None], groups: int) -> None:
    rows = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}).with_row_index()
    sums = rows.group_by(pl.col("index") % (groups + 1)).agg(total=fixed_point_sum(pl.col("x")))
    total = sums.select(from_fixed_point(pl.col("total").sum())).item()
    assert total == summed(values)


@pytest.mark.parametrize(("value", "whole", "bits"), [(0.3, 5404319552844595, 54), (0.1, 7205759403792794, 56)])
def test_a_million_neighbours_are_summed_exactly(value: float, whole: int, bits: int) -> None:
    rows = pl.DataFrame({"x": pl.repeat(value, 2**20, eager=True)})
    assert rows.select(fixed_point_sum(pl.col("x"))).item() == 2**20 * whole * 2 ** (60 - bits)
