"""Errors about Parquet files that cannot be read; apart, since the libraries whose errors they are take half a second to load."""

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pyarrow as pa

from schemas.errors import LakeError
from schemas.folders import Folder
from tasks.lake.errors import untrusted


@contextmanager
def unreadable(path: Folder) -> Iterator[None]:
    """Turn what keeps a Parquet file from being read in the block into LakeError."""
    try:
        yield
    except FileNotFoundError as error:
        raise LakeError(
            "a partition of the lake is gone",
            where=str(path),
            expected="the file that was written",
            got="no such file",
            next_step="restore it from a backup, or run its plan again; replies in the journal are not paid twice",
        ) from error
    except (
        OSError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        pa.ArrowException,
    ) as error:  # bytes no writer makes end in a panic
        raise untrusted(path, "a readable Parquet file", str(error).splitlines()[0]) from error
