"""`moodflow runs`: show runs, describe their models, write a report again."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.config_files import read_descriptions
from flows.commands.console import CommandResult, detail_lines
from flows.commands.run_view import run_view
from flows.commands.runs_list import list_command
from schemas.documents.run import ExportedRun, RewrittenReport
from schemas.folders import DEFAULT_LAKE, Folder
from tasks.lake.manifest import (
    describe_models,
    read_changes,
    read_code_version,
    read_manifest,
    run_folder,
)
from tasks.lake.seal import check_seal, seal_run
from tasks.reporting.page import write_report
from tasks.reporting.run_document import describe_run
from tasks.reporting.run_files import load_report_data
from tasks.runs.join_tables import write_join_tables
from tasks.runs.past_run import reopen
from tasks.runs.sections import EXCHANGES

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("list")(list_command)


@app.command("show")
def show_command(run: opt.Run, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Show the scores, calls, tokens, cost and report of a run."""
    past = reopen(lake or DEFAULT_LAKE, run)
    document = describe_run(past.manifest, past.lake)
    CommandResult(0, document, run_view(document, past)).finish(as_json=as_json)


@app.command("report")
def report_command(
    run: opt.Run,
    out: Annotated[Path | None, typer.Option("--out", help="folder for the report")] = None,
    redact: bool = typer.Option(False, "--redact", help="leave out texts whose licence forbids passing them on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the report of a run again, without sources, models or journal.

    It replaces the old one, or goes to --out; with --redact to `redacted` beside it, unless the run is redacted itself.
    """
    folder = lake or DEFAULT_LAKE
    past = reopen(folder, run)
    manifest, own = past.manifest, run_folder(folder, past.name)
    target = out or (own / "redacted" if redact and not manifest.redacted else own)
    redacted = replace(past, manifest=manifest.model_copy(update={"redacted": redact or manifest.redacted}))
    write_report(load_report_data(redacted, read_changes(folder, past.name)), target)
    if target == own:
        write_join_tables(folder, manifest, past.blueprint)
    intact, sealed = _seal(own) if target == own else (True, ())
    document = RewrittenReport(
        run=past.name,
        report=str(target / "report.html"),
        markdown=str(target / "report.md"),
        redacted=redacted.manifest.redacted,
        written_by=read_code_version().package,
        run_written_by=manifest.package_version,
        sealed_again=sealed,
        intact=intact,
    )
    changed = "The run's folder was changed since it was sealed, so it is not sealed again: moodflow verify says more"
    CommandResult(int(not intact), document, [*detail_lines(document), *([] if intact else [changed])]).finish(as_json=as_json)


@app.command("describe")
def describe_command(run: opt.Run, about: opt.DescriptionFile, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Change the descriptions of the models of a run and show it; no call, no score and no name changes."""
    folder = lake or DEFAULT_LAKE
    names = [model["name"] for model in read_manifest(folder, run).plan.get("models", ())]
    describe_models(folder, run, read_descriptions(about, names))
    show_command(run, folder, as_json)


@app.command("export")
def export_command(
    run: opt.Run,
    to: opt.ToFolder,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the replies and scores of a run about annotated conversations as result files and a score file.

    To write the results of any run as one table, use moodflow export.
    """
    past = reopen(lake or DEFAULT_LAKE, run)
    of_run = [exchange for setting, exchange in EXCHANGES.items() if past.partitions("answers", setting=setting)]
    written = [path for exchange in of_run or EXCHANGES.values() for path in exchange.export(past, to)]
    document = ExportedRun(run=past.name, folder=str(to), files=tuple(path.name for path in written))
    CommandResult(0, document, [f"{len(written):,} files written to {to}"]).finish(as_json=as_json)


def _seal(own: Folder) -> tuple[bool, tuple[str, ...]]:
    """Seal a run's folder again if nothing but its report differs from what was sealed: whether so, and what differed."""
    check = check_seal(own)
    names = tuple(file.name for file in check.broken) if check else ()
    intact = all(name.startswith("report.") for name in names)
    if names and intact:
        seal_run(own)
    return intact, names
