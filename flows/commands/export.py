"""`moodflow export`: write the results of runs as one table, or of a run as files of another harness."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.documents.lake import ExportedResults
from schemas.errors import UsageError, unknown_name
from schemas.folders import DEFAULT_LAKE, Folder
from tasks.interchange.inspect_logs import write_inspect
from tasks.interchange.lm_eval import write_lm_eval
from tasks.interchange.samples import Exported
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.tidy import COLUMNS, read_tidy
from tasks.runs.tidy_files import write_results

Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help=opt.HANDLES)]
ToFile = Annotated[
    str, typer.Option("--to", metavar="FILE|FORMAT", help="file that ends in .parquet, .csv, .sqlite or .xlsx; or a format")
]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="folder for the files of a format")]
Without = Annotated[list[str] | None, typer.Option("--without", metavar="COLUMN", help="leave a column out; may be repeated")]

FORMATS: Mapping[str, Callable[[PastRun, Path, Mapping[str, Any]], Exported]] = {
    "inspect": write_inspect,
    "lm-eval": write_lm_eval,
}
"""Writes a run as the files of another harness, by the name of the format; the mapping has the options of the command."""

app = typer.Typer(add_completion=False)


@app.command()
def export(
    runs: Runs,
    to: ToFile,
    out: OutFolder = None,
    without: Without = None,
    redact: bool = typer.Option(False, "--redact", help="leave texts out whose licence forbids passing them on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the results of runs as one table: a row per value that an answer earned.

    The file is Parquet, CSV, SQLite or Excel, by its ending; one that is there is replaced. Two formats take one run and need
    --out FOLDER: `inspect` (logs; needs the extra inspect) and `lm-eval` (results and samples of lm-evaluation-harness).
    A row without a value says why in its status.
    `moodflow docs read-the-lake` describes the columns. To write annotated conversations as the result files of their paper, use
    moodflow runs export.
    """
    if to in FORMATS or out:
        _export_folder(runs, to, out, {"redact": redact, "without": without}, lake or DEFAULT_LAKE).finish(as_json=as_json)
        return
    if unknown := [name for name in without or () if name not in COLUMNS]:
        raise unknown_name("column", unknown[0], COLUMNS, "--without", "name one of these")
    past = {run.name: run for run in (reopen(lake or DEFAULT_LAKE, name) for name in runs)}
    shown = [
        replace(run, manifest=run.manifest.model_copy(update={"redacted": True})) if redact else run for run in past.values()
    ]
    counts = Counter[str]()

    def counted() -> Iterator[pl.DataFrame]:
        for frame in (frame for run in shown for frame in read_tidy(run)):
            counts.update(rows=frame.height, missing=frame["value"].null_count())
            yield frame.drop(without or ())

    write_results(Path(to), pl.DataFrame(schema=COLUMNS).drop(without or ()), counted())
    rows, missing = counts["rows"], counts["missing"]
    document = ExportedResults(runs=tuple(past), file=to, rows=rows, without_value=missing)
    CommandResult(0, document, [f"{rows:,} rows written to {to}, {missing:,} of them without a value"]).finish(as_json=as_json)


def _export_folder(runs: list[str], to: str, out: Path | None, options: Mapping[str, Any], lake: Folder) -> CommandResult:
    """Write a run in a format of FORMATS into a folder."""
    if to not in FORMATS:
        raise unknown_name("format", to, FORMATS, "--to", "leave --out out to write one file")
    if out is None or len(runs) > 1 or options["without"]:
        expected = "one run, --out FOLDER and no --without"
        raise UsageError(f"format {to} is written to a folder", where="--to", expected=expected, next_step="add --out FOLDER")
    run = reopen(lake, runs[0])
    done = FORMATS[to](run, out, options)
    left = [f"Left out, since their licence forbids to pass texts on: {', '.join(done.withheld)}"] if done.withheld else []
    files = tuple(str(file.relative_to(out)) for file in done.files)
    document = ExportedResults(
        runs=(run.name,), file=str(out), rows=done.rows, without_value=done.without_value, files=files, withheld=done.withheld
    )
    return CommandResult(0, document, [f"{done.rows:,} samples written to {len(files):,} files in {out}", *left])
