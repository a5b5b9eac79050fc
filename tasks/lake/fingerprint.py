"""Fingerprints of partitions: canonical JSON of what they are made of, hashed."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any

import polars as pl

from schemas.lineage import PartitionKey


def canonical_json(value: Any) -> str:
    """Return JSON text that is the same for equal values: sorted keys, no spaces; ValueError if a number is not finite."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_settings(value: Any) -> str:
    """Return SHA-256 of the canonical JSON, as 64 hex digits."""
    return sha256(canonical_json(value).encode()).hexdigest()


def partition_key(
    layer: str, keys: Mapping[str, str], settings: Mapping[str, Any], parents: Sequence[str], version: str
) -> PartitionKey:
    """Return the key of the partition of `layer` that these settings and parents produce.

    Args:
        layer: name of the layer.
        keys: folder names and values, in order.
        settings: resolved settings that change the content; no secrets, no transport settings.
        parents: identities of the partitions it is computed from; sorted here, so order does not matter.
        version: evaluation version of the code that writes it.
    """
    resolved = {**settings, "evaluation_version": version}
    return PartitionKey(
        layer=layer,
        place=tuple(keys.items()),
        fingerprint=fingerprint_of(layer, keys, resolved, parents),
        settings=resolved,
        parents=tuple(sorted(parents)),
    )


def fingerprint_of(layer: str, keys: Mapping[str, str], settings: Mapping[str, Any], parents: Sequence[str]) -> str:
    """Return what a partition is named by; `settings` are its resolved ones, the evaluation version among them."""
    return hash_settings({"layer": layer, "keys": dict(keys), "settings": dict(settings), "parents": sorted(parents)})


def content_sha256(frame: pl.DataFrame, measured: Sequence[str] = ()) -> str:
    """Return the hash of the rows as JSON lines, without columns that differ from run to run.

    JSON lines and not Parquet bytes: the hash then survives a new Parquet writer.
    """
    lines = _Hashed()
    frame.drop(measured).write_ndjson(lines)
    return lines.digest.hexdigest()


class _Hashed(BytesIO):
    """Hashes what is written and keeps nothing of it: a partition's text is as large as the partition."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = sha256()

    def write(self, data: Any) -> int:
        """Take some bytes."""
        self.digest.update(data)
        return len(data)
