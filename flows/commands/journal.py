"""`moodflow journal`: show the replies that a lake keeps, share them, take in others'."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Column, Table

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.folders import DEFAULT_LAKE, Folder, parse_folder
from tasks.lake.local_state import state_folder

if TYPE_CHECKING:
    from tasks.models.journal.files import ImportedReplies

KIB = 1024

journal_app = typer.Typer(no_args_is_help=True, help="The replies a lake keeps, to be shared and taken in.")

ParquetFile = Annotated[Path, typer.Argument(metavar="FILE.parquet")]
OtherJournal = Annotated[Folder, typer.Argument(metavar="LAKE_OR_FILE", parser=parse_folder)]


@journal_app.command("show")
def show_journal(*, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Replies by endpoint and model: number, size, dates."""
    show_replies(lake or DEFAULT_LAKE).finish(as_json=as_json)


@journal_app.command("export")
def export_journal(
    file: ParquetFile,
    *,
    model: str | None = typer.Option(None, "--model", help="only replies to calls that asked this model"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the replies to a Parquet file."""
    write_replies(file, lake or DEFAULT_LAKE, model).finish(as_json=as_json)


@journal_app.command("import")
def import_journal(file: ParquetFile, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of a Parquet file, each verified. Ends with 1 if one was refused."""
    take_in(file, lake or DEFAULT_LAKE).finish(as_json=as_json)


@journal_app.command("merge")
def merge_journal(other: OtherJournal, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of another journal, each verified. Ends with 1 if one was refused."""
    merge(other, lake or DEFAULT_LAKE).finish(as_json=as_json)


def show_replies(lake: Folder) -> CommandResult:
    """Return what the lake's journal holds, by endpoint and model.

    Raises:
        UsageError: the lake has no journal.
        LakeError: it cannot be read.
    """
    from tasks.models.journal.files import summarise  # noqa: PLC0415

    file = _journal_of(lake)
    models = summarise(file)
    size, replies = file.stat().st_size, sum(row["replies"] for row in models)
    document = {"journal": str(file), "file_bytes": size, "replies": replies, "models": models}
    numbers = [Column(name, justify="right") for name in ("Replies", "KiB")]
    table = Table(Column("Endpoint", overflow="fold"), "Model", *numbers, "First", "Last", box=SIMPLE)
    for row in models:
        amounts = (f"{row['replies']:,}", f"{row['bytes'] / KIB:,.0f}")
        table.add_row(escape(row["identity"]), escape(row["model"] or "?"), *amounts, row["first"], row["last"])
    return CommandResult(0, document, [table, escape(f"{replies:,} replies in {file}, {size / KIB:,.0f} KiB")])


def write_replies(file: Path, lake: Folder, model: str | None) -> CommandResult:
    """Write the replies of the lake, or of one model, to a new Parquet file.

    Args:
        file: to write.
        lake: whose journal.
        model: write only what was asked of it; null = all.

    Raises:
        UsageError: nothing to export, or the file exists already or cannot be written.
        LakeError: the journal cannot be read.
    """
    from tasks.models.journal.files import export_replies  # noqa: PLC0415

    replies = export_replies(_journal_of(lake), file, model)
    document = {"file": str(file), "replies": replies, "file_bytes": file.stat().st_size}
    return CommandResult(0, document, [escape(f"{replies:,} replies written to {file}")])


def take_in(file: Path, lake: Folder) -> CommandResult:
    """Take in the replies of a Parquet file; status 1 if one was refused.

    Raises:
        UsageError: the file cannot be read, or is no table of replies.
        LakeError: the journal cannot be written.
    """
    from tasks.models.journal.files import import_replies  # noqa: PLC0415

    return _imported(file, lake, import_replies)


def merge(other: Folder, lake: Folder) -> CommandResult:
    """Take in the replies of another journal, named by its file or its lake; status 1 if one was refused.

    Raises:
        UsageError: there is no other journal.
        LakeError: one of the two cannot be used.
    """
    from tasks.models.journal.files import merge_replies  # noqa: PLC0415

    kept = state_folder(other)
    return _imported(_journal_of(other) if kept.is_dir() else kept, lake, merge_replies)


def _journal_of(lake: Folder) -> Path:
    from tasks.models.journal.table import JOURNAL  # noqa: PLC0415

    return state_folder(lake) / JOURNAL


def _imported(source: Path, lake: Folder, read: "Callable[[Path, Path], ImportedReplies]") -> CommandResult:
    taken = read(source, _journal_of(lake))
    document = {
        "source": str(source),
        "journal": str(_journal_of(lake)),
        **{name: getattr(taken, name) for name in ("read", "good", "refused")},
        "rules": dict(taken.rules),
        **{name: getattr(taken, name) for name in ("added", "same", "kept_ours")},
    }
    return CommandResult(int(taken.refused > 0), document, _import_view(document))


def _import_view(document: dict[str, Any]) -> list[str]:
    good = f"{document['good']:,} good: {document['added']:,} added, {document['same']:,} here already"
    return [
        f"{document['read']:,} rows read from {escape(document['source'])}",
        f"{good}, {document['kept_ours']:,} another reply than ours, which stays",
        f"{document['refused']:,} refused",
        *(f"  {escape(rule)}: {count:,}" for rule, count in document["rules"].items()),
    ]
