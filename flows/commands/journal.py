"""`moodflow journal`: show the replies that a lake keeps, share them, take in others'."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from flows.commands import options as opt
from flows.commands.console import CommandResult, detail_lines, folded, numbers, text_table
from flows.commands.plan_options import PlanCommand, PlanOptions, read_plan
from flows.commands.process import imports
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder, parse_folder
from tasks.lake.local_state import state_folder
from tasks.models.journal.table import JOURNAL

if TYPE_CHECKING:
    from tasks.models.journal.files import ImportedReplies

KIB = 1024

journal_app = typer.Typer(no_args_is_help=True, help="The replies a lake keeps, to be shared and taken in.")

ParquetFile = Annotated[Path, typer.Argument(metavar="FILE.parquet")]
OtherJournal = Annotated[Folder, typer.Argument(metavar="LAKE_OR_FILE", parser=parse_folder)]


@journal_app.command("show")
def show_journal(*, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Replies by endpoint and model: number, size, dates."""
    from tasks.models.journal.files import summarise  # noqa: PLC0415

    file = _journal_of(lake)
    models = summarise(file)
    size, replies = file.stat().st_size, sum(row["replies"] for row in models)
    document = {"journal": str(file), "file_bytes": size, "replies": replies, "models": models}
    table = text_table(folded("Endpoint"), "Model", *numbers("Replies", "KiB"), "First", "Last")
    for row in models:
        amounts = (f"{row['replies']:,}", f"{row['bytes'] / KIB:,.0f}")
        table.add_row(escape(row["identity"]), escape(row["model"] or "?"), *amounts, row["first"], row["last"])
    said = escape(f"{replies:,} replies in {file}, {size / KIB:,.0f} KiB")
    CommandResult(0, document, [table, said]).finish(as_json=as_json)


@journal_app.command("export")
def export_journal(
    file: ParquetFile,
    *,
    model: str | None = typer.Option(None, "--model", help="only replies to calls that asked this model"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the replies to a Parquet file."""
    from tasks.models.journal.files import export_replies  # noqa: PLC0415

    replies = export_replies(_journal_of(lake), file, model)
    document = {"file": str(file), "replies": replies, "file_bytes": file.stat().st_size}
    CommandResult(0, document, [escape(f"{replies:,} replies written to {file}")]).finish(as_json=as_json)


@journal_app.command("import", cls=PlanCommand)
def import_journal(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="FILE.parquet|FOLDER", help="exported replies, or a folder of result files")],
    benchmark: Annotated[str | None, typer.Argument(metavar="BENCHMARK", help="what a folder's replies are to")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Take in the replies of a file, each verified, or of result files to the calls of a plan. Ends with 1 if one was refused."""
    options: PlanOptions = context.obj
    ours = _journal_of(options.lake)
    if benchmark is not None:
        plan = read_plan(benchmark, options)
        with imports():
            from flows.commands.replies_by_file import import_results  # noqa: PLC0415
            from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415
        taken = run_to_end(import_results(plan, source))
    else:
        from tasks.models.journal.files import import_replies  # noqa: PLC0415

        _require_no_plan(source, options)
        taken = import_replies(source, ours)
    _imported(source, ours, taken).finish(as_json=as_json)


def _require_no_plan(source: Path, options: PlanOptions) -> None:
    """Raise UsageError if options of a plan are given, or needed, without a benchmark."""
    unfit = [name for name in options.named if name != "--lake"]
    if unfit or source.is_dir():
        raise UsageError(
            "replies are placed at the calls of a benchmark, and none is named",
            where="BENCHMARK",
            expected="a folder, the benchmark and the options of its run; or a file and --lake alone",
            got=", ".join([str(source), *unfit]),
            next_step="moodflow journal import FOLDER BENCHMARK --model NAME",
        )


@journal_app.command("merge")
def merge_journal(other: OtherJournal, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of another journal, each verified. Ends with 1 if one was refused."""
    from tasks.models.journal.files import merge_replies  # noqa: PLC0415

    ours, kept = _journal_of(lake), state_folder(other)
    theirs = _journal_of(other) if kept.is_dir() else kept
    _imported(theirs, ours, merge_replies(theirs, ours)).finish(as_json=as_json)


def _journal_of(lake: Folder | None) -> Path:
    return state_folder(lake or DEFAULT_LAKE) / JOURNAL


def _imported(source: Path, ours: Path, taken: "ImportedReplies") -> CommandResult:
    document = {"source": str(source), "journal": str(ours), "good": taken.good, **vars(taken)}
    return CommandResult(int(taken.refused > 0), document, [*detail_lines(document)])
