"""Fingerprints of partitions, which hash canonical JSON of what they are made of, and the partitions that files are named by."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Any, Self
from urllib.parse import quote, unquote

import polars as pl

from schemas.errors import UsageError
from schemas.folders import Folder
from schemas.lineage import PartitionKey, PartitionRef

REJECTED = "_rejected"
"""Ends the name of a layer that holds the rows another layer refused."""

FILE_NAME = re.compile(
    r"(?P<fingerprint>[0-9a-f]{64})(?:\.incomplete\.(?P<number>[0-9]{1,15})\.(?P<content>[0-9a-f]{16}))?\.parquet"
)
"""Of a partition's file; incomplete ones of one fingerprint are numbered in the order in which they were written."""


def newest_incomplete(folder: Folder, fingerprint: str) -> Folder | None:
    """Return the incomplete partition of a fingerprint that was written last."""
    return max(folder.glob(f"{fingerprint}.incomplete.*.parquet"), key=_written_order, default=None)


def incomplete_name(folder: Folder, fingerprint: str, content: str) -> str:
    """Return the file name of an incomplete partition that is to be the newest: that of the newest, if it has this content."""
    newest = newest_incomplete(folder, fingerprint)
    if newest and newest.name.endswith(f".{content[:16]}.parquet"):
        return newest.name
    number = 1 + (_written_order(newest)[0] if newest else 0)
    return f"{fingerprint}.incomplete.{number}.{content[:16]}.parquet"


def _written_order(path: Folder) -> tuple[int, str]:
    match = FILE_NAME.fullmatch(path.name)
    return int((match and match["number"]) or 0), path.name


def rejected_path(ref: PartitionRef) -> str:
    """Return the path of the rows that were rejected when a partition was written, if any were."""
    folder = ref.path.rpartition("/")[0].partition("/")[2]
    return f"{ref.layer}{REJECTED}/{folder}/{ref.fingerprint}.parquet"


def place_of(partition: PartitionKey | PartitionRef) -> str:
    """Return layer and place, as folders are named: what all versions of a partition have in common.

    Values are percent-encoded, so that the name of a model may hold a slash.
    """
    return "/".join([partition.layer, *(f"{name}={quote(value, safe='')}" for name, value in partition.place)])


def located(path: str) -> PartitionRef | None:
    """Return what a path below the lake says of a partition, which is neither its rows nor their hash; None if it names none."""
    layer, _, below = path.partition("/")
    *folders, name = below.split("/")
    match = FILE_NAME.fullmatch(name)
    pairs = [folder.partition("=") for folder in folders]
    if not match or not all(sign for _, sign, _ in pairs):
        return None
    return PartitionRef(
        layer=layer,
        place=tuple((key, unquote(value)) for key, _, value in pairs),
        fingerprint=match["fingerprint"],
        path=path,
        rows=0,
        content_sha256=match["content"] or "",
        complete=match["content"] is None,
    )


@dataclass(frozen=True)
class Holdings:
    """Partitions of a lake by fingerprint, incomplete ones by their identity; and rejected rows by fingerprint."""

    partitions: dict[str, PartitionRef] = field(default_factory=dict)
    rejected: dict[str, PartitionRef] = field(default_factory=dict)

    @classmethod
    def of(cls, lake: Folder) -> Self:
        """Read the names of all files, and none of the files."""
        holdings = cls()
        for path in sorted(relative(path, lake) for path in lake.glob("*/**/*.parquet")):
            if (ref := located(path)) is None:
                continue
            if ref.layer.endswith(REJECTED):
                holdings.rejected[ref.fingerprint] = ref
            else:
                holdings.partitions[ref.fingerprint if ref.complete else ref.identity] = ref
        return holdings

    def find(self, identity: str) -> PartitionRef | None:
        """Return the partition that another one names so, or that has at least its fingerprint: names of files say no more."""
        return self.partitions.get(identity) or self.partitions.get(identity.partition(".")[0])

    def starting_with(self, start: str) -> PartitionRef | None:
        """Return the one partition whose fingerprint begins so; None if these digits cannot name one, or none begins so.

        A complete one stands for the incomplete ones that it replaced. Several are a UsageError.
        """
        if not re.fullmatch("[0-9a-f]{8,64}", start):  # 8 digits are shown
            return None
        begun = [ref for identity, ref in self.partitions.items() if identity.startswith(start)]
        refs = [ref for ref in begun if ref.complete or ref.fingerprint not in self.partitions]
        if len(refs) > 1:
            raise UsageError(
                f"{len(refs)} partitions match this prefix",
                expected="digits that only one begins with, or the path of a file",
                got=start,
                next_step=f"use one of {', '.join(ref.path for ref in refs[:3])}",
            )
        return refs[0] if refs else None


def relative(path: Folder, lake: Folder) -> str:
    """Return the path of a file below the lake, with slashes."""
    return str(path)[len(str(lake).rstrip("/")) :].replace("\\", "/").lstrip("/")


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

    `keys`: folder names and values, in order. `settings`: resolved ones that change the content, so no secrets and nothing about
    transport. `parents`: identities of the partitions it is computed from, in any order. `version`: of the code that writes it.
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
        self.digest.update(data)
        return len(data)
