"""Errors about files of a lake that cannot be written, read or trusted."""

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import LakeError, summarize
from schemas.folders import Folder


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
