"""Find the file a catalogue entry names: in a mirror folder, in the cache or by download, and only ever the pinned bytes."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Self

import httpx

from schemas.dataset import BundledFile, LocalFile, PinnedFile, SourceFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError, UsageError
from tasks.sources.downloading import Download, download, raw_url

BUNDLED = Path(__file__).parents[2] / "data" / "bundled"


@dataclass(frozen=True)
class Locator:
    """Knows where source files may be, and looks there in this order. What is null is not looked at.

    Args:
        mirror: folder laid out `host/owner/name/path`.
        cache: folder of verified downloads, named by their sha256.
        download: fetches what neither holds; needs `cache`.
        bundled: folder of the files that come with the package.
    """

    mirror: Path | None = None
    cache: Path | None = None
    download: Download | None = None
    bundled: Path = BUNDLED

    def __post_init__(self) -> None:
        if self.download is not None and self.cache is None:
            raise ValueError("a download needs a cache folder to keep what it fetched")

    @classmethod
    def for_mirror(cls, mirror: Path | None, cache: Path | None = None) -> Self:
        """The usual places: this mirror, the cache (by default the user's) and HTTPS."""
        return cls(mirror=mirror, cache=cache or Path.home() / ".cache" / "moodflow", download=download)

    def locate(self, source: SourceFile) -> Path:
        """A local path of the file, downloaded into the cache if need be. A hash that the entry states has been verified.

        Raises:
            SourceMissingError: it is in none of the places.
            ChecksumError: what is there has another sha256; places further down are not tried.
            SourceError: the path leaves the mirror.
            UsageError: the mirror is not a folder.
        """
        found = self.find_here(source)
        if found is not None:
            return found
        if isinstance(source, PinnedFile) and self.download is not None and self.cache is not None:
            return _fetch(source, self.cache, self.download)
        raise _missing(source)

    def find_here(self, source: SourceFile) -> Path | None:
        """The file's path if it can be had without a download, else null; raises what `locate` raises about a file it finds."""
        match source:
            case PinnedFile():
                mirrored = None if self.mirror is None else _find_in_mirror(source, self.mirror)
                return mirrored or (None if self.cache is None else _found(_path_in_cache(source, self.cache), source.sha256))
            case BundledFile():
                return _found(self.bundled / source.name, None)
            case LocalFile():
                return _found(source.path, source.sha256)

    def needs(self, files: Iterable[SourceFile]) -> tuple[str, ...]:
        """What keeps these files from being ready here without a download; nothing = ready.

        Returns: one line per file that is absent or is not the pinned one.

        Raises:
            UsageError: the mirror is not a folder.
        """
        lines = []
        for source in files:
            try:
                if self.find_here(source) is None:
                    lines.append(_missing(source).what)
            except SourceError as error:
                lines.append(error.what)
        return tuple(lines)


def name_source(source: SourceFile) -> str:
    """The file's name as tables record it: a path inside its repository, never a path of this machine."""
    match source:
        case PinnedFile():
            return source.path
        case BundledFile():
            return source.name
        case LocalFile():
            return source.path.name


def source_sha256(files: Iterable[SourceFile], bundled: Path = BUNDLED) -> tuple[str, ...]:
    """Hash of each file's content, for fingerprints.

    A pinned file's is the one it is pinned to, wherever it is; a bundled or local file is read.

    Raises:
        SourceMissingError: a bundled or local file is not there.
        ChecksumError: a local file is not the one its hash names.
    """
    locator = Locator(bundled=bundled)
    return tuple(source.sha256 if isinstance(source, PinnedFile) else _hash_file(locator.locate(source)) for source in files)


def _find_in_mirror(source: PinnedFile, mirror: Path) -> Path | None:
    if not mirror.is_dir():
        raise UsageError(
            "The mirror is not a folder.",
            where=str(mirror),
            expected="a folder laid out host/owner/name/path",
            next_step="correct --mirror or MOODFLOW_MIRROR, or leave it out",
        )
    inside = PurePosixPath(source.repository) / source.path
    # Resolving follows symbolic links, so a link that leads out of the mirror is caught like a `..`.
    path = (mirror / inside).resolve()
    if ".." in inside.parts or not path.is_relative_to(mirror.resolve()):
        raise SourceError(
            f"The path of {source.path} leaves the mirror, so it is not read.",
            where=str(mirror / inside),
            expected="a file inside the mirror folder",
            got=str(path),
            next_step="put the file itself in place of a link, or correct the catalogue entry",
        )
    return _found(path, source.sha256)


def _path_in_cache(source: PinnedFile, cache: Path) -> Path:
    return cache / source.sha256[:2] / source.sha256


def _found(path: Path, expected_sha256: str | None) -> Path | None:
    if not path.is_file():
        return None
    _verify(path, expected_sha256, str(path))
    return path


def _fetch(source: PinnedFile, cache: Path, fetch: Download) -> Path:
    url, target = raw_url(source), _path_in_cache(source, cache)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix="incoming-")
        os.close(handle)
        incoming = Path(name)
        try:
            fetch(url, incoming)
            _verify(incoming, source.sha256, url)
            # Same folder, so the rename is atomic: a reader sees the whole verified file or none.
            incoming.replace(target)
        finally:
            incoming.unlink(missing_ok=True)
    except (httpx.HTTPError, OSError) as error:
        raise _missing(source, f"{type(error).__name__} at {url}: {error}") from error
    return target


def _missing(source: SourceFile, got: str | None = None) -> SourceMissingError:
    match source:
        case PinnedFile():
            where = f"{source.repository} at {source.revision}"
            next_step = f"put it into a folder as {source.repository}/{source.path} and pass that folder with --mirror"
        case BundledFile():
            where, next_step = "data/bundled", "install the package again: this file comes with it"
        case LocalFile():
            where, next_step = str(source.path), "correct the path in the blueprint"
    return SourceMissingError(
        f"{name_source(source)} is not here.", where=where, expected="the file", got=got or "no such file", next_step=next_step
    )


def _verify(path: Path, expected: str | None, where: str) -> None:
    if expected is not None and (got := _hash_file(path)) != expected:
        raise ChecksumError(
            f"{where} is not the pinned file.",
            where=where,
            expected=f"sha256 {expected}",
            got=f"sha256 {got}",
            next_step="remove the file and fetch it again at the pinned revision, or correct the hash if the change is meant",
        )


def _hash_file(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(
            f"{path.name} cannot be read.", where=str(path), got=str(error), next_step="check the permissions of the file"
        ) from error
