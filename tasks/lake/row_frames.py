"""Turn rows, made one by one as objects of Python, into a frame with the columns of a layer."""

from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import polars as pl
import pyarrow as pa


def frame_of_rows(rows: Sequence[Mapping[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    """Return the rows as a frame, by way of Arrow: Polars makes a series of every list, which takes ten times as long.

    Args:
        rows: each with a value for every column, null or not; what the schema has not is left out.
        schema: names and types of the columns.

    Raises:
        KeyError: a row lacks a column.
        pyarrow.ArrowException: a value is of another type than its column.
        polars.exceptions.InvalidOperationError: a text is none of its column's words.
    """
    if not rows:
        return pl.DataFrame(schema=schema)
    types = _arrow_schema(*schema.items())
    columns = [pa.array(list(map(itemgetter(field.name), rows)), field.type) for field in types]
    return pl.DataFrame(pa.table(columns, schema=types)).cast(schema)


@cache
def _arrow_schema(*columns: tuple[str, pl.DataType]) -> pa.Schema:
    return pl.Schema({name: _with_texts(dtype) for name, dtype in columns}).to_frame().to_arrow().schema


def _with_texts(dtype: Any) -> Any:
    """Return the type with texts in place of words to choose from: Arrow takes any text for a word."""
    match dtype:
        case pl.Enum():
            return pl.String()
        case pl.List():
            return pl.List(_with_texts(dtype.inner))
        case pl.Struct():
            return pl.Struct({field.name: _with_texts(field.dtype) for field in dtype.fields})
    return dtype
