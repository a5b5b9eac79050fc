"""Rows that an earlier version wrote, as their layer is now."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.columns import EARLIER, former_names


def with_present_names(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the present names of their columns."""
    former = {was: name for name, was in former_names(schema).items() if name not in frame.columns}
    return frame.rename(former, strict=False)


def with_present_words(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return closed sets of words as they are now: a partition written before a word was added still holds none but known words.

    Raises:
        InvalidOperationError: a word is not in its set any more.
    """
    wanted = {name: column for name, column in pl.Schema(schema).items() if isinstance(column, pl.Enum)}
    return frame.cast({name: column for name, column in wanted.items() if isinstance(frame.schema.get(name), pl.Enum)})


def with_later_fields(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return lists of structs with the fields these have got since the rows were written, null there; what lost one is left."""
    wanted = {name: _fields(kind) for name, kind in pl.Schema(schema).items()}
    later = [name for name, kind in frame.schema.items() if set() < _fields(kind) < wanted.get(name, set())]
    return frame.cast({name: pl.Schema(schema)[name] for name in later})


def _fields(kind: pl.DataType) -> set[tuple[str, Any]]:
    return set(kind.inner.to_schema().items()) if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct) else set()


def with_later_columns(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the columns their layer has got since they were written, as far as it says what these would be."""
    values = {name: (column.metadata or {}).get(EARLIER) for name, column in schema.columns().items()}
    later = {name: value for name, value in values.items() if name not in frame.columns and value is not None}
    types = pl.Schema(schema)
    added = frame.with_columns(value.cast(types[name]).alias(name) for name, value in later.items())
    return added.select(name for name in types if name in added.columns) if later else frame
