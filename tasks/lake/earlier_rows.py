"""Rows that an earlier version wrote, as their layer is now."""

import dataframely as dy
import polars as pl

from schemas.tables.columns import EARLIER


def with_present_words(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return closed sets of words as they are now: rows written before a word was added still hold none but known words.

    Raises:
        InvalidOperationError: a word is not in its set any more.
    """
    kinds = pl.Schema(schema)
    known = {name: (was, kinds[name]) for name, was in frame.schema.items() if name in kinds}
    return frame.cast({name: now for name, (was, now) in known.items() if isinstance(was, pl.Enum) and isinstance(now, pl.Enum)})


def with_later_columns(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the columns their layer has got since they were written, as far as it says what these would be."""
    values = {name: (column.metadata or {}).get(EARLIER) for name, column in schema.columns().items()}
    later = {name: value for name, value in values.items() if name not in frame.columns and value is not None}
    types = pl.Schema(schema)
    added = frame.with_columns(value.cast(types[name]).alias(name) for name, value in later.items())
    return added.select(name for name in types if name in added.columns) if later else frame
