"""`moodflow journal`: show the replies that a lake keeps, share them, take in others'."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, detail_lines, terminal_table
from flows.commands.plan_options import PlanCommand, PlanOptions, read_plan
from flows.commands.process import require_prefect_settings
from flows.commands.stages import resolve_all
from schemas.documents.lake import JournalExport, JournalImport
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder, parse_folder
from schemas.table import Column, Table
from tasks.lake.local_state import state_folder
from tasks.models.batches.import_files import FORMS, import_answers
from tasks.models.journal.files import ImportedReplies, export_replies, import_replies, merge_replies, summarise
from tasks.models.journal.table import JOURNAL

KIB = 1024

app = typer.Typer(no_args_is_help=True, add_completion=False)

ParquetFile = Annotated[Path, typer.Argument(metavar="FILE.parquet")]
OtherJournal = Annotated[Folder, typer.Argument(metavar="LAKE_OR_FILE", parser=parse_folder)]


@app.command("show")
def show_journal(*, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Show how many replies are stored, by server and model."""
    document = summarise(_journal_of(lake))
    counts = (Column("Replies", "count"), Column("KiB", "number", digits=0))
    columns = (Column("Endpoint"), Column("Model"), *counts, Column("First"), Column("Last"))
    rows = [(row.identity, row.model or "?", row.replies, row.bytes / KIB, row.first, row.last) for row in document.models]
    total = f"{document.replies:,} replies in {document.journal}, {document.file_bytes / KIB:,.0f} KiB"
    CommandResult(0, document, [terminal_table(Table(columns, rows)), total]).finish(as_json=as_json)


@app.command("export")
def export_journal(
    file: ParquetFile,
    *,
    model: str | None = typer.Option(None, "--model", help="only replies of this model"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the replies to a Parquet file."""
    replies = export_replies(_journal_of(lake), file, model)
    document = JournalExport(file=str(file), replies=replies, file_bytes=file.stat().st_size)
    CommandResult(0, document, [f"{replies:,} replies written to {file}"]).finish(as_json=as_json)


@app.command("requests", cls=PlanCommand)
def write_requests(context: typer.Context, to: opt.ToFolder, benchmark: opt.Planned = None, as_json: opt.AsJson = False) -> None:
    """Write the calls that a run would make, as a batch and as a task of lm-evaluation-harness."""
    plan = read_plan(benchmark, context.obj)
    require_prefect_settings()
    from flows.commands.planned_calls import write_wave  # noqa: PLC0415
    from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415

    (resolved,) = resolve_all([plan])
    document = run_to_end(write_wave(resolved, to))
    CommandResult(int(bool(document.missing)), document).finish(as_json=as_json)


@app.command("import", cls=PlanCommand)
def import_journal(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", help="FILE.parquet, a log FILE.jsonl, or result files")],
    benchmark: Annotated[str | None, typer.Argument(metavar="BENCHMARK", help="of the replies in a folder")] = None,
    requests: Annotated[
        Path | None, opt.option("calls that the log answers: --requests-to or journal requests", opt.WHERE, "FILE|FOLDER")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Import replies from a file, from the log of a batch, or from result files. Ends with status 1 if one was refused.

    Each reply is verified. A log is the output or error file of a batch (OpenAI, vLLM, Anthropic, Gemini), or the samples of
    lm-evaluation-harness.
    """
    options: PlanOptions = context.obj
    unfit = [name for name in options.named if name != "--lake"] if benchmark is None else ["--requests"] if requests else []
    if unfit:
        raise UsageError(
            "these options need a benchmark, --requests must not have one",
            where=", ".join(unfit),
            expected="FILE.parquet; FILE.jsonl --requests FILE|FOLDER; or FOLDER BENCHMARK with the options of its run",
            next_step="leave them out, or name the benchmark",
        )
    plan = read_plan(benchmark, options) if benchmark else None
    ours = _journal_of(plan.lake if plan else options.lake)
    if plan:
        require_prefect_settings()
        from flows.commands.planned_calls import import_results  # noqa: PLC0415
        from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415

        (resolved,) = resolve_all([plan])
        taken = run_to_end(import_results(resolved, source))
    else:
        taken = import_answers(source, requests, ours) if requests else import_replies(source, ours)
    _imported(source, ours, taken).finish(as_json=as_json)


@app.command("merge")
def merge_journal(other: OtherJournal, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Import the replies of another journal, each verified. Ends with status 1 if one was refused."""
    ours, kept = _journal_of(lake), state_folder(other)
    theirs = _journal_of(other) if kept.is_dir() else kept
    _imported(theirs, ours, merge_replies(theirs, ours)).finish(as_json=as_json)


def _journal_of(lake: Folder | None) -> Path:
    return state_folder(lake or DEFAULT_LAKE) / JOURNAL


def _imported(source: Path, ours: Path, taken: ImportedReplies) -> CommandResult:
    good = taken.added + taken.same + taken.kept_ours
    document = JournalImport(source=str(source), journal=str(ours), good=good, **vars(taken))
    hints = [f"A line has the fields {taken.unknown_form}. Forms that are read: {FORMS}."] if taken.unknown_form else []
    return CommandResult(int(taken.refused > 0), document, [*detail_lines(document), *hints])
