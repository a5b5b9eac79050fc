"""Sums of floats that are the same to the last bit, in any order and on any number of threads."""

import polars as pl

_FRACTION_BITS, _LOW_BITS = 60, 33


def exact_sum(values: pl.Expr) -> pl.Expr:
    """Sum the values that are not null, 0 if there are none, to the same last bit for any order, chunking and number of threads.

    `values`: floats below 2**66 in size; bits finer than 2**-60 are dropped, which leaves shares in [2**-8, 1] exact.
    """
    return from_fixed_point((values * 2.0**_FRACTION_BITS).cast(pl.Int128).sum())


def fixed_point_sum(values: pl.Expr) -> pl.Expr:
    """Return the sum that `exact_sum` has, as a whole number, so that sums of sums are exact too.

    Takes less than half the time: the high and the low bits of the values are each added as whole floats, exact below 2**53.

    `values`: floats, at most 2**20 of them in a group, their sizes adding up to less than 2**26.
    """
    whole = (values * 2.0**_FRACTION_BITS).truncdiv(1.0)
    low = whole % 2.0**_LOW_BITS
    return (whole - low).sum().cast(pl.Int128) + low.sum().cast(pl.Int128)


def from_fixed_point(total: pl.Expr) -> pl.Expr:
    """Return sums of `fixed_point_sum` as Float64."""
    return total.cast(pl.Float64) / 2.0**_FRACTION_BITS
