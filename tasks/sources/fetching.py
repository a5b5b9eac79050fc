"""Bring a pinned file into the cache: address, download, follow a Git LFS pointer, verify, and only then keep."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import httpx

from schemas.dataset import PinnedFile
from schemas.errors import ChecksumError, SourceMissingError
from tasks.sources.answers import DownloadError
from tasks.sources.caching import Cache
from tasks.sources.checksums import hash_names, missing_source, not_the_pinned, pointer_in_place, verify, verify_pinned
from tasks.sources.downloading import Download, PartialFile

LONGEST = 1024
"""A pointer is shorter than this, in bytes."""

START = b"version https://git-lfs.github.com/spec/v1"


class Pointer(NamedTuple):
    """What the file that a pointer stands for must be; null = the pointer does not say."""

    sha256: str | None


def read_pointer(path: Path) -> Pointer | None:
    """Return the pointer that this file is, or null if it is any other file or none.

    Raises:
        OSError: the file cannot be read.
    """
    if not path.is_file() or path.stat().st_size >= LONGEST:
        return None
    content = path.read_bytes()
    if not content.startswith(START):
        return None
    sha256 = re.search(rb"^oid sha256:([0-9a-f]{64})$", content, re.MULTILINE)
    return Pointer(sha256[1].decode() if sha256 else None)


@dataclass(frozen=True)
class Addresses:
    """Servers of the hosts whose address scheme is known, without a closing slash. Tests put a server of their own in place."""

    github: str = "https://raw.githubusercontent.com"
    github_lfs: str = "https://media.githubusercontent.com/media"
    """What Git LFS keeps for github.com: there, the other address answers with a pointer file."""

    hugging_face: str = "https://huggingface.co/datasets"

    def of(self, source: PinnedFile) -> str:
        """Return the address of the file at its pinned revision.

        Raises:
            SourceMissingError: the host is one whose address scheme is not known.
        """
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
            next_step="fetch it yourself and pass its folder with --mirror",
        )

    def of_lfs(self, source: PinnedFile) -> str | None:
        """Return the address of what a pointer file stands for; null where the host resolves pointers itself."""
        host, owner, name = source.repository.split("/")
        if host != "github.com":
            return None
        return f"{self.github_lfs}/{owner}/{name}/{quote(source.revision)}/{quote(source.path)}"


NOT_KEPT = "what came was removed; fetch again, or correct revision and hash of the catalogue entry if the change is meant"


def find_fetched(source: PinnedFile, cache: Cache) -> Path | None:
    """Return the file (the archive, if it is one) in the cache, verified; null if it is not there.

    Raises:
        ChecksumError: what is there is not what was kept.
    """
    if source.sha256 is None:
        found = cache.find("unpinned", revision_key(source))
    else:
        path = cache.path_of(source.sha256)
        found = path if path.is_file() else None
    if found is not None:
        verify_pinned(found, source, str(found))
    return found


def is_fetched(source: PinnedFile, cache: Cache) -> bool:
    """Return whether the cache has the file; its content is not looked at."""
    if source.sha256 is None:
        return cache.holds("unpinned", revision_key(source))
    return cache.path_of(source.sha256).is_file()


def revision_key(source: PinnedFile) -> str:
    """Return the key of a file that no sha256 pins."""
    return hash_names(source.repository, source.revision, source.path)


def fetch(source: PinnedFile, cache: Cache, download: Download, addresses: Addresses) -> Path:
    """Return a file's path in the cache, where it is put if it is not there yet.

    Calls for the same file at once, from other processes too, make one download.

    Args:
        source: the file.
        cache: where it is kept.
        download: fetches it.
        addresses: where from.

    Raises:
        SourceMissingError: it cannot be downloaded.
        ChecksumError: what came is not the pinned file; it has been removed.
    """
    url = addresses.of(source)
    try:
        with cache.filling(source.sha256 or revision_key(source)) as part:
            # Another process may have fetched it while this one waited for its turn.
            if found := find_fetched(source, cache):
                return found
            download(url, part)
            whole = _follow_pointer(source, part, url, download, addresses)
            if source.sha256 is None:
                return cache.keep(whole, "unpinned", revision_key(source))
            return cache.move(whole, cache.path_of(source.sha256))
    except (DownloadError, httpx.HTTPError, OSError) as error:
        raise missing_source(source, f"{type(error).__name__} at {url}: {error}") from error


def _follow_pointer(source: PinnedFile, part: Path, url: str, download: Download, addresses: Addresses) -> Path:
    """Return what came, verified; of a pointer what it stands for."""
    pointer = read_pointer(part)
    if pointer is None:
        _verify_or_remove(part, source, url)
        return part
    PartialFile(part).discard()
    # Another name: the next attempt asks for the pointer again and must not take these bytes for a part of it.
    part = part.with_name(f"{part.name}.lfs")
    lfs_url = addresses.of_lfs(source)
    if lfs_url is None:
        raise pointer_in_place(source, url)
    if source.sha256 and pointer.sha256 and source.sha256 != pointer.sha256:
        raise not_the_pinned(lfs_url, source.sha256, f"{pointer.sha256} (in the Git LFS pointer)", NOT_KEPT)
    download(lfs_url, part)
    if read_pointer(part):
        PartialFile(part).discard()
        raise pointer_in_place(source, lfs_url)
    _verify_or_remove(part, source, lfs_url, pointer.sha256)
    return part


def _verify_or_remove(part: Path, source: PinnedFile, url: str, behind_pointer: str | None = None) -> None:
    try:
        verify_pinned(part, source, url, NOT_KEPT)
        if source.sha256 is None:
            verify(part, behind_pointer, url, NOT_KEPT)
    except ChecksumError:
        PartialFile(part).discard()
        raise
