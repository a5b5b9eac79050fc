"""Find the files of a catalogue entry, or of its alternative: in a mirror, in the cache or by download, only ever as pinned."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Self

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile, SourceFile
from schemas.errors import SourceError, UsageError
from schemas.folders import DATA_FOLDER
from tasks.sources.fetching import Addresses, Cache, extract_member, fetch, find_cached, read_pointer, verify_cached
from tasks.sources.files import hash_file, hash_names, missing_source, pinned_hashes, pointer_in_place, verify
from tasks.sources.partial_file import Download

BUNDLED = DATA_FOLDER / "bundled"

MOST_LINES = 3
"""Files named one by one of a source that is not here; the rest is counted."""


def download_by_https(url: str, target: Path) -> None:
    """Download a file as HttpsDownload does."""
    from tasks.sources.downloading import HttpsDownload  # noqa: PLC0415  takes its time, and most files are here

    HttpsDownload()(url, target)


@dataclass(frozen=True)
class Locator:
    """Knows where source files may be, and looks there in this order. What is null is not looked at.

    `mirror` is laid out `host/owner/name/path`. `cache` has verified downloads and files out of archives; by default it is the
    user's. `download` fetches what neither holds. `bundled` has the files that come with the package.
    """

    mirror: Path | None = None
    cache: Path = field(default_factory=lambda: Path.home() / ".cache" / "moodflow")
    download: Download | None = None
    bundled: Path = BUNDLED
    addresses: Addresses = field(default_factory=Addresses)

    def __getstate__(self) -> dict[str, object]:
        # Where this is sent, another folder is the current one, and nothing has been looked up.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "mirror": self.mirror and self.mirror.absolute(), "cache": self.cache.absolute()}

    @cached_property
    def _mirror_folder(self) -> Path | None:
        """Real path of the mirror, in which hundreds of files are looked for; UsageError: it is not a folder."""
        if self.mirror is None or self.mirror.is_dir():
            return self.mirror and self.mirror.resolve()
        raise UsageError(
            "the mirror is not a folder",
            where=str(self.mirror),
            expected="a folder laid out host/owner/name/path",
            next_step="correct --mirror or MOODFLOW_MIRROR, or remove it",
        )

    @classmethod
    def for_mirror(cls, mirror: Path | None) -> Self:
        """Return the usual places: this mirror, the user's cache and HTTPS."""
        return cls(mirror=mirror, download=download_by_https)

    def locate(self, source: SourceFile) -> Path:
        """Return a local path of the file, downloaded or taken out of its archive if need be.

        A hash that the entry states has been verified; for a member of an archive it is the archive's.

        Raises:
            SourceMissingError: it is in none of the places, or a Git LFS pointer is in its place.
            ChecksumError: what is there has another sha256 or md5; places further down are not tried.
            SourceError: the path leaves the mirror, or the archive does not yield its member.
            UsageError: the mirror is not a folder.
        """
        path = self.find_file(source)
        if isinstance(source, PinnedFile):
            if path is None and source.record_format != "folder" and self.download is not None:
                path = fetch(source, Cache(self.cache), self.download, self.addresses)
            if path is not None and source.member is not None:
                return _unpack(path, source.sha256 or hash_file(path), source.member, Cache(self.cache))
        if path is None:
            raise missing_source(source)
        return path

    def find_file(self, source: SourceFile) -> Path | None:
        """Return the file's path if it can be had without a download, of a member its archive's; else null.

        It writes nothing, and raises what `locate` raises about a file it finds.
        """
        path = self._path_of(source)
        if path is None:
            return None
        if not isinstance(source, PinnedFile):
            verify(path, {"sha256": source.sha256 if isinstance(source, LocalFile) else None})
        elif _is_pointer(path):
            raise pointer_in_place(source, str(path))
        elif path == find_cached(source, Cache(self.cache)):
            verify_cached(source, path)
        else:
            verify(path, pinned_hashes(source))
        return path

    def holds(self, source: SourceFile) -> bool:
        """Return whether the file can be had without a download. Its content is not verified, so a wrong file is held, too."""
        path = self._path_of(source)
        return path is not None and not (isinstance(source, PinnedFile) and _is_pointer(path))

    def needs(self, files: Iterable[SourceFile]) -> tuple[str, ...]:
        """Return a line per file that is absent or is not the pinned one; nothing = they are ready without a download."""
        lines = []
        for source in files:
            try:
                if self.find_file(source) is None:
                    lines.append(missing_source(source).what)
            except SourceError as error:
                lines.append(error.what)
        return tuple(dict.fromkeys(lines))

    def fetch_unpinned(self, files: Iterable[SourceFile]) -> None:
        """Locate those of these files that no sha256 pins: until then, the hash that `source_sha256` asks for is not known."""
        for source in files:
            if isinstance(source, PinnedFile) and source.sha256 is None:
                self.locate(source)

    def _path_of(self, source: SourceFile) -> Path | None:
        """Return where the file, or its archive, is without a download; its content is not looked at."""
        match source:
            case BundledFile():
                path = self.bundled / source.name
            case LocalFile():
                path = source.path
            case PinnedFile():
                if self._mirror_folder is not None and (mirrored := _path_in_mirror(source, self._mirror_folder)).exists():
                    return mirrored
                return find_cached(source, Cache(self.cache))
        return path if path.is_file() or (path.is_dir() and isinstance(source, LocalFile)) else None


def _unpack(archive: Path, sha256: str, member: str, cache: Cache) -> Path:
    """Return the path of a verified archive's member in the cache, where it is put if it is not there yet."""
    key = hash_names(sha256, member)
    try:
        with cache.filling(key) as part:
            if member_path := cache.find("members", key):
                verify(member_path, {"sha256": member_path.name})
                return member_path
            try:
                extract_member(archive, member, part)
                return cache.keep(part, "members", key)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(
            f"{member} cannot be extracted",
            where=str(cache.folder),
            expected="a cache folder that can be written",
            got=str(error),
            next_step="check permissions and free space",
        ) from error


def source_sha256(files: Iterable[SourceFile], locator: Locator) -> tuple[str, ...]:
    """Return the hash of what each file holds, for fingerprints, without a download.

    A file pinned by its sha256 need not be here. Any other file is read: SourceMissingError if it is not here. A member's stands
    for archive and path.
    """
    hashes = []
    for source in files:
        content, member = (source.sha256, source.member) if isinstance(source, PinnedFile) else (None, None)
        if content is None:
            path = locator.find_file(source)
            if path is None:
                raise missing_source(source)
            content = hash_file(path)
        hashes.append(content if member is None else hash_names(content, member))
    return tuple(hashes)


def _path_in_mirror(source: PinnedFile, mirror: Path) -> Path:
    inside = PurePosixPath(source.repository) / source.path
    # Resolving follows symbolic links, so a link that leads out of the mirror is caught like a `..`.
    path = (mirror / inside).resolve()
    if ".." in inside.parts or not path.is_relative_to(mirror):
        raise SourceError(
            f"the path of {source.path} leads out of the mirror",
            where=str(mirror / inside),
            expected="a file inside the mirror folder",
            got=str(path),
            next_step="replace the link with the file, or correct the catalogue entry",
        )
    return path


def _is_pointer(path: Path) -> bool:
    try:
        return read_pointer(path) is not None
    except OSError:
        # What cannot be read is reported where its content is verified or parsed.
        return False


def sources(spec: DatasetSpec | None) -> Iterator[DatasetSpec]:
    """Yield the entry and its alternatives, in the order they are preferred; nothing without an entry."""
    while spec is not None:
        yield spec
        spec = spec.alternative


def choose_source(spec: DatasetSpec, locator: Locator) -> DatasetSpec:
    """Return the first source all of whose files are here; the entry itself if there is none, to be downloaded.

    Presence decides, not content: a file with the wrong content is an error of the source it belongs to, and no reason to take
    another source without a word. A Git LFS pointer is not the file.
    """
    return next((source for source in sources(spec) if all(locator.holds(file) for file in source.files)), spec)


def needs(spec: DatasetSpec, locator: Locator) -> tuple[str, ...]:
    """Return what keeps a dataset from being ready here without a download; nothing = ready.

    Lines are about the files of the entry, then about those of its alternatives, which begin with `or`. If a source is here with
    wrong content, they are about that source only.
    """
    chosen = choose_source(spec, locator)
    if all(locator.holds(file) for file in chosen.files):
        return tuple(shortened(locator.needs(chosen.files)))
    lines = list(shortened(locator.needs(spec.files)))
    for alternative in list(sources(spec))[1:]:
        origin = name_repositories(alternative) or "files of our own"
        lines += [f"or {origin}: {line}" for line in shortened(locator.needs(alternative.files))]
    return tuple(lines)


def name_repositories(spec: DatasetSpec) -> str:
    """Return the repositories that the files of an entry come from, each once."""
    return ", ".join(dict.fromkeys(file.repository for file in spec.files if isinstance(file, PinnedFile)))


def shortened(lines: Sequence[str]) -> Sequence[str]:
    """Return the first lines about files, and how many more there are."""
    if len(lines) <= MOST_LINES + 1:
        return lines
    return *lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more files"
