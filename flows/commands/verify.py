"""`moodflow verify`: check the files of a run and compute its scores again."""

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, label_system, terminal_table
from schemas.documents.lake import Verification
from schemas.folders import DEFAULT_LAKE
from schemas.table import Column, Table
from tasks.text.number_format import number

MOST_SHOWN = 20
"""Differences and scores on a terminal; `--json` has all."""

app = typer.Typer(add_completion=False)


@app.command()
def verify(run: opt.Run, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Hash every file of a run and compute its scores again from the stored replies. Ends with 1 if anything differs."""
    from tasks.verify.run import verify_run  # noqa: PLC0415  takes seconds

    found = verify_run(lake or DEFAULT_LAKE, run)
    CommandResult(int(not found.verified), found, verify_view(found)).finish(as_json=as_json)


def verify_view(found: Verification) -> list[RenderableType]:
    """Return what a terminal shows: a line per layer, the first difference, all others, what would differ, notes."""
    changes = [
        f"{label_system(change)} {change.name}: {number(change.before, 2)} -> {number(change.after, 2)}"
        for change in found.would_differ
    ]
    differences = [f"{difference.kind}: {difference.message}" for difference in found.differences]
    columns = (
        Column("Layer", "name"),
        Column("Files", "count"),
        Column("Rows", "count"),
        Column("Recomputed"),
        Column("Differs", "count"),
    )
    rows = [(layer.layer, layer.partitions, layer.rows, layer.recomputed, layer.differs or None) for layer in found.layers]
    return [
        terminal_table(Table(columns, rows)),
        *(bold("First difference:", f" {difference}") for difference in differences[:1]),
        *_bounded("Others", differences[1:]),
        *_bounded("With blueprint and code as they are now, the stored replies would score", changes),
        *(f"Note: {note}" for note in found.notes),
        _verdict(found),
    ]


def _bounded(title: str, lines: list[str]) -> list[RenderableType]:
    if not lines:
        return []
    more = [f"  and {len(lines) - MOST_SHOWN} more, which --json lists"] if len(lines) > MOST_SHOWN else []
    return [bold(f"{title}:"), *(f"  {line}" for line in lines[:MOST_SHOWN]), *more]


def _verdict(found: Verification) -> str:
    hashed = f"{found.files.checked:,} files hashed"
    if found.verified:
        later = list(found.layers)[1 + max((at for at, one in enumerate(found.layers) if one.layer == "responses"), default=-1) :]
        left = ", ".join(one.layer for one in later if not one.recomputed)
        every = f"every layer after responses but {left}" if left else "every layer after responses"
        limits = "; the notes say what could not be checked" if left or not found.files.checked else ""
        return f"Run {found.run} is verified: {hashed}, {every} recomputed to the same content{limits}."
    return f"Run {found.run} is NOT verified: {hashed}, {len(found.differences):,} differences."
