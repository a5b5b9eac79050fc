"""Read thousands of small partitions of a layer in one go: each alone takes polars a millisecond and more."""

from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import dataframely as dy
import polars as pl

from schemas.lineage import PartitionRef
from schemas.tables.columns import measured_columns
from tasks.lake.lake import Lake

FEWEST = 50
"""Partitions that are worth it; fewer are kept, so that they are not read again."""


def read_partitions(lake: Lake, refs: Sequence[PartitionRef], schema: type[dy.Schema]) -> list[pl.DataFrame]:
    """Return the rows of each partition, checked by their content hash as `Lake.read` does.

    Raises:
        LakeError: as `Lake.read`.
    """
    by_path = {ref.path: ref for ref in refs}  # runs in which nothing changed share them
    frames = _read_together(lake, list(by_path.values()), schema) if len(by_path) >= FEWEST else None
    if frames is None:  # one is damaged, or of an earlier version
        frames = [lake.read(ref, schema) for ref in by_path.values()]
    rows = dict(zip(by_path, frames, strict=True))
    return [rows[ref.path] for ref in refs]


def _read_together(lake: Lake, refs: Sequence[PartitionRef], schema: type[dy.Schema]) -> list[pl.DataFrame] | None:
    """Return the rows of each partition; null if they are not all in one place, of one form and intact."""
    paths = [path for ref in refs if isinstance(path := lake.path(ref), Path)]
    if len(paths) < len(refs):
        return None
    try:
        every = pl.read_parquet(paths, hive_partitioning=False, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return None
    if every.schema != pl.Schema(schema) or every.height != sum(ref.rows for ref in refs):
        return None
    lines = BytesIO()
    every.drop(measured_columns(schema)).write_ndjson(lines)
    texts = lines.getvalue().splitlines(keepends=True)
    frames, start = [], 0
    for ref in refs:
        if sha256(b"".join(texts[start : start + ref.rows])).hexdigest() != ref.content_sha256:
            return None
        frames.append(every.slice(start, ref.rows))
        start += ref.rows
    return frames
