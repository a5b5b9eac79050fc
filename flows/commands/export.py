"""`moodflow export`: write the results of runs as one table, to be read by pandas, a database or a spreadsheet."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.documents.lake import ExportedResults
from schemas.errors import unknown_name
from schemas.folders import DEFAULT_LAKE
from tasks.runs.past_run import reopen
from tasks.runs.tidy import COLUMNS, read_tidy
from tasks.runs.tidy_files import write_results

Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help=opt.HANDLES)]
ToFile = Annotated[Path, typer.Option("--to", metavar="FILE", help="file that ends in .parquet, .csv, .sqlite or .xlsx")]
Without = Annotated[list[str] | None, typer.Option("--without", metavar="COLUMN", help="leave a column out; may be repeated")]

app = typer.Typer(add_completion=False)


@app.command()
def export(
    runs: Runs,
    to: ToFile,
    without: Without = None,
    redact: bool = typer.Option(False, "--redact", help="leave texts out whose licence forbids passing them on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the results of runs as one table: a row per value that an answer earned.

    The file is Parquet, CSV, SQLite or Excel, by its ending; one that is there is replaced.
    A row without a value says why in its status.
    `moodflow docs read-the-lake` describes the columns. To write annotated conversations as the result files of their paper, use
    moodflow runs export.
    """
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

    write_results(to, pl.DataFrame(schema=COLUMNS).drop(without or ()), counted())
    rows, missing = counts["rows"], counts["missing"]
    document = ExportedResults(runs=tuple(past), file=str(to), rows=rows, without_value=missing)
    CommandResult(0, document, [f"{rows:,} rows written to {to}, {missing:,} of them without a value"]).finish(as_json=as_json)
