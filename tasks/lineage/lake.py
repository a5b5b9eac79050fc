"""The lake: atomic writes of partitions, validated reads, look-up by fingerprint.

A complete partition is `<layer>/<key=value>/.../<fingerprint>.parquet` and is never written twice. A partition in which calls
failed is `<fingerprint>.incomplete.<content>.parquet`: the next run asks the failed calls again; older runs keep the file they
use.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import dataframely as dy
import polars as pl
from pydantic import ValidationError

from schemas.errors import LakeError
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lineage.files import replace_file
from tasks.lineage.fingerprint import canonical_json, content_sha256

SchemaT = TypeVar("SchemaT", bound=dy.Schema)
_FOOTER_KEY = "moodflow"


@dataclass(frozen=True)
class CodeVersion:
    """What wrote a partition."""

    package: str
    git_commit: str | None


class Lake:
    """Parquet layers under one folder."""

    def __init__(self, root: Path, code: CodeVersion) -> None:
        self.root = root
        self.code = code

    def require_writable(self) -> None:
        """Create the folder if needed and prove that files can be written there.

        Raises:
            LakeError: if they cannot.
        """
        probe = self.root / f".probe-{uuid4().hex}"
        with _io_errors("the lake folder cannot be written", self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()

    def folder(self, key: PartitionKey) -> Path:
        """Folder of a partition; values are percent-encoded, so that a model name may hold a slash."""
        return self.root.joinpath(key.layer, *(f"{name}={quote(value, safe='')}" for name, value in key.place))

    def find(self, key: PartitionKey) -> PartitionRef | None:
        """The complete partition of this key, if it exists and its footer agrees.

        Raises:
            LakeError: if the file is there and cannot be trusted.
        """
        path = self.folder(key) / f"{key.fingerprint}.parquet"
        return self._reference(path, key) if path.exists() else None

    def find_latest(self, key: PartitionKey) -> PartitionRef | None:
        """The complete partition, else the newest incomplete one, else None."""
        if complete := self.find(key):
            return complete
        candidates = list(self.folder(key).glob(f"{key.fingerprint}.incomplete.*.parquet"))
        newest = max(candidates, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)
        return self._reference(newest, key) if newest else None

    def write(self, key: PartitionKey, frame: pl.DataFrame, schema: type[dy.Schema], *, complete: bool = True) -> PartitionRef:
        """Validate, sort by primary key and write one partition atomically.

        Args:
            key: where it goes.
            frame: rows in any order.
            schema: the layer's schema; rows that break it are a programming error here.
            complete: false if failed calls left rows to be asked again.

        Raises:
            LakeError: if the disk refuses the file.
        """
        rows = schema.validate(frame).sort(schema.primary_key())
        return self._write_rows(key, rows, _measured_columns(schema), complete=complete)

    def write_rejected(self, key: PartitionKey, rejected: pl.DataFrame) -> PartitionRef:
        """Write rows that broke a rule to the layer's `<layer>_rejected` sibling."""
        sibling = key.model_copy(update={"layer": f"{key.layer}_rejected"})
        return self._write_rows(sibling, rejected, (), complete=True)

    def read(self, ref: PartitionRef, schema: type[SchemaT]) -> dy.DataFrame[SchemaT]:
        """Read a partition, validate it against its schema and its content hash.

        Raises:
            LakeError: if the file is gone, truncated, changed or no longer fits the schema.
        """
        path = self.path(ref)
        with _unreadable(path):
            frame = pl.read_parquet(path, hive_partitioning=False)
        try:
            valid = schema.validate(_with_present_words(frame, schema))
        except (dy.exc.ValidationError, dy.exc.SchemaError, pl.exceptions.InvalidOperationError) as error:
            raise _untrusted(path, f"rows of layer {ref.layer}", str(error).splitlines()[0]) from error
        got = content_sha256(valid, _measured_columns(schema))
        if got != ref.content_sha256:
            raise _untrusted(path, f"content {ref.content_sha256[:12]}", f"content {got[:12]}")
        return valid

    def path(self, ref: PartitionRef) -> Path:
        """Absolute path of a partition's file."""
        return self.root / ref.path

    def _write_rows(self, key: PartitionKey, rows: pl.DataFrame, measured: tuple[str, ...], *, complete: bool) -> PartitionRef:
        content = content_sha256(rows, measured)
        name = f"{key.fingerprint}.parquet" if complete else f"{key.fingerprint}.incomplete.{content[:16]}.parquet"
        path = self.folder(key) / name
        ref = PartitionRef(
            layer=key.layer,
            place=key.place,
            fingerprint=key.fingerprint,
            path=path.relative_to(self.root).as_posix(),
            rows=rows.height,
            content_sha256=content,
            complete=complete,
            parents=key.parents,
        )
        footer = {
            "partition": ref.model_dump(mode="json"),
            "settings": key.settings,
            "package_version": self.code.package,
            "git_commit": self.code.git_commit,
        }
        _write_atomically(path, rows, {_FOOTER_KEY: canonical_json(footer)})
        return ref

    def _reference(self, path: Path, key: PartitionKey) -> PartitionRef:
        with _unreadable(path):
            footer = pl.read_parquet_metadata(path).get(_FOOTER_KEY)
            rows = pl.scan_parquet(path, hive_partitioning=False).select(pl.len()).collect().item()
        try:
            ref = PartitionRef.model_validate(_partition_of(footer))
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            raise _untrusted(path, "a footer written by MoodFlow", "none that can be read") from error
        if ref.fingerprint != key.fingerprint or ref.rows != rows:
            raise _untrusted(path, f"fingerprint {key.fingerprint[:12]}", f"{ref.fingerprint[:12]} with {rows} rows")
        return ref


def _with_present_words(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Closed sets of words as they are now: a partition written before a word was added still holds none but known words.

    Raises:
        InvalidOperationError: a word is not in its set any more.
    """
    wanted = {name: column for name, column in pl.Schema(schema).items() if isinstance(column, pl.Enum)}
    return frame.cast({name: column for name, column in wanted.items() if isinstance(frame.schema.get(name), pl.Enum)})


def _partition_of(footer: str | None) -> Any:
    if footer is None:
        raise ValueError("no footer")
    return json.loads(footer)["partition"]


def _measured_columns(schema: type[dy.Schema]) -> tuple[str, ...]:
    return tuple(name for name, column in schema.columns().items() if (column.metadata or {}).get("measured"))


def _write_atomically(path: Path, rows: pl.DataFrame, footer: dict[str, str]) -> None:
    # Polars tells a full disk in ways of its own, some of which do not say so: it does not write to the disk itself.
    encoded = BytesIO()
    rows.write_parquet(encoded, metadata=footer)
    with _io_errors("a partition cannot be written", path):
        replace_file(path, encoded.getbuffer())


@contextmanager
def _io_errors(what: str, where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LakeError(
            what,
            where=str(where),
            expected="a folder this user may write, on a disk with space left",
            got=str(error),
            next_step="choose another folder with --lake, or free space and run again; finished partitions are kept",
        ) from error


@contextmanager
def _unreadable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _untrusted(path, "a readable Parquet file", str(error).splitlines()[0]) from error


def _untrusted(path: Path, expected: str, got: str) -> LakeError:
    return LakeError(
        "a partition of the lake is damaged",
        where=str(path),
        expected=expected,
        got=got,
        next_step="move the file away and run the same command again; replies in the journal are not paid twice",
    )
