"""The lake: atomic writes of partitions, validated reads, look-up by fingerprint.

A complete partition is `<layer>/<key=value>/.../<fingerprint>.parquet` and is never written twice. A partition in which calls
failed is `<fingerprint>.incomplete.<number>.<content>.parquet`: the next run asks the failed calls again; older runs keep the
file they use. The number says which is the newest: clocks are set, and copies have other times.

What the disk or the object store refuses is a LakeError, and so is a file that is gone, damaged or changed.
"""

from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

import dataframely as dy
import polars as pl
import pyarrow.parquet as pq
from pydantic import ValidationError

from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.lineage import CodeVersion, Footer, PartitionKey, PartitionRef
from schemas.printing import tell
from schemas.tables.columns import measured_columns
from schemas.tables.items import RejectedItems
from tasks.lake.columns import as_now, columns_of, differing, is_of_now, key_with_columns, other_columns, tell_other_columns
from tasks.lake.files import create_file, footer_source, parquet_source, prove_writable, replace_file, untrusted, unwritable
from tasks.lake.frames import KeptFrames, described, sort_keys, unreadable
from tasks.lake.local_state import state_folder
from tasks.lake.partitions import canonical_json, content_sha256, incomplete_name, newest_incomplete, place_of, rejected_path

SchemaT = TypeVar("SchemaT", bound=dy.Schema)
_FOOTER_KEY = "moodflow"
_CHECKED = KeptFrames(32 * 2**20)
"""Rows that this process wrote or checked, by the hashes of their file's bytes and of themselves and the layer's schema.

The same bytes hold the same rows, and are hashed in a fraction of the time that their rows take.
"""


class Lake:
    """Parquet layers under one folder, on a disk or in an object store."""

    def __init__(self, root: Folder, code: CodeVersion) -> None:
        self.root = root
        self.code = code
        # Of an object store, where each look takes a request; whoever reads a partition checks it.
        self._complete_refs: dict[str, PartitionRef] = {}
        self._rejected: dict[str, pl.DataFrame | None] = {}

    def __reduce__(self) -> tuple[type["Lake"], tuple[Folder, CodeVersion]]:
        # Where this is sent, another folder is the current one.
        return Lake, (self.root.absolute() if isinstance(self.root, Path) else self.root, self.code)

    @property
    def state(self) -> Path:
        """Folder on this machine of what an object store cannot hold: journal, embeddings, findings about models."""
        return state_folder(self.root)

    def require_writable(self) -> None:
        """Create the folder if needed and prove that files can be written there."""
        with unwritable("the lake folder cannot be written", self.root):
            prove_writable(self.root)

    def find(self, key: PartitionKey) -> PartitionRef | None:
        """Return the complete partition of this key, if it exists and its footer agrees.

        Where its file has columns of another version, that is the partition next to it, with those of this one.
        """
        if ref := self._complete_refs.get(key.fingerprint):
            return ref
        path = self._file(key)
        if (metadata := _metadata(path)) is None:
            return None
        ref = _reference(path, metadata, key)
        if not is_of_now(metadata, key.layer):
            if (beside := key_with_columns(key)) == key:
                raise untrusted(path, "the columns that its settings name", "others")
            if (ref := self.find(beside)) is None:
                tell_other_columns(key.layer, str(self.root))
        if ref and not isinstance(path, Path):
            self._complete_refs[key.fingerprint] = ref
        return ref

    def find_latest(self, key: PartitionKey) -> PartitionRef | None:
        """Return the complete partition, else the newest incomplete one, else None."""
        if complete := self.find(key):
            return complete
        newest = newest_incomplete(self.root / place_of(key), key.fingerprint)
        metadata = _metadata(newest) if newest else None
        return _reference(newest, metadata, key) if newest and metadata else None

    def write(self, key: PartitionKey, frame: pl.DataFrame, schema: type[dy.Schema], *, complete: bool = True) -> PartitionRef:
        """Validate, sort by primary key and write one partition atomically; rows that break the schema are a programming error.

        `complete` is false if failed calls left rows to be asked again.
        """
        return self._write_rows(self._key_to_write(key), as_written(frame, schema), schema, complete=complete)

    def write_rejected(self, key: PartitionKey, rejected: pl.DataFrame) -> PartitionRef:
        """Write rows that broke a rule to the layer's `<layer>_rejected` sibling."""
        sibling = self._key_to_write(key).model_copy(update={"layer": f"{key.layer}_rejected"})
        return self._write_rows(sibling, rejected, RejectedItems, complete=True)

    def _file(self, key: PartitionKey) -> Folder:
        """Return where the complete partition of a key is."""
        return self.root / place_of(key) / f"{key.fingerprint}.parquet"

    def _key_to_write(self, key: PartitionKey) -> PartitionKey:
        """Return the key itself, or where its file has columns of another version, which needs it, that of a file next to it."""
        path = self._file(key)
        try:
            metadata = _metadata(path)
        except LakeError:  # damaged, so it is written again
            return key
        if metadata is None or is_of_now(metadata, key.layer):
            return key
        return key_with_columns(key)

    def read(self, ref: PartitionRef, schema: type[SchemaT]) -> dy.DataFrame[SchemaT]:
        """Read a partition, checked by its content hash: rows that have it were validated when they were written.

        What this process wrote or read before is checked by the hash of the file's bytes.
        """
        encoded = self._read_bytes(ref)
        proof = (sha256(encoded).hexdigest(), ref.content_sha256, schema)
        if (kept := _CHECKED.get(proof)) is not None:
            return cast("dy.DataFrame[SchemaT]", kept)
        rows = _decode(self.path(ref), encoded, schema)
        if proof not in _CHECKED or rows.schema != columns_of(schema):
            self._check_rows(ref, schema, rows)
            rows = rows.select(columns_of(schema).names())  # those added since stand last
        _CHECKED.put(proof, rows)
        return cast("dy.DataFrame[SchemaT]", rows)

    def _check_rows(self, ref: PartitionRef, schema: type[dy.Schema], rows: pl.DataFrame) -> None:
        """Raise LakeError if the rows are not those that were written, or their columns not those of the layer."""
        measured = [name for name in measured_columns(schema) if name in rows.columns]
        got = content_sha256(rows, measured)
        # Another version may have left its own columns out of the hash.
        own = content_sha256(rows, [*measured, *(name for name in rows.columns if name not in columns_of(schema))])
        if ref.content_sha256 not in {got, own}:
            raise untrusted(self.path(ref), f"content {ref.content_sha256[:12]}", f"content {got[:12]}")
        if differing(rows.schema, schema):
            raise other_columns(self.path(ref), ref, rows.schema, schema, self.read_footer(ref))

    def read_all(self, refs: Sequence[PartitionRef], schema: type[dy.Schema]) -> pl.DataFrame:
        """Return the rows of partitions in their order, checked by their content hashes.

        Thousands of small ones are read at once: polars takes a millisecond and more for each.
        """
        rows = _read_together(self.root, refs, schema) if isinstance(self.root, Path) else None
        # One is damaged.
        return pl.concat([self.read(ref, schema) for ref in refs]) if rows is None else rows

    def path(self, ref: PartitionRef) -> Folder:
        """Return the path of a partition's file."""
        return self.root / ref.path

    def read_rows(self, ref: PartitionRef) -> pl.DataFrame:
        """Return the rows of a partition as its file has them, not validated."""
        return _decode(self.path(ref), self._read_bytes(ref))

    def read_rejected(self, ref: PartitionRef) -> pl.DataFrame | None:
        """Return the rows that broke a rule when a partition was written; null if none did."""
        if ref.fingerprint not in self._rejected:
            path = self.root / rejected_path(ref)
            self._rejected[ref.fingerprint] = _decode(path, path.read_bytes()) if path.exists() else None
        return self._rejected[ref.fingerprint]

    def _read_bytes(self, ref: PartitionRef) -> bytes:
        path = self.path(ref)
        with unreadable(path):
            return path.read_bytes()

    def read_footer(self, ref: PartitionRef) -> Footer:
        """Return what a partition's file says of itself."""
        path = self.path(ref)
        with unreadable(path):
            return _footer_of(path, pq.read_metadata(footer_source(path) or parquet_source(path)))

    def file_sha256(self, ref: PartitionRef) -> str:
        """Return the hash of a file's bytes: of measured columns, footer and padding too, which no content hash covers."""
        return sha256(self._read_bytes(ref)).hexdigest()

    def _write_rows(self, key: PartitionKey, rows: pl.DataFrame, schema: type[dy.Schema], *, complete: bool) -> PartitionRef:
        measured = measured_columns(schema)
        content, folder = content_sha256(rows, measured), place_of(key)
        name = f"{key.fingerprint}.parquet" if complete else incomplete_name(self.root / folder, key.fingerprint, content)
        ref = PartitionRef(
            layer=key.layer,
            place=key.place,
            fingerprint=key.fingerprint,
            path=f"{folder}/{name}",
            rows=rows.height,
            content_sha256=content,
            complete=complete,
            parents=key.parents,
        )
        path = self.path(ref)
        if self._holds(ref, measured):
            # Manifests name the bytes on disk, which other measurements would change.
            return ref
        footer = {
            "partition": ref.model_dump(mode="json"),
            "settings": key.settings,
            "package_version": self.code.package,
            "git_commit": self.code.git_commit,
        }
        # Polars tells a full disk in ways of its own, some of which do not say so: it does not write to the disk itself.
        buffer = BytesIO()
        metadata = {_FOOTER_KEY: canonical_json(footer)}
        # Whoever looks for a few items reads no more of a large partition than their groups of rows.
        rows.write_parquet(buffer, metadata=metadata, arrow_schema=described(rows, schema), row_group_size=2_000)
        encoded = buffer.getbuffer()
        with unwritable("a partition cannot be written", path):
            if not complete:
                replace_file(path, encoded)
            elif not create_file(path, encoded):
                # Another machine was faster: what it was answered is what both go on with.
                return self.find(key) or ref
        _CHECKED.put((sha256(encoded).hexdigest(), content, schema), rows)
        return ref

    def _holds(self, ref: PartitionRef, measured: tuple[str, ...]) -> bool:
        """Return whether the file of a partition is there and intact; one that is damaged is to be written anew."""
        if not self.path(ref).exists():
            return False
        try:
            same = content_sha256(self.read_rows(ref), measured) == ref.content_sha256
            return same and self.read_footer(ref).partition == ref
        except LakeError as error:
            tell(f"{error.what} and is written again: {error.where} ({error.got})")
            return False


def _metadata(path: Folder) -> pq.FileMetaData | None:
    """Return what the end of a partition's file says; null if it is not there, or empty."""
    with unreadable(path):
        source = footer_source(path)
        return pq.read_metadata(source) if source else None


def _reference(path: Folder, metadata: pq.FileMetaData, key: PartitionKey) -> PartitionRef:
    ref = _footer_of(path, metadata).partition
    if ref.fingerprint != key.fingerprint or ref.rows != metadata.num_rows:
        raise untrusted(path, f"fingerprint {key.fingerprint[:12]}", f"{ref.fingerprint[:12]} with {metadata.num_rows} rows")
    return ref


def _footer_of(path: Folder, metadata: pq.FileMetaData) -> Footer:
    try:
        return Footer.model_validate_json((metadata.metadata or {}).get(_FOOTER_KEY.encode(), b""))
    except ValidationError as error:
        raise untrusted(path, "a footer written by MoodFlow", "none that can be read") from error


def as_written(frame: pl.DataFrame, schema: type[dy.Schema]) -> pl.DataFrame:
    """Return the rows as they are written to a layer: validated, sorted by the primary key."""
    try:
        # In one query, which takes two thirds of the time of one that could say which rows break a rule.
        valid = schema.validate(frame.lazy(), eager=False).collect()
    except pl.exceptions.ComputeError:
        valid = schema.validate(frame)
    return valid.sort(sort_keys(schema.primary_key()))


def _decode(path: Folder, encoded: bytes, schema: type[dy.Schema] | None = None) -> pl.DataFrame:
    with unreadable(path):
        return as_now(pl.read_parquet(BytesIO(encoded), hive_partitioning=False), schema)


def _read_together(lake: Path, refs: Sequence[PartitionRef], schema: type[dy.Schema]) -> pl.DataFrame | None:
    try:
        stored = pl.read_parquet([lake / ref.path for ref in refs], hive_partitioning=False, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return None
    rows = as_now(stored, schema)
    if rows.schema != columns_of(schema) or rows.height != sum(ref.rows for ref in refs):
        return None
    encoded = BytesIO()
    rows.drop(measured_columns(schema)).write_ndjson(encoded)
    lines = iter(encoded.getvalue().splitlines(keepends=True))
    intact = all(sha256(b"".join(islice(lines, ref.rows))).hexdigest() == ref.content_sha256 for ref in refs)
    return rows if intact else None
