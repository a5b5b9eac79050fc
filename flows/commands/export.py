"""`moodflow export`: write the results of runs as one table, or in a form that other tools read."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.documents.lake import ExportedRecords, ExportedResults
from schemas.errors import UsageError, try_each, unknown_name
from schemas.folders import DEFAULT_LAKE
from tasks.interchange.every_eval_ever import write_published, write_run
from tasks.interchange.every_eval_ever_results import ExportOptions, Relationship
from tasks.interchange.hub import write_hub
from tasks.interchange.inspect_logs import write_inspect
from tasks.interchange.lm_eval import write_lm_eval
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.tidy import COLUMNS, read_tidy
from tasks.runs.tidy_files import write_results

WRITERS: dict[str, Callable[[PastRun, Path, ExportOptions], ExportedRecords]] = {
    "every-eval-ever": write_run,
    "hub": write_hub,
    "inspect": write_inspect,
    "lm-eval": write_lm_eval,
}
"""What writes a run into a folder, by the name of the form."""

FORMS = " or ".join(WRITERS)

app = typer.Typer(add_completion=False)


@app.command()
def export(
    to: Annotated[
        Path, typer.Option("--to", metavar="FILE|FORM", help=f"file that ends in .parquet, .csv, .sqlite or .xlsx, or {FORMS}")
    ],
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN...", help=opt.HANDLES)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help=f"folder to write to, for {FORMS}")] = None,
    published: str | None = typer.Option(None, "--published", metavar="BENCHMARK", help="a paper's table in place of runs"),
    organisation: str = typer.Option("unknown", "--organisation", metavar="NAME", help="who evaluated, for the records"),
    relationship: Annotated[Relationship, typer.Option("--relationship", help="of the evaluator to the model")] = "third_party",
    hub_id: Annotated[
        list[str] | None,
        typer.Option("--hub-id", metavar="MODEL=DEVELOPER/NAME", help="what a model is called on the hub; may be repeated"),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="COLUMN", help="leave a column out; may be repeated")
    ] = None,
    redact: bool = typer.Option(False, "--redact", help="leave texts out whose licence forbids passing them on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the results of runs as one table, or as files that other tools read.

    A table has a row per value that an answer earned. It is Parquet, CSV, SQLite or Excel, by the ending of --to; a file that is
    there is replaced.
    A row without a value says why in its status.
    `moodflow docs read-the-lake` describes the columns, `moodflow docs how-to/export` the other forms.
    To write annotated conversations as the result files of their paper, use moodflow runs export.
    """
    past = {run.name: run for run in try_each(partial(reopen, lake or DEFAULT_LAKE), runs or ())}
    _require_fitting(to, out, published, tuple(past))
    if out:
        options = ExportOptions(organisation, relationship, dict(map(_read_hub_id, hub_id or ())), redact)
        parts = [WRITERS[str(to)](run, out, options) for run in past.values()]
        written = write_published(published, out, options) if published else ExportedRecords.joined(parts, folder=str(out))
        CommandResult(0, written, [*_lines(written)]).finish(as_json=as_json)
    else:
        _write_table(past, to, without or (), redact=redact).finish(as_json=as_json)


def _require_fitting(to: Path, out: Path | None, published: str | None, runs: tuple[str, ...]) -> None:
    """Raise UsageError unless a form has a folder, a file has none, and there are either runs or a paper."""
    if (str(to) in WRITERS) != (out is not None):
        raise UsageError(
            f"{to} is written to a folder" if out is None else "a table is one file and has no folder",
            where="--to, --out",
            expected=f"--to FILE alone, or --to {FORMS} with --out FOLDER",
            got=f"--to {to}" + (f" --out {out}" if out else ""),
            next_step=f"add --out FOLDER, or name {FORMS} under --to",
        )
    if bool(runs) == bool(published) or (published and str(to) != "every-eval-ever"):
        raise UsageError(
            "results come from runs, or from a paper's table",
            where="RUN, --published",
            expected="names of runs, or --published BENCHMARK with --to every-eval-ever",
            got=f"--published {published} --to {to}" if published else "neither",
            next_step="moodflow runs list names the runs",
        )


def _read_hub_id(text: str) -> tuple[str, str]:
    model, _, name = text.rpartition("=")
    if not model or name.count("/") != 1 or not all(name.split("/")) or ".." in name:
        expected, step = "MODEL=DEVELOPER/NAME", "give the model as in the run, and its id on the hub"
        raise UsageError("an id on the hub cannot be read", where="--hub-id", expected=expected, got=text, next_step=step)
    return model, name


def _lines(written: ExportedRecords) -> Iterator[str]:
    yield f"{len(written.files):,} files and {written.samples:,} samples written to {written.folder}"
    for each in written.withheld:
        what = "its samples have a notice for each text" if each.lines else "no samples of it, --redact writes them without texts"
        yield f"{each.dataset}: licence {each.licence}, {what}"
    yield from (f"Left out, no score: {each.name} of {each.model}" for each in written.missing)


def _write_table(past: dict[str, PastRun], to: Path, without: list[str] | tuple[str, ...], *, redact: bool) -> CommandResult:
    if unknown := [name for name in without if name not in COLUMNS]:
        raise unknown_name("column", unknown[0], COLUMNS, "--without", "name one of these")
    shown = [
        replace(run, manifest=run.manifest.model_copy(update={"redacted": True})) if redact else run for run in past.values()
    ]
    counts = Counter[str]()

    def counted() -> Iterator[pl.DataFrame]:
        for frame in (frame for run in shown for frame in read_tidy(run)):
            counts.update(rows=frame.height, missing=frame["value"].null_count())
            yield frame.drop(without)

    write_results(to, pl.DataFrame(schema=COLUMNS).drop(without), counted())
    rows, missing = counts["rows"], counts["missing"]
    document = ExportedResults(runs=tuple(past), file=str(to), rows=rows, without_value=missing)
    return CommandResult(0, document, [f"{rows:,} rows written to {to}, {missing:,} of them without a value"])
