"""`moodflow runs list`, apart from what reads the layers of a run."""

from collections.abc import Sequence

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, local_time, terminal_table
from schemas.documents.run_list import BestTotal, ListedRun
from schemas.folders import DEFAULT_LAKE
from schemas.table import Column, Table, columns
from tasks.lake.manifest import FIRST_RUN, NO_RUNS, list_runs
from tasks.runs.run_list import describe_runs
from tasks.text.number_format import NONE, number

MODELS_WIDTH = 24
"""Of the names of models in the list of runs; there are so many models otherwise."""

app = typer.Typer(add_completion=False)


@app.command()
def list_command(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """List the runs, newest first."""
    folder = lake or DEFAULT_LAKE
    document = describe_runs(folder)
    whole = len(document.runs) == len(list_runs(folder)) and all(run.best and run.state != "damaged" for run in document.runs)
    view = terminal_table(run_table(document.runs)) if list_runs(folder) else f"{NO_RUNS}; {FIRST_RUN}".capitalize()
    CommandResult(int(not whole), document, [view]).finish(as_json=as_json)


def run_table(runs: Sequence[ListedRun]) -> Table:
    """Return the runs of a lake, in 80 columns."""
    heads = (*columns("name", "#", "Ended", "Benchmark"), *columns("text", "Models", "Total"), Column("State", "name"))
    rows = [
        (run.number, local_time(run.finished_at), run.benchmark, _name_models(run.models), _say_best(run.best), run.state or "")
        for run in runs
    ]
    return Table(heads, rows)


def _name_models(models: Sequence[str]) -> str:
    names = ", ".join(name.rsplit("/", 1)[-1] for name in models)
    return names if len(models) == 1 or len(names) <= MODELS_WIDTH else f"{len(models)} models"


def _say_best(best: BestTotal | None) -> str:
    if best is None or best.total is None:
        return best.verdict if best else NONE
    return number(best.total) if best.verdict == "scored" else f"{number(best.total)} {best.verdict}"
