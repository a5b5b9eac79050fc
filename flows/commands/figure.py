"""`moodflow figure`: a figure of a run or a leaderboard as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.documents.leaderboard import DrawnFigure
from schemas.errors import UsageError, suggest
from schemas.folders import DEFAULT_LAKE, Folder
from tasks.lake.files import require_ending
from tasks.leaderboard.ranking import rank_stored_systems
from tasks.reporting.figures.pictures import to_png
from tasks.reporting.page import write_file
from tasks.reporting.run_figures import HEADLINE, draw_figure, figures_of_leaderboard, figures_of_run
from tasks.runs.past_run import PastRun, reopen
from tasks.scoring.blueprints import SUFFIXES, list_blueprints

What = Annotated[str, typer.Argument(metavar="RUN|BENCHMARK", help="a run of the lake, or a benchmark for its ranked models")]
To = Annotated[Path, typer.Option("--to", metavar="FILE", help="picture.png for slides, picture.svg for papers")]
Name = Annotated[str, typer.Option("--name", help="headline, abilities, map; gains, needles, dialogue where there are such")]

app = typer.Typer(add_completion=False)


@app.command(context_settings={"allow_extra_args": True})
def figure(
    context: typer.Context, what: What, to: To, name: Name = HEADLINE, lake: opt.LakeFolder = None, as_json: opt.AsJson = False
) -> None:
    """Write a figure of a run or a leaderboard as a picture for a slide or a paper.

    A file that is there is replaced. Whatever other figures there are can be named too; a wrong name lists them.
    """
    if context.args:
        raise UsageError(
            "a figure shows one run, or the models of a benchmark",
            where="RUN|BENCHMARK",
            expected="one of them",
            got=" ".join((what, *context.args)),
            next_step="moodflow figure BENCHMARK shows the models of its runs",
        )
    folder = lake or DEFAULT_LAKE
    if what in list_blueprints() or Path(what).suffix in SUFFIXES:
        ranked = rank_stored_systems(what, folder, (), "corrected")
        of, figures = ranked.blueprint.name, figures_of_leaderboard(ranked)
    else:
        run = _reopen(folder, what)
        of, figures = run.name, figures_of_run(run)
    write_picture(draw_figure(figures, name), to)
    CommandResult(0, DrawnFigure(of=of, name=name, file=str(to)), [f"{name} of {of}: {to}"]).finish(as_json=as_json)


def _reopen(folder: Folder, run: str) -> PastRun:
    try:
        return reopen(folder, run)
    except UsageError as error:  # a benchmark may be misspelt as well
        error.expected = f"{error.expected}; or a benchmark: {', '.join(list_blueprints())}"
        error.next_step = suggest(run, list_blueprints(), error.next_step or "", cutoff=0.7)
        raise


def write_picture(picture: str, to: Path) -> None:
    """Write an SVG file, as PNG if its name ends so; UsageError: another name, LakeError: the disk refuses it."""
    require_ending(to, "--to", ".png", ".svg")
    write_file(to, to_png(picture) if to.suffix == ".png" else picture.encode())
