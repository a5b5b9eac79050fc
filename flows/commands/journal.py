"""The commands below `moodflow journal`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.folders import DEFAULT_LAKE, Folder, parse_folder

journal_app = typer.Typer(no_args_is_help=True, help="The replies a lake keeps, to be shared and taken in.")

ParquetFile = Annotated[Path, typer.Argument(metavar="FILE.parquet")]
OtherJournal = Annotated[Folder, typer.Argument(metavar="LAKE_OR_FILE", parser=parse_folder)]


@journal_app.command("show")
def show_journal(*, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Replies by endpoint and model: number, size, dates."""
    from flows.commands import journal_work as journal  # noqa: PLC0415

    document = journal.show_document(lake or DEFAULT_LAKE)
    if as_json:
        print_json(document)
    else:
        terminal().print(*journal.show_shown(document), sep="\n")


@journal_app.command("export")
def export_journal(
    file: ParquetFile,
    *,
    model: str | None = typer.Option(None, "--model", help="only replies to calls that asked this model"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the replies to a Parquet file."""
    from flows.commands import journal_work as journal  # noqa: PLC0415

    document = journal.export_document(file, lake or DEFAULT_LAKE, model)
    if as_json:
        print_json(document)
    else:
        terminal().print(f"{document['replies']:,} replies written to {document['file']}", markup=False)


@journal_app.command("import")
def import_journal(file: ParquetFile, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of a Parquet file, each verified. Ends with 1 if one was refused."""
    from flows.commands import journal_work as journal  # noqa: PLC0415

    _print_taken(journal.import_document(file, lake or DEFAULT_LAKE), as_json=as_json)


@journal_app.command("merge")
def merge_journal(other: OtherJournal, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of another journal, each verified. Ends with 1 if one was refused."""
    from flows.commands import journal_work as journal  # noqa: PLC0415

    _print_taken(journal.merge_document(other, lake or DEFAULT_LAKE), as_json=as_json)


def _print_taken(document: dict[str, Any], *, as_json: bool) -> None:
    from flows.commands import journal_work as journal  # noqa: PLC0415

    if as_json:
        print_json(document)
    else:
        terminal().print(*journal.taken_lines(document), sep="\n")
    raise typer.Exit(int(document["refused"] > 0))
