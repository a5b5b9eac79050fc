"""Files that are there as a whole or not at all: on a disk, or as objects of a store.

What the disk refuses is an OSError, and nothing is left behind then; what the object store refuses is a LakeError. The errors
about a file of the lake that cannot be written, read or trusted stand at the end.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

from fsspec.registry import register_implementation

from schemas.errors import LakeError, UsageError, summarize
from schemas.folders import Folder

TAIL_BYTES = 65_536
"""Of a Parquet object, read to know what it is; its footer takes 2 to 26 KB."""

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
}
"""So that a browser shows a report which a store hands out, and does not save it."""

# By its name: s3fs is imported when the first object is used.
register_implementation("s3", "tasks.lake.objects.ObjectStore", clobber=True)


def replace_file(path: Folder, content: bytes | memoryview) -> None:
    """Write a file and put it in place of the one that may be there; its folder is made."""
    if not isinstance(path, Path):
        _put(path, content, "overwrite")  # it is one request, so it is atomic as it is
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _in_its_place(path) as temporary:
        temporary.write_bytes(content)


def create_file(path: Folder, content: bytes | memoryview) -> bool:
    """Return whether a file was written: not if an object is there, which another machine may have put at the same time.

    On a disk it is replaced.
    """
    if isinstance(path, Path):
        replace_file(path, content)
        return True
    try:
        _put(path, content, "create")
    except FileExistsError:
        return False
    except NotImplementedError:  # a store that does not know the condition
        replace_file(path, content)
    return True


def require_absent(path: Path) -> None:
    """Raise UsageError if a file is there already."""
    if path.exists():
        raise UsageError("the file already exists", where=str(path), next_step="choose another path, or move it")


def own_pages(folder: Path, option: str, own: re.Pattern[str], always: str) -> set[str]:
    """Return the names of what an earlier command wrote into a folder; hidden files are left alone.

    `own`: names that the command writes; `always`: the one that each of its folders has. UsageError: the folder holds others.
    """
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set[str]()
    foreign = [f"it holds {name}" for name in sorted(names) if not own.fullmatch(name) or always not in names]
    if foreign or folder.is_file():
        raise UsageError(
            "the pages cannot go into this folder",
            where=f"{option} {folder}",
            expected="a new or empty folder, or one that this command wrote",
            got=foreign[0] if foreign else "a file",
            next_step="name another folder",
        )
    return names


def require_ending(path: Path, option: str, *endings: str) -> None:
    """Raise UsageError unless the name of a file to write has one of these endings."""
    if path.suffix not in endings or path.is_dir():
        raise UsageError(
            f"{path} is a folder" if path.is_dir() else f"{path} ends in no known format",
            where=option,
            expected=f"a file that ends in {' or '.join(endings)}",
            got=str(path),
            next_step=f"for example {option} {path.stem or 'file'}{endings[0]}",
        )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; what is there when the block ends takes the place of the file, whole or not at all.

    UsageError: it has no name, or the disk refuses it.
    """
    if not path.name:
        raise UsageError("a file to write has no name", where=str(path), next_step="name a file")
    try:
        with _in_its_place(path) as temporary:
            temporary.touch()
            yield temporary
    except OSError as error:
        raise UsageError("the file cannot be written", where=str(path), got=str(error), next_step="name another one") from error


def prove_writable(folder: Folder) -> None:
    """Make the folder if needed, write a file there and remove it."""
    probe = folder / f".probe-{uuid4().hex}"
    try:
        replace_file(probe, b"")
    finally:
        probe.unlink(missing_ok=True)


def parquet_source(path: Folder) -> Path | BytesIO:
    """Return what polars reads: the file itself, or the bytes of an object, fetched once."""
    return path if isinstance(path, Path) else BytesIO(path.read_bytes())


def footer_source(path: Folder) -> Path | BytesIO | None:
    """Return what footer and number of rows are read from: the file, or the end of an object; null if it is not there, or empty.

    One request says both whether an object is there and what it is.
    """
    if isinstance(path, Path):
        return path if path.exists() and path.stat().st_size else None
    store: Any = path
    try:
        tail = store.fs.cat_file(store.path, start=-TAIL_BYTES)
        size = int.from_bytes(tail[-8:-4], "little") + 8  # the footer, its length and the last four bytes
        return BytesIO(tail if size <= TAIL_BYTES else path.read_bytes())
    except FileNotFoundError:
        return None


def _put(path: Folder, content: bytes | memoryview, mode: str) -> None:
    store: Any = path
    kind = {"ContentType": CONTENT_TYPES[path.suffix]} if path.suffix in CONTENT_TYPES else {}
    store.fs.pipe_file(store.path, bytes(content), mode=mode, **kind)


@contextmanager
def _in_its_place(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that takes the place of a file when the block ends."""
    temporary = path.with_name(f".{path.stem[:16]}-{uuid4().hex}.tmp")
    try:
        yield temporary
        _flush(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    # Without this a power cut may forget the rename although the file itself is on disk.
    _flush(path.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def unwritable(what: str, where: Folder) -> Iterator[None]:
    """Turn what a disk refuses in the block into LakeError; `what` could not be done."""
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
def unreadable_document(what: str, path: Folder, next_step: str = "restore the file, or move its folder away") -> Iterator[None]:
    """Turn what keeps a document of the lake from being read in the block into LakeError; `what` cannot be read."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        got = summarize(error)
        raise LakeError(
            f"{what} cannot be read", where=str(path), expected="a file as moodflow wrote it", got=got, next_step=next_step
        ) from error


def untrusted(path: Folder, expected: str, got: str) -> LakeError:
    """Return the error about a partition that is not what it should be."""
    return LakeError(
        "a partition of the lake is damaged",
        where=str(path),
        expected=expected,
        got=got,
        next_step="move the file away and run the same command again; replies in the journal are not paid twice",
    )
