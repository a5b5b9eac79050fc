"""Sum exactly, so that the order of rows does not matter.

Adding floats gives other last bits in another order, and with it on another number of threads. Scores are therefore added as
128-bit fixed-point numbers, whose addition is exact.
"""

import polars as pl

_FRACTION_BITS, _LOW_BITS = 60, 33


def exact_sum(values: pl.Expr) -> pl.Expr:
    """Sum the values that are not null, 0 if there are none, to the same last bit for any order, chunking and number of threads.

    Args:
        values: floats below 2**66 in size; bits finer than 2**-60 are dropped, which leaves shares in [2**-8, 1] exact.
    """
    return from_fixed_point((values * 2.0**_FRACTION_BITS).cast(pl.Int128).sum())


def fixed_point_sum(values: pl.Expr) -> pl.Expr:
    """Return the sum that `exact_sum` has, as a whole number, so that sums of sums are exact too.

    Takes less than half the time: the high and the low bits of the values are each added as whole floats, exact below 2**53.

    Args:
        values: floats, at most 2**20 of them in a group, their sizes adding up to less than 2**26.
    """
    whole = (values * 2.0**_FRACTION_BITS).truncdiv(1.0)
    low = whole % 2.0**_LOW_BITS
    return (whole - low).sum().cast(pl.Int128) + low.sum().cast(pl.Int128)


def from_fixed_point(total: pl.Expr) -> pl.Expr:
    """Return sums of `fixed_point_sum` as Float64."""
    return total.cast(pl.Float64) / 2.0**_FRACTION_BITS


def sum_by(rows: pl.LazyFrame, key: list[str], **sums: pl.Expr) -> pl.LazyFrame:
    """Sum per group; faster than a plain group-by where the rows of a group follow each other, as those of the lake do.

    Neighbours with the same key are summed first: rows are compared with the one before, and only the sums are hashed. `sums`
    are exact aggregations, such as counts and `fixed_point_sum`; those of parts of a group are added.
    """
    numbered = rows.with_columns(run=pl.struct(key).rle_id()).set_sorted("run")
    runs = numbered.group_by("run").agg(pl.struct(key).first().alias("key"), **sums).unnest("key")
    return runs.group_by(key).agg(pl.col(list(sums)).sum())
