"""The files of a lake: `moodflow gc` removes what no run needs, `moodflow verify` checks those of a run and recomputes scores."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from math import isnan
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.filesize import decimal

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, first_lines, print_json, terminal, terminal_table
from schemas.documents.lake import UnusedFiles, Verification
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.table import Column, Table, columns
from tasks.lake.manifest import read_manifests
from tasks.lake.unused import find_unused, hold_alone
from tasks.runs.verdict import label_of
from tasks.text.number_format import number

DryRun = Annotated[bool, typer.Option("--dry-run", help="list the files, delete nothing")]
Yes = Annotated[bool, typer.Option("--yes", help="delete without asking")]
OlderThan = Annotated[
    float,
    typer.Option("--older-than", metavar="HOURS", min=0, max=1_000_000, help="keep younger files: a build may await its run"),
]

app = typer.Typer(add_completion=False)


@app.command()
def gc(
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
    older_than: OlderThan = 24.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Delete partitions that no run uses and what interrupted runs left behind. Journal, embeddings and reports stay.

    While a run is going on in the lake, nothing is deleted.
    """
    folder = lake or DEFAULT_LAKE
    if isnan(older_than):
        raise UsageError(
            "not a number of hours", where="--older-than", expected="0 to 1000000", got="nan", next_step="--older-than 24"
        )
    if not folder.is_dir():
        raise UsageError("there is no lake", where=str(folder), expected="a folder that moodflow run has written to")
    with hold_alone(folder) as is_free:
        document = unused = _find(folder, older_than, is_free=is_free)
    can_go = unused.partitions or unused.temporary or unused.folders
    if not as_json:
        terminal().print(*_view(document), sep="\n")
    if can_go and not dry_run and (yes or _confirmed(as_json=as_json)):
        with hold_alone(folder) as is_free:
            document = _remove(folder, unused, older_than, is_free=is_free)
    if as_json:
        print_json(document)
    elif document.removed:
        files = len(document.partitions) + len(document.temporary)
        terminal().print(f"{files} files and {len(document.folders)} folders removed, {decimal(document.bytes)} freed.")
    elif can_go or document.in_use:
        terminal().print("Nothing was removed.")


def _confirmed(*, as_json: bool) -> bool:
    """Ask the user; raise UsageError if there is no terminal to ask at."""
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            "removing files needs a confirmation, and there is no terminal to ask",
            where="moodflow gc",
            expected="--yes to remove them, or --dry-run to list them only",
            got="no terminal" if not as_json else "--json, which asks nothing",
            next_step="moodflow gc --dry-run, then moodflow gc --yes",
        )
    return typer.confirm("Remove them?", default=False)


def _find(lake: Folder, older_than_hours: float, *, is_free: bool) -> UnusedFiles:
    """Find what no manifest lists and what is older; one that cannot be read stops it, since what it lists is not known.

    In a lake that is not free, a run that is going on may need any of it: it lists nothing yet.
    """
    unused = find_unused(lake, read_manifests(lake, need_all=True), time.time_ns(), older_than_hours)
    if is_free:
        return unused
    younger = unused.younger + len(unused.partitions) + len(unused.temporary)
    nothing = dict.fromkeys(("partitions", "temporary", "folders"), ())
    return unused.model_copy(update={**nothing, "bytes": 0, "younger": younger, "in_use": True})


def _remove(lake: Folder, listed: UnusedFiles, older_than_hours: float, *, is_free: bool) -> UnusedFiles:
    """Remove what was listed and can still go, since a run that ended meanwhile may need some of it; return what went."""
    now = _find(lake, older_than_hours, is_free=is_free)
    still = {file.path for file in (*now.partitions, *now.temporary)}
    partitions = tuple(file for file in listed.partitions if file.path in still)
    temporary = tuple(file for file in listed.temporary if file.path in still)
    for file in (*partitions, *temporary):
        (lake / file.path).unlink(missing_ok=True)  # another collector may have been faster
    folders = []
    for folder in now.folders:  # none of an object store
        with suppress(OSError):  # it got a file meanwhile, and stays
            (lake / folder).rmdir()
            folders.append(folder)
    files = {"partitions": partitions, "temporary": temporary, "bytes": sum(file.bytes for file in (*partitions, *temporary))}
    return now.model_copy(update={**files, "folders": tuple(folders), "removed": is_free})


def _view(document: UnusedFiles) -> Iterator[RenderableType]:
    files = (*document.partitions, *document.temporary)
    if files or document.folders:
        rows = [(file.path, decimal(file.bytes)) for file in files]
        yield terminal_table(Table((Column("File"), Column("Size", "number")), rows))
        sums = (f"{len(document.partitions)} partitions", f"{len(document.temporary)} temporary files")
        kept = f"{document.runs} runs are kept with all they list" if document.runs else "no run is in the lake: none is listed"
        yield f"{', '.join(sums)}, {len(document.folders)} folders, {decimal(document.bytes)}; {kept}."
    else:
        yield "No file of the lake is unused."
    if document.in_use:
        yield f"A run or another gc is going on in this lake: {document.younger} files that no run lists stay until it has ended."
    elif document.younger:
        yield f"{document.younger} more that no run lists are younger than {document.older_than_hours:g} hours and stay."


@app.command()
def verify(run: opt.Run, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Hash every file of a run and recompute its scores from the stored replies. Ends with status 1 if anything differs."""
    from tasks.verify.run import verify_run  # noqa: PLC0415  takes seconds

    document = verify_run(lake or DEFAULT_LAKE, run)
    CommandResult(int(not document.verified), document, verify_view(document)).finish(as_json=as_json)


def verify_view(document: Verification) -> list[RenderableType]:
    """Return what a terminal shows: a line per layer, the first difference, all others, what would differ, notes."""
    changes = [
        f"{label_of(change)} {change.name}: {number(change.before, 2)} -> {number(change.after, 2)}"
        for change in document.would_differ
    ]
    differences = [f"{difference.kind}: {difference.message}" for difference in document.differences]
    heads = (Column("Layer", "name"), *columns("count", "Files", "Rows"), Column("Recomputed"), Column("Differs", "count"))
    rows = [(layer.layer, layer.partitions, layer.rows, layer.recomputed, layer.differs or None) for layer in document.layers]
    return [
        terminal_table(Table(heads, rows)),
        *(bold("First difference:", f" {difference}") for difference in differences[:1]),
        *_bounded("Others", differences[1:]),
        *_bounded("With blueprint and code as they are now, the stored replies would score", changes),
        *(f"Note: {note}" for note in document.notes),
        _verdict(document),
    ]


def _bounded(title: str, lines: list[str]) -> list[RenderableType]:
    if not lines:
        return []
    return [bold(f"{title}:"), *first_lines([f"  {line}" for line in lines], 20)]  # --json has all


def _verdict(document: Verification) -> str:
    hashed = f"{document.files.checked:,} files hashed"
    if document.verified:
        layers = list(document.layers)
        answered = max((index for index, layer in enumerate(layers) if layer.layer == "responses"), default=-1)
        left = ", ".join(layer.layer for layer in layers[answered + 1 :] if not layer.recomputed)
        every = f"every layer after responses but {left}" if left else "every layer after responses"
        limits = "; the notes say what could not be checked" if left or not document.files.checked else ""
        return f"Run {document.run} is verified: {hashed}, {every} recomputed to the same content{limits}."
    return f"Run {document.run} is NOT verified: {hashed}, {len(document.differences):,} differences."
