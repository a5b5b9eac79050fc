"""Bring rows that an earlier version wrote into the present form of their layer."""

import dataframely as dy
import polars as pl

from schemas.tables.columns import EARLIER


def with_present_words(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return closed sets of words as they are now: a partition written before a word was added still holds none but known words.

    Raises:
        InvalidOperationError: a word is not in its set any more.
    """
    wanted = {name: column for name, column in pl.Schema(schema).items() if isinstance(column, pl.Enum)}
    return frame.cast({name: column for name, column in wanted.items() if isinstance(frame.schema.get(name), pl.Enum)})


def with_later_columns(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the columns their layer has got since they were written, as far as it says what these would be."""
    values = {name: (column.metadata or {}).get(EARLIER) for name, column in schema.columns().items()}
    later = {name: value for name, value in values.items() if name not in frame.columns and value is not None}
    types = pl.Schema(schema)
    added = frame.with_columns(value.cast(types[name]).alias(name) for name, value in later.items())
    return added.select(name for name in types if name in added.columns) if later else frame
