"""Take one file out of an archive: zip, or tar as it is or packed with gzip, xz or bzip2."""

import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import Any

from schemas.errors import SourceError

LARGEST_BYTES = 2 * 1024**3
"""Of an unpacked member, as its archive states it."""

LARGEST_TAR_BYTES = 16 * LARGEST_BYTES
"""Of an unpacked tar archive, which must be unpacked to its end to know what is in it."""

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")

BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError),
    # zipfile's own: a password is needed, and a method of compression it does not know.
    *(RuntimeError, NotImplementedError),
)


Member = tuple[int, Callable[[], Any] | None]
"""Of an entry of an open archive: its unpacked bytes as the archive states them, never more of which are read, and what opens it.

One that cannot be opened is no regular file, but a folder, a link or a device.
"""


def extract_member(archive: Path, member: str, target: Path) -> None:
    """Write the content of one member to `target`; nothing else of the archive is written anywhere.

    Args:
        archive: which kind it is shows in its first bytes, not in its name.
        member: path inside it.
        target: overwritten; after an error it may hold a part.

    Raises:
        SourceError: there is not exactly one such member, it is no regular file, it is too large, or the archive cannot be read.
    """
    refused = partial(_refused, archive, member)
    try:
        with _find_members(archive, PurePosixPath(member)) as found:
            if len(found) != 1:
                got = f"{len(found)} members of this name"
                raise refused("one such member", got, "correct the member's path in the catalogue entry")
            size, open_member = found[0]
            if open_member is None:
                raise refused("a regular file", "a folder, a link or a device", "name the file itself as member")
            if size > LARGEST_BYTES:
                got = f"{size} bytes unpacked"
                raise refused(f"at most {LARGEST_BYTES} bytes", got, "give the unpacked file as one of your own")
            with open_member() as content, target.open("wb") as stream:
                copyfileobj(content, stream)
    except BROKEN as error:
        got = f"{type(error).__name__}: {error}"
        raise refused("a complete zip or tar archive without a password", got, "fetch the archive again") from error


@contextmanager
def _find_members(path: Path, wanted: PurePosixPath) -> Iterator[list[Member]]:
    with path.open("rb") as stream:
        is_zip = stream.read(4) in ZIP_STARTS
    if is_zip:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if PurePosixPath(info.filename) == wanted]
            yield [(info.file_size, partial(archive.open, info) if _is_regular(info) else None) for info in infos]
    else:
        with tarfile.open(path, "r:*") as tar:
            entries = [entry for entry in _list_entries(tar) if PurePosixPath(entry.name) == wanted]
            yield [(entry.size, partial(tar.extractfile, entry) if entry.isreg() else None) for entry in entries]


def _is_regular(info: zipfile.ZipInfo) -> bool:
    # The high half holds the Unix mode, or nothing if another system wrote the archive.
    return stat.S_IFMT(info.external_attr >> 16) in {0, stat.S_IFREG} and not info.is_dir()


def _list_entries(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for entry in tar:
        if entry.offset_data + entry.size > LARGEST_TAR_BYTES:
            raise tarfile.ReadError(f"unpacked it has more than {LARGEST_TAR_BYTES} bytes")
        yield entry


def _refused(archive: Path, member: str, expected: str, got: str, next_step: str) -> SourceError:
    return SourceError(
        f"{member} cannot be taken out of its archive",
        where=f"{archive}, member {member}",
        expected=expected,
        got=got,
        next_step=next_step,
    )
