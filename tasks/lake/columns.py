"""Columns of stored partitions next to those that their layers have now: what can be read as it is, and what cannot."""

from base64 import b64decode
from collections.abc import Mapping
from functools import cache

import dataframely as dy
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.lineage import Footer, PartitionKey, PartitionRef
from schemas.printing import tell
from schemas.tables.columns import added_columns
from schemas.tables.layers import LAYERS
from tasks.lake.partitions import fingerprint_of, hash_settings

_ARROW_SCHEMA = b"ARROW:schema"
"""Metadata of a Parquet file: its columns as Arrow has them, closed lists among them."""


@cache
def columns_of(schema: type[dy.Schema]) -> pl.Schema:
    """Return the columns of a layer as this version has them."""
    return pl.Schema(schema)


def as_now(rows: pl.DataFrame, schema: type[dy.Schema] | None) -> pl.DataFrame:
    """Return rows of an earlier version as this one has them, as far as no value is guessed or lost.

    Earlier files have closed lists of their day. The words stay the same where the layer has text now, or a list with more words.
    Earlier files lack columns that were added since, where null says that the value is not known.
    """
    if schema is None:
        return rows
    columns = columns_of(schema)
    now = {name: columns[name] for name, kind in rows.schema.items() if name in columns and _has_words_of(columns[name], kind)}
    lacking = [name for name in added_columns(schema) if name not in rows.columns]
    return rows.cast(pl.Schema(now)).with_columns(pl.lit(None, columns[name]).alias(name) for name in lacking)


def _has_words_of(now: pl.DataType, earlier: pl.DataType) -> bool:
    """Return whether a column holds all words of an earlier, closed list."""
    if not isinstance(earlier, pl.Enum):
        return False
    return now == pl.String or (isinstance(now, pl.Enum) and set(earlier.categories) <= set(now.categories))


def differing(stored: Mapping[str, pl.DataType], schema: type[dy.Schema]) -> list[str]:
    """Return the names of columns that stored rows have otherwise than their layer, or that one of them lacks."""
    columns = columns_of(schema)
    return [name for name in {**columns, **stored} if stored.get(name) != columns.get(name)]


def is_of_now(metadata: pq.FileMetaData, layer: str) -> bool:
    """Return whether the rows of a file can be read as rows of its layer, as far as its columns tell."""
    encoded = (metadata.metadata or {}).get(_ARROW_SCHEMA)
    return layer not in LAYERS or encoded is None or not _differing_in(encoded, LAYERS[layer].schema)


@cache
def _differing_in(encoded: bytes, schema: type[dy.Schema]) -> tuple[str, ...]:
    """Return what `differing` does for the columns in a file's metadata, which thousands of files share."""
    empty = pl.DataFrame(pa.ipc.read_schema(pa.BufferReader(b64decode(encoded))).empty_table())
    return tuple(differing(as_now(empty, schema).schema, schema))


def key_with_columns(key: PartitionKey) -> PartitionKey:
    """Return the key of a partition next to a file of the key whose columns are others: its settings name the columns."""
    columns = {name: str(kind) for name, kind in columns_of(LAYERS[key.layer].schema).items()}
    settings = {**key.settings, "columns_sha256": hash_settings(columns)}
    fingerprint = fingerprint_of(key.layer, dict(key.place), settings, key.parents)
    return key.model_copy(update={"settings": settings, "fingerprint": fingerprint})


def other_columns(
    path: Folder, ref: PartitionRef, stored: Mapping[str, pl.DataType], schema: type[dy.Schema], footer: Footer
) -> LakeError:
    """Return the error about a partition whose columns this version does not read."""
    columns, names = columns_of(schema), differing(stored, schema)
    expected, got = (
        "; ".join(f"{name}: {side[name]}" if name in side else f"no {name}" for name in names) for side in (columns, stored)
    )
    return LakeError(
        "a partition of the lake was written by another version of moodflow",
        where=str(path),
        expected=f"columns of {ref.layer} as this version has them: {expected}",
        got=f"{got}; written by moodflow {footer.package_version} at {(footer.git_commit or 'no commit')[:8]}",
        next_step=_step(ref),
    )


def _step(ref: PartitionRef) -> str:
    """Return how its rows can be had in the columns of now."""
    if ref.by_people:
        return "move the file away, and import the filled-in sheets again with moodflow judges sheet RUN --import FILE"
    if ref.layer not in LAYERS:
        return "move the file away and run the same command again; replies in the journal are not paid twice"
    if LAYERS[ref.layer].written_by == "certify":
        return "run moodflow judges certify again with the same options; replies in the journal are not paid twice"
    again = "run moodflow run with the run's plan, which takes replies from the journal"
    return f"{again}; name the new run where this one would be read, as with leaderboard --run"


@cache
def tell_other_columns(layer: str, lake: str) -> None:
    """Say, once for a layer of a lake, that partitions of it cannot be used as they are."""
    tell(f"partitions of {layer} have columns of another version of moodflow, and have to be computed again: {lake}")
