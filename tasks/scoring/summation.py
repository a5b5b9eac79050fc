"""Sum exactly, so that the order of rows does not matter.

Adding floats gives other last bits in another order, and with it on another number of threads. Scores are therefore added as
128-bit fixed-point numbers, whose addition is exact.
"""

import polars as pl

_FRACTION_BITS = 60


def exact_sum(values: pl.Expr) -> pl.Expr:
    """Sum of the values that are not null; 0 if there are none.

    Args:
        values: floats below 2**66 in size; bits finer than 2**-60 are dropped, which leaves shares in [2**-8, 1] exact.

    Returns:
        Float64, the same to the last bit for any order, chunking and number of threads.
    """
    fixed = (values * 2.0**_FRACTION_BITS).cast(pl.Int128)
    return fixed.sum().cast(pl.Float64) / 2.0**_FRACTION_BITS
