"""`moodflow gc`: list what no run of a lake needs, and remove it."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import RenderableType
from rich.table import Column, Table

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.errors import LakeError, UsageError
from schemas.folders import DEFAULT_LAKE, Folder

if TYPE_CHECKING:
    from tasks.lake.unused import Unused

UNITS = ("B", "KB", "MB", "GB")
STEP = 1000

DryRun = Annotated[bool, typer.Option("--dry-run", help="list only")]
Yes = Annotated[bool, typer.Option("--yes", help="remove without asking")]
OlderThan = Annotated[
    float, typer.Option("--older-than", metavar="HOURS", min=0, help="keep what is younger; a run in progress lists nothing yet")
]


def gc(
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
    older_than: OlderThan = 24.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Remove partitions that no run lists, and what killed writers left. Journal, embeddings and reports stay."""
    collector = Collector(lake or DEFAULT_LAKE, older_than)
    unused = collector.find()
    if not as_json:
        terminal().print(*unused_view(collector, unused), sep="\n")
    removing = bool(unused) and not dry_run and (yes or _confirmed(as_json=as_json))
    if removing:
        unused = collector.remove(unused)
    if as_json:
        print_json(unused_document(collector, unused, removed=removing))
    elif removing:
        freed = f"{len(unused.files)} files and {len(unused.folders)} folders removed"
        terminal().print(f"{freed}, {format_size(unused.size)} freed.")
    elif unused:
        terminal().print("Nothing was removed.")


def _confirmed(*, as_json: bool) -> bool:
    """Ask the user.

    Raises:
        UsageError: there is no terminal to ask at.
    """
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            "files would be removed, and there is no terminal to ask at",
            where="moodflow gc",
            expected="--yes to remove them, or --dry-run to list them only",
            got="no terminal" if not as_json else "--json, which asks nothing",
            next_step="moodflow gc --dry-run, then moodflow gc --yes",
        )
    return typer.confirm("Remove them?", default=False)


class Collector:
    """Find and remove what no manifest of a lake lists and what is older than some hours."""

    def __init__(self, lake: Folder, older_than_hours: float, now_ns: Callable[[], int] = time.time_ns) -> None:
        if not lake.is_dir():
            raise UsageError("there is no lake", where=str(lake), expected="a folder that moodflow run has written to")
        self.lake, self.older_than_hours, self._now_ns = lake, older_than_hours, now_ns

    @property
    def runs(self) -> int:
        """Return the number of runs whose partitions are kept."""
        from tasks.lake.manifest import list_runs  # noqa: PLC0415

        return len(list_runs(self.lake))

    def find(self) -> "Unused":
        """Find what can go now.

        Raises:
            LakeError: if a manifest cannot be read, since what it lists is not known.
        """
        from tasks.lake.manifest import list_runs, read_manifest  # noqa: PLC0415
        from tasks.lake.unused import find_unused  # noqa: PLC0415

        manifests = [read_manifest(self.lake, run) for run in list_runs(self.lake)]
        return find_unused(self.lake, manifests, self._now_ns(), self.older_than_hours)

    def remove(self, listed: "Unused") -> "Unused":
        """Remove what was listed and can still go: a run that ended meanwhile may need some of it.

        Returns:
            What was removed.

        Raises:
            LakeError: if the disk refuses; what was removed before stays removed.
        """
        from tasks.lake.unused import Unused  # noqa: PLC0415

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


def unused_document(collector: Collector, unused: "Unused", *, removed: bool) -> dict[str, Any]:
    """Return the JSON document; paths are relative to the lake."""
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


def unused_view(collector: Collector, unused: "Unused") -> list[RenderableType]:
    """Return what a terminal shows: every file with its size, sums by layer, and what stays."""
    young = [f"{unused.younger} more that no run lists are younger than {collector.older_than_hours:g} hours and stay."]
    if not unused:
        return ["No file of the lake is unused.", *(young if unused.younger else [])]
    table = Table(Column("File", overflow="fold"), Column("Size", justify="right"), box=SIMPLE)
    for file in unused.files:
        table.add_row(file.path, format_size(file.size))
    runs = f"{collector.runs} runs are kept with all they list" if collector.runs else "no run is in the lake: none is listed"
    counts = f"{len(unused.partitions)} partitions, {len(unused.temporary)} temporary files, {len(unused.folders)} folders"
    return [table, f"{counts}, {format_size(unused.size)}; {runs}.", *(young if unused.younger else [])]


def format_size(size: int) -> str:
    """Return bytes in units of 1,000 each."""
    amount, unit = float(size), UNITS[0]
    for larger in UNITS[1:]:
        if amount < STEP:
            break
        amount, unit = amount / STEP, larger
    return f"{amount:.0f} {unit}" if unit == UNITS[0] else f"{amount:.1f} {unit}"
