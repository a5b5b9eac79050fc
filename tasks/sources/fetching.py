"""Bring a pinned file into the cache: download, follow a Git LFS pointer, verify, and only then keep."""

from dataclasses import dataclass
from pathlib import Path

import httpx

from schemas.dataset import PinnedFile
from schemas.errors import ChecksumError
from tasks.sources.addresses import Addresses
from tasks.sources.answers import DownloadError
from tasks.sources.caching import Cache
from tasks.sources.checksums import hash_names, not_the_pinned, verify, verify_pinned
from tasks.sources.downloading import Download
from tasks.sources.naming import missing_source, pointer_in_place
from tasks.sources.parts import PartialFile
from tasks.sources.pointers import Pointer, read_pointer

NOT_KEPT = "what came was removed; fetch again, or correct revision and hash of the catalogue entry if the change is meant"


def find_fetched(source: PinnedFile, cache: Cache) -> Path | None:
    """The file (the archive, if it is one) in the cache, verified; null if it is not there.

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
    """Whether the cache has the file; its content is not looked at."""
    if source.sha256 is None:
        return cache.holds("unpinned", revision_key(source))
    return cache.path_of(source.sha256).is_file()


def revision_key(source: PinnedFile) -> str:
    """Key of a file that no sha256 pins."""
    return hash_names(source.repository, source.revision, source.path)


@dataclass(frozen=True)
class Fetcher:
    """Fetches files into a cache; calls for the same file at once, from other processes too, make one download."""

    cache: Cache
    download: Download
    addresses: Addresses

    def fetch(self, source: PinnedFile) -> Path:
        """The file's path in the cache, where it is put if it is not there yet.

        Raises:
            SourceMissingError: it cannot be downloaded.
            ChecksumError: what came is not the pinned file; it has been removed.
        """
        url = self.addresses.of(source)
        name = source.sha256 or revision_key(source)
        try:
            with self.cache.filling(name) as part:
                # Another process may have fetched it while this one waited for its turn.
                return find_fetched(source, self.cache) or self._fetch(source, url, part)
        except (DownloadError, httpx.HTTPError, OSError) as error:
            raise missing_source(source, f"{type(error).__name__} at {url}: {error}") from error

    def _fetch(self, source: PinnedFile, url: str, part: Path) -> Path:
        self.download(url, part)
        if pointer := read_pointer(part):
            PartialFile(part).discard()
            # Another name: the next attempt asks for the pointer again and must not take these bytes for a part of it.
            part = part.with_name(f"{part.name}.lfs")
            url = self._fetch_lfs(source, pointer, part, url)
            _verify_or_remove(part, source, url, pointer.sha256)
        else:
            _verify_or_remove(part, source, url)
        if source.sha256 is None:
            return self.cache.keep(part, "unpinned", revision_key(source))
        return self.cache.move(part, self.cache.path_of(source.sha256))

    def _fetch_lfs(self, source: PinnedFile, pointer: Pointer, part: Path, url: str) -> str:
        lfs_url = self.addresses.of_lfs(source)
        if lfs_url is None:
            raise pointer_in_place(source, url)
        if source.sha256 and pointer.sha256 and source.sha256 != pointer.sha256:
            raise not_the_pinned(lfs_url, source.sha256, f"{pointer.sha256} (in the Git LFS pointer)", NOT_KEPT)
        self.download(lfs_url, part)
        if read_pointer(part):
            PartialFile(part).discard()
            raise pointer_in_place(source, lfs_url)
        return lfs_url


def _verify_or_remove(part: Path, source: PinnedFile, url: str, behind_pointer: str | None = None) -> None:
    try:
        verify_pinned(part, source, url, NOT_KEPT)
        if source.sha256 is None:
            verify(part, behind_pointer, url, NOT_KEPT)
    except ChecksumError:
        PartialFile(part).discard()
        raise
