"""Marks of columns: which differ from run to run, and what rows have that were written before a column was there."""

from typing import Any

import polars as pl

MEASURED = {"measured": True}
"""Marks columns that differ from run to run (latency); they are left out of the content hash."""

EARLIER = "earlier"
"""Under this name a column's metadata holds the value of rows that were written before the layer had it."""


def since(value: pl.Expr | str | int | None) -> dict[str, Any]:
    """Mark a column that a layer has got later: rows written before have this value, or what this expression yields."""
    return {EARLIER: value if isinstance(value, pl.Expr) else pl.lit(value)}
