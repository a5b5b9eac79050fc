"""Our own cache key: canonical JSON of what a partition is made of, hashed."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import polars as pl

from schemas.lineage import PartitionKey


def canonical_json(value: Any) -> str:
    """JSON text that is the same for equal values: sorted keys, no spaces, no NaN.

    Raises:
        ValueError: if a number is not finite.
        TypeError: if a value has no JSON form.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_settings(value: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hex digits."""
    return sha256(canonical_json(value).encode()).hexdigest()


def partition_key(
    layer: str, keys: Mapping[str, str], settings: Mapping[str, Any], parents: Sequence[str], version: str
) -> PartitionKey:
    """Key of the partition of `layer` that these settings and parents produce.

    Args:
        layer: name of the layer.
        keys: folder names and values, in order.
        settings: resolved settings that change the content; no secrets, no transport settings.
        parents: identities of the partitions it is computed from; sorted here, so order does not matter.
        version: evaluation version of the code that writes it.
    """
    resolved = {**settings, "evaluation_version": version}
    meaning = {"layer": layer, "keys": dict(keys), "settings": resolved, "parents": sorted(parents)}
    return PartitionKey(
        layer=layer,
        place=tuple(keys.items()),
        fingerprint=hash_settings(meaning),
        settings=resolved,
        parents=tuple(sorted(parents)),
    )


def content_sha256(frame: pl.DataFrame, measured: Sequence[str] = ()) -> str:
    """Hash of the rows as JSON lines, without columns that differ from run to run.

    JSON lines and not Parquet bytes: the hash then survives a new Parquet writer.
    """
    return sha256(frame.drop(measured).write_ndjson().encode()).hexdigest()
