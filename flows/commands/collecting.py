"""Remove from a lake what no run needs, after it was listed."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.table import Column, Table

from schemas.errors import LakeError, UsageError
from schemas.folders import Folder
from tasks.lake.manifest import list_runs, read_manifest
from tasks.lake.unused import Unused, find_unused

UNITS = ("B", "KB", "MB", "GB")
STEP = 1000


class Collector:
    """Finds and removes what no manifest of a lake lists and what is older than some hours."""

    def __init__(self, lake: Folder, older_than_hours: float, now_ns: Callable[[], int] = time.time_ns) -> None:
        if not lake.is_dir():
            raise UsageError("there is no lake", where=str(lake), expected="a folder that moodflow run has written to")
        self.lake, self.older_than_hours, self._now_ns = lake, older_than_hours, now_ns

    @property
    def runs(self) -> int:
        """Runs whose partitions are kept."""
        return len(list_runs(self.lake))

    def find(self) -> Unused:
        """What can go now.

        Raises:
            LakeError: if a manifest cannot be read, since what it lists is not known.
        """
        manifests = [read_manifest(self.lake, run) for run in list_runs(self.lake)]
        return find_unused(self.lake, manifests, self._now_ns(), self.older_than_hours)

    def remove(self, listed: Unused) -> Unused:
        """Remove what was listed and can still go: a run that ended meanwhile may need some of it.

        Returns:
            What was removed.

        Raises:
            LakeError: if the disk refuses; what was removed before stays removed.
        """
        now = self.find()
        partitions, temporary = set(now.partitions), set(now.temporary)
        going = Unused(
            partitions=tuple(file for file in listed.partitions if file in partitions),
            temporary=tuple(file for file in listed.temporary if file in temporary),
        )
        for file in going.files:
            self._unlink(self.lake / file.path)
        folders = self._remove_folders(self.lake, now.folders) if isinstance(self.lake, Path) else ()
        return Unused(going.partitions, going.temporary, folders, now.younger)

    def _unlink(self, path: Folder) -> None:
        try:
            with suppress(FileNotFoundError):  # another collector was faster
                path.unlink()
        except OSError as error:
            raise LakeError(
                "a file of the lake cannot be removed",
                where=str(path),
                expected="a folder this user may write",
                got=str(error),
                next_step="mend permissions and run the same command again",
            ) from error

    @staticmethod
    def _remove_folders(lake: Path, folders: tuple[str, ...]) -> tuple[str, ...]:
        removed = []
        for folder in folders:
            with suppress(OSError):  # it got a file meanwhile, and stays
                (lake / folder).rmdir()
                removed.append(folder)
        return tuple(removed)


def unused_document(collector: Collector, unused: Unused, *, removed: bool) -> dict[str, Any]:
    """What `moodflow gc --json` prints; paths are relative to the lake."""
    return {
        "lake": str(collector.lake),
        "runs": collector.runs,
        "older_than_hours": collector.older_than_hours,
        "partitions": [{"path": file.path, "layer": file.layer, "bytes": file.size} for file in unused.partitions],
        "temporary": [{"path": file.path, "bytes": file.size} for file in unused.temporary],
        "folders": list(unused.folders),
        "bytes": unused.size,
        "younger": unused.younger,
        "removed": removed,
    }


def unused_shown(collector: Collector, unused: Unused) -> list[RenderableType]:
    """What a terminal shows of it: every file with its size, sums by layer, and what stays."""
    young = [f"{unused.younger} more that nobody lists are younger than {collector.older_than_hours:g} hours and stay."]
    if not unused:
        return ["No file of the lake is unused.", *(young if unused.younger else [])]
    table = Table(Column("File", overflow="fold"), Column("Size", justify="right"), box=SIMPLE)
    for file in unused.files:
        table.add_row(file.path, said_size(file.size))
    runs = f"{collector.runs} runs are kept with all they list" if collector.runs else "no run is in the lake: none is listed"
    counts = f"{len(unused.partitions)} partitions, {len(unused.temporary)} temporary files, {len(unused.folders)} folders"
    return [table, f"{counts}, {said_size(unused.size)}; {runs}.", *(young if unused.younger else [])]


def said_size(size: int) -> str:
    """Bytes in words, of 1,000 each."""
    amount, unit = float(size), UNITS[0]
    for larger in UNITS[1:]:
        if amount < STEP:
            break
        amount, unit = amount / STEP, larger
    return f"{amount:.0f} {unit}" if unit == UNITS[0] else f"{amount:.1f} {unit}"
