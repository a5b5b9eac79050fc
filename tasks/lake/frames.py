"""Frames of rows: made from objects of Python, decoded from Parquet files, and kept for the next reader.

Apart from the errors in `files`, since the libraries whose errors are taken here take half a second to load.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from operator import itemgetter
from threading import Lock
from typing import Any

import dataframely as dy
import polars as pl
import pyarrow as pa

from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.metrics import METRICS
from tasks.lake.files import untrusted


@contextmanager
def unreadable(path: Folder) -> Iterator[None]:
    """Turn what keeps a Parquet file from being read in the block into LakeError."""
    try:
        yield
    except FileNotFoundError as error:
        raise LakeError(
            "a partition of the lake is missing",
            where=str(path),
            expected="the file of the run",
            got="no such file",
            next_step="restore it from a backup, or run its plan again; replies in the journal are not paid twice",
        ) from error
    # Bytes that no writer makes end in a panic.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException) as error:
        raise untrusted(path, "a readable Parquet file", str(error).splitlines()[0]) from error


class KeptFrames:
    """The frames used last, up to a limit of bytes, by key, from any thread.

    Of a key whose frame is no longer kept it is known that it was there.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys_seen: set[Hashable] = set()
        self._frames: OrderedDict[Hashable, tuple[pl.DataFrame, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        """Return whether a frame was ever put in under this key."""
        return key in self._keys_seen

    def get(self, key: Hashable) -> pl.DataFrame | None:
        """Return the frame of a key, which the caller may change; null if it is not kept."""
        with self._lock:
            if key not in self._frames:
                return None
            self._frames.move_to_end(key)
            return self._frames[key][0].clone()

    def put(self, key: Hashable, frame: pl.DataFrame) -> None:
        """Keep a frame in place of those that were not used for longest; one that is larger than the limit is not kept."""
        size = int(frame.estimated_size())
        with self._lock:
            self._keys_seen.add(key)
            if key in self._frames or size > self._limit:
                return
            self._frames[key] = (frame.clone(), size)
            self._size += size
            while self._size > self._limit:
                self._size -= self._frames.popitem(last=False)[1][1]


def described(rows: pl.DataFrame, schema: type[dy.Schema]) -> pa.Schema:
    """Return the Arrow schema of rows, with what the schema of their layer says of each column as the field's `description`."""
    texts = {name: column.description or "" for name, column in schema.columns().items()}
    return pa.schema(
        field.with_metadata({**(field.metadata or {}), "description": texts.get(field.name, "")})
        for field in rows.clear().to_arrow().schema
    )


def frame_of_rows(rows: Sequence[Mapping[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    """Return the rows as a frame, by way of Arrow: Polars makes a series of every list, which takes ten times as long.

    Each row has a value for every column, null or not; what the schema has not is left out.

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


def sort_keys(columns: Iterable[str]) -> list[pl.Expr]:
    """Return what rows are sorted by: these columns, of which `metric` has the order of METRICS, read for it alone (60 ms)."""
    ranks = {name: rank for rank, name in enumerate(METRICS)} if "metric" in (columns := [*columns]) else {}
    return [pl.col(name).replace_strict(ranks, default=len(ranks)) if name == "metric" else pl.col(name) for name in columns]
