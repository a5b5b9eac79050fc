"""Bring a pinned file into the cache of verified files: download, follow a Git LFS pointer, verify, and only then keep.

One file is taken out of an archive: zip, or tar as it is or packed with gzip, xz or bzip2.
"""

import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import Any
from urllib.parse import quote

from filelock import FileLock

from schemas.dataset import PinnedFile
from schemas.errors import SourceError, SourceMissingError
from tasks.sources.files import hash_file, hash_names, missing_source, not_the_pinned, pinned_hashes, pointer_in_place, verify
from tasks.sources.partial_file import LARGEST_BYTES, Download, DownloadError, PartialFile

LONGEST = 1024
"""A pointer is shorter than this, in bytes."""

START = b"version https://git-lfs.github.com/spec/v1"

HASH_DIGITS = 64


@dataclass(frozen=True)
class Cache:
    """Files by the hash of their content, or by a key and, inside its folder, by that hash.

    ab/abcdef...                 a pinned file, by its sha256
    unpinned/KEY/SHA256          a file pinned by its revision only, or by its md5
    members/KEY/SHA256           a file out of an archive
    incoming/incoming-NAME.part  a download that goes on where it ended; with .part.etag and .lock
    """

    folder: Path
    """Made when the first file comes."""

    def path_of(self, sha256: str) -> Path:
        """Return where the file with this content is, if it is here."""
        return self.folder / sha256[:2] / sha256

    def find(self, kind: str, key: str) -> Path | None:
        """Return the file kept under this key; its content is not looked at."""
        folder = self.folder / kind / key
        kept = [path for path in folder.iterdir() if len(path.name) == HASH_DIGITS] if folder.is_dir() else []
        return kept[0] if len(kept) == 1 else None

    def keep(self, part: Path, kind: str, key: str) -> Path:
        """Take a whole file in under this key."""
        return self.move(part, self.folder / kind / key / hash_file(part))

    def move(self, part: Path, target: Path) -> Path:
        """Take a whole file in under this path."""
        target.parent.mkdir(parents=True, exist_ok=True)
        # Inside one folder tree, so the rename is atomic: a reader sees the whole file or none.
        return part.replace(target)

    @contextmanager
    def filling(self, name: str) -> Iterator[Path]:
        """Return the partial file of this name, for one process and thread at a time; others wait until the block ends.

        The operating system frees the lock of a process that was killed.
        """
        incoming = self.folder / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        with FileLock(incoming / f"incoming-{name}.lock"):
            yield incoming / f"incoming-{name}.part"


def read_pointer(path: Path) -> str | None:
    """Return the sha256 of the file that this pointer stands for, empty if it does not say; null if this is no pointer."""
    if path.stat().st_size >= LONGEST:
        return None
    content = path.read_bytes()
    if not content.startswith(START):
        return None
    sha256 = re.search(rb"^oid sha256:([0-9a-f]{64})$", content, re.MULTILINE)
    return sha256[1].decode() if sha256 else ""


@dataclass(frozen=True)
class Addresses:
    """Servers of the hosts whose address scheme is known, without a closing slash. Tests put a server of their own in place."""

    github: str = "https://raw.githubusercontent.com"
    github_lfs: str = "https://media.githubusercontent.com/media"
    """What Git LFS keeps for github.com: there, the other address answers with a pointer file."""

    hugging_face: str = "https://huggingface.co/datasets"

    def of(self, source: PinnedFile) -> str:
        """Return the address of the file at its pinned revision; SourceMissingError: it is at a host of another scheme."""
        host, owner, name = source.repository.split("/")
        match host:
            case "github.com":
                return f"{self.github}/{owner}/{name}/{quote(source.revision)}/{quote(source.path)}"
            case "huggingface.co":
                # A revision such as refs/convert/parquet is one segment there.
                return f"{self.hugging_face}/{owner}/{name}/resolve/{quote(source.revision, safe='')}/{quote(source.path)}"
        raise SourceMissingError(
            f"{source.path} cannot be downloaded",
            where=source.repository,
            expected="a repository on github.com or a dataset on huggingface.co",
            next_step="download it and pass its folder with --mirror",
        )


NOT_KEPT = "what came was removed; fetch again, or correct revision and hash of the catalogue entry if the change is meant"


def find_cached(source: PinnedFile, cache: Cache) -> Path | None:
    """Return the file (the archive, if it is one) in the cache, its content not looked at; null if it is not there."""
    if source.sha256 is None:
        return cache.find("unpinned", revision_key(source))
    path = cache.path_of(source.sha256)
    return path if path.is_file() else None


def verify_cached(source: PinnedFile, path: Path) -> None:
    """Check a file of the cache, which is named by its sha256; ChecksumError: it is not what was kept."""
    verify(path, {**pinned_hashes(source), "sha256": path.name})


def revision_key(source: PinnedFile) -> str:
    """Return the key of a file that no sha256 pins."""
    return hash_names(source.repository, source.revision, source.path)


def fetch(source: PinnedFile, cache: Cache, download: Download, addresses: Addresses) -> Path:
    """Return a file's path in the cache, where it is put if it is not there yet.

    Calls for the same file at once, from other processes too, make one download. SourceMissingError: it cannot be downloaded;
    ChecksumError: what came is not the pinned file, and has been removed.
    """
    url = addresses.of(source)
    try:
        with cache.filling(source.sha256 or revision_key(source)) as part:
            # Another process may have fetched it while this one waited for its turn.
            if cached := find_cached(source, cache):
                verify_cached(source, cached)
                return cached
            whole = _download(source, part, download, addresses)
            if source.sha256 is None:
                return cache.keep(whole, "unpinned", revision_key(source))
            return cache.move(whole, cache.path_of(source.sha256))
    except (DownloadError, OSError) as error:
        raise missing_source(source, f"{type(error).__name__} at {url}: {error}") from error


def _download(source: PinnedFile, part: Path, download: Download, addresses: Addresses) -> Path:
    """Return what came, verified; of a pointer what it stands for."""
    url, hashes = addresses.of(source), pinned_hashes(source)
    download(url, part)
    if (pointed := read_pointer(part)) is not None:
        PartialFile(part).discard()
        # Another name: the next attempt asks for the pointer again and must not take these bytes for a part of it.
        part = part.with_name(f"{part.name}.lfs")
        if not source.repository.startswith("github.com/"):
            raise pointer_in_place(source, url)  # other hosts resolve pointers themselves
        lfs_url = replace(addresses, github=addresses.github_lfs).of(source)
        if source.sha256 and pointed and source.sha256 != pointed:
            raise not_the_pinned(lfs_url, f"sha256 {source.sha256}", f"sha256 {pointed} (in the Git LFS pointer)", NOT_KEPT)
        url, hashes = lfs_url, {**hashes, "sha256": source.sha256 or pointed or None}
        download(url, part)
    try:
        if pointed is not None and read_pointer(part) is not None:
            raise pointer_in_place(source, url)
        verify(part, hashes, url, NOT_KEPT)
    except SourceError:
        PartialFile(part).discard()
        raise
    return part


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
    """Write the content of one member to `target`, which may hold a part after an error; nothing else is written anywhere.

    Which kind the archive is shows in its first bytes, not in its name. SourceError: there is not exactly one such member, it is
    no regular file, it is too large, or the archive cannot be read.
    """
    refused = partial(_refused, archive, member)
    try:
        with _find_members(archive, PurePosixPath(member)) as members:
            if len(members) != 1:
                got = f"{len(members)} members of this name"
                raise refused("one such member", got, "correct the member's path in the catalogue entry")
            size, open_member = members[0]
            if open_member is None:
                raise refused("a regular file", "a folder, a link or a device", "give the file itself as member")
            if size > LARGEST_BYTES:
                got = f"{size} bytes unpacked"
                raise refused(f"at most {LARGEST_BYTES} bytes", got, "give the unpacked file as one of your own")
            with open_member() as content, target.open("wb") as stream:
                copyfileobj(content, stream)
    except BROKEN as error:
        got = f"{type(error).__name__}: {error}"
        raise refused("a complete zip or tar archive without a password", got, "download the archive again") from error


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
        f"{member} cannot be extracted from its archive",
        where=f"{archive}, member {member}",
        expected=expected,
        got=got,
        next_step=next_step,
    )
