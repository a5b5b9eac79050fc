"""Find what no run of a lake needs: partitions that no manifest lists, temporary files of killed writers, empty folders.

Only files named as moodflow names them are looked at, and no link is followed: whatever else lies in a lake stays.

Nothing is removed while a run is going on: each holds a shared lock of the operating system on one file, for a lake in an object
store on this machine. The lock ends with its process, however that dies: none is left behind.
"""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from schemas.documents.lake import UnusedFile, UnusedFiles, UnusedPartition
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.tables.layers import NO_LAYERS, OF_NO_RUN
from tasks.lake.files import unwritable
from tasks.lake.local_state import state_folder
from tasks.lake.partitions import FILE_NAME, located, rejected_path, relative

IN_USE = "in-use.lock"

TEMPORARY = re.compile(r"\.(.{1,16}-[0-9a-f]{32}\.tmp|probe-[0-9a-f]{32})")
NS_PER_HOUR = 3_600_000_000_000


@contextmanager
def hold(lake: Folder) -> Iterator[None]:
    """Hold a lake for a run while the block runs, so that nothing is removed from it; wait while something is."""
    with unwritable("the lake cannot be marked as in use", state_folder(lake) / IN_USE):
        file = _opened(lake)
        fcntl.flock(file, fcntl.LOCK_SH)
    with file:
        yield


@contextmanager
def hold_alone(lake: Folder) -> Iterator[bool]:
    """Yield whether no run is going on in a lake; if so, none begins while the block runs."""
    with ExitStack() as opened:
        is_free = True
        with suppress(OSError):  # who cannot open it removes nothing
            file = opened.enter_context(_opened(lake))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # held, or the disk has no locks
                is_free = False
        yield is_free


def _opened(lake: Folder) -> IO[bytes]:
    path = state_folder(lake) / IN_USE
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path.open("a+b")  # network disks lock for many what can be read, for one what can be written
    except PermissionError:
        return path.open("rb")  # another user's: on a disk of this machine, it can be locked all the same


def find_unused(lake: Folder, manifests: Iterable[RunManifest], now_ns: int, older_than_hours: float) -> UnusedFiles:
    """Look through a lake for what can go; what was written later than so many hours ago stays. Nothing is changed.

    `manifests` are those of all its runs; `now_ns` is the time, in nanoseconds since 1970.
    """
    before_ns = now_ns - int(older_than_hours * NS_PER_HOUR)
    used, runs = set[str](), 0
    for manifest in manifests:
        runs += 1
        used |= {path for ref in manifest.partitions for path in (ref.path, rejected_path(ref))}
    if isinstance(lake, Path):
        folders = _list_folders(lake)
        paths = [f"{folder}/{name}".lstrip("/") for folder, names in folders.items() for name in names]
    else:  # an object is written as a whole: there are no temporary ones
        folders, paths = {}, sorted(relative(path, lake) for path in lake.glob("**/*.parquet"))
    unlisted = [path for path in paths if path not in used and (_is_partition(path) or _is_temporary(path))]
    files = {path: status for path in unlisted if (status := _status(lake / path))}
    old = {path: size for path, (size, written_ns) in files.items() if written_ns < before_ns}
    partitions = ((path, size) for path, size in old.items() if not _is_temporary(path))
    return UnusedFiles(
        lake=str(lake),
        runs=runs,
        older_than_hours=older_than_hours,
        partitions=tuple(UnusedPartition(path=path, layer=path.partition("/")[0], bytes=size) for path, size in partitions),
        temporary=tuple(UnusedFile(path=path, bytes=size) for path, size in old.items() if _is_temporary(path)),
        folders=tuple(_emptied(lake, folders, old.keys(), before_ns)),
        bytes=sum(old.values()),
        younger=len(files) - len(old),
        in_use=False,
        removed=False,
    )


def _is_temporary(path: str) -> bool:
    return TEMPORARY.fullmatch(path.rpartition("/")[2]) is not None


def _is_partition(path: str) -> bool:
    """Return whether a file holds a partition that can be had again; what people rated cannot, and certificates stay."""
    layer, below, _ = path.partition("/")
    if (ref := located(path)) and ref.by_people:
        return False
    return bool(below) and layer not in NO_LAYERS | OF_NO_RUN and FILE_NAME.fullmatch(path.rpartition("/")[2]) is not None


def _status(file: Folder) -> tuple[int, int] | None:
    """Return the bytes of a file, and when it was written in nanoseconds since 1970; null if it is a link, or gone."""
    if file.is_symlink() or not file.is_file():
        return None
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _list_folders(lake: Path) -> dict[str, list[str]]:
    """Return the names in each folder by its path below the lake, outer folders first; links to others are left alone."""

    def refuse(error: OSError) -> None:
        raise error

    names = {}
    for folder, folders, files in os.walk(lake, onerror=refuse):
        folders.sort()
        names[relative(Path(folder), lake)] = sorted((*folders, *files))
    return names


def _emptied(lake: Folder, folders: Mapping[str, Sequence[str]], going: Set[str], before_ns: int) -> Iterator[str]:
    """Folders of layers and runs that are empty once these files are gone, inner ones first."""
    empty: set[str] = set()
    for folder in reversed(list(folders)):
        if folder in {"", "runs"} or folder.partition("/")[0] in NO_LAYERS - {"runs"}:
            continue
        stays = {f"{folder}/{name}" for name in folders[folder]} - empty - going
        # A folder that was just made waits for its first file.
        if not stays and (folders[folder] or (lake / folder).stat().st_mtime_ns < before_ns):
            empty.add(folder)
            yield folder
