"""Find what no run of a lake needs: partitions that no manifest lists, temporary files of killed writers, empty folders.

Only files named as moodflow names them are looked at, and no link is followed: whatever else lies in a lake stays.
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake.finding import FILE_NAME, rejected_path, relative

TEMPORARY = re.compile(r"\.(.{1,16}-[0-9a-f]{32}\.tmp|probe-[0-9a-f]{32})")
NO_LAYERS = frozenset({"runs", "journal", "embeddings"})
"""Folders of a lake that hold no partitions; of these only temporary files are looked at."""

NS_PER_HOUR = 3_600_000_000_000


class StoredFile(NamedTuple):
    """A file of the lake; `path` is relative to it."""

    path: str
    size: int
    modified_ns: int

    @property
    def layer(self) -> str:
        """The folder right below the lake that it is in."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """Last part of its path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Unused:
    """What can go. `younger` counts files that nobody lists and that are too young: a run in progress may be using them."""

    partitions: tuple[StoredFile, ...] = ()
    temporary: tuple[StoredFile, ...] = ()
    folders: tuple[str, ...] = ()
    younger: int = 0

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """All files that can go."""
        return self.partitions + self.temporary

    @property
    def size(self) -> int:
        """Their bytes."""
        return sum(file.size for file in self.files)

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)


def find_unused(lake: Folder, manifests: Iterable[RunManifest], now_ns: int, older_than_hours: float) -> Unused:
    """Look through a lake; nothing is changed.

    Args:
        lake: its folder.
        manifests: of all its runs.
        now_ns: the time, in nanoseconds since 1970.
        older_than_hours: what was written later stays.
    """
    before_ns = now_ns - int(older_than_hours * NS_PER_HOUR)
    used = {path for manifest in manifests for ref in manifest.partitions for path in (ref.path, rejected_path(ref))}
    files = list(_list_files(lake))
    temporary = [file for file in files if TEMPORARY.fullmatch(file.name)]
    partitions = [file for file in files if _is_partition(file) and file.path not in used]
    old = {file for file in (*partitions, *temporary) if file.modified_ns < before_ns}
    return Unused(
        partitions=tuple(file for file in partitions if file in old),
        temporary=tuple(file for file in temporary if file in old),
        folders=tuple(_emptied(lake, {file.path for file in old}, before_ns)) if isinstance(lake, Path) else (),
        younger=len(partitions) + len(temporary) - len(old),
    )


def _is_partition(file: StoredFile) -> bool:
    below = file.path != file.name and file.layer not in NO_LAYERS
    return below and FILE_NAME.fullmatch(file.name) is not None


def _list_files(lake: Folder) -> Iterator[StoredFile]:
    found: Iterable[Folder] = lake.glob("**/*.parquet")  # of a store: an object is written as a whole, there are no others
    if isinstance(lake, Path):
        found = (path for folder in _list_folders(lake) for path in sorted(folder.iterdir()) if path.is_file())
    for path in found:
        if not path.is_symlink():
            status = path.stat()
            yield StoredFile(relative(path, lake), status.st_size, status.st_mtime_ns)


def _list_folders(folder: Path) -> Iterator[Path]:
    """Return a folder and all below it, inner ones last; links to others are left alone."""
    yield folder
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _list_folders(path)


def _emptied(lake: Path, going: Set[str], before_ns: int) -> Iterator[str]:
    """Folders of layers and runs that are empty once these files are gone, inner ones first."""
    empty: set[Path] = set()
    for folder in reversed(list(_list_folders(lake))):
        parts = folder.relative_to(lake).parts
        if not parts or parts[0] in NO_LAYERS - {"runs"} or parts == ("runs",):
            continue
        content = list(folder.iterdir())
        stays = [path for path in content if path not in empty and path.relative_to(lake).as_posix() not in going]
        # A folder that was just made waits for its first file.
        if not stays and (content or folder.stat().st_mtime_ns < before_ns):
            empty.add(folder)
            yield folder.relative_to(lake).as_posix()
