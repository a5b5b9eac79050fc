"""Rows that an earlier version wrote, as their layer is now."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.columns import EARLIER, former_names


def with_present_names(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the present names of their columns."""
    former = {was: name for name, was in former_names(schema).items() if name not in frame.columns}
    return frame.rename(former, strict=False)


def with_present_types(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return closed sets of words as they are now, and lists of structs with the fields these have got since, null there.

    A partition written before a word was added still holds none but known words. Structs that lost a field are left.

    Raises:
        InvalidOperationError: a word is not in its set any more.
    """
    kinds = pl.Schema(schema)
    known = {name: was for name, was in frame.schema.items() if name in kinds}
    words = [name for name, was in known.items() if isinstance(was, pl.Enum) and isinstance(kinds[name], pl.Enum)]
    structs = [name for name, was in known.items() if set() < _fields(was) < _fields(kinds[name])]
    return frame.cast({name: kinds[name] for name in (*words, *structs)})


def _fields(kind: pl.DataType) -> set[tuple[str, Any]]:
    return set(kind.inner.to_schema().items()) if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct) else set()


def with_later_columns(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows with the columns their layer has got since they were written, as far as it says what these would be."""
    values = {name: (column.metadata or {}).get(EARLIER) for name, column in schema.columns().items()}
    later = {name: value for name, value in values.items() if name not in frame.columns and value is not None}
    types = pl.Schema(schema)
    added = frame.with_columns(value.cast(types[name]).alias(name) for name, value in later.items())
    return added.select(name for name in types if name in added.columns) if later else frame
