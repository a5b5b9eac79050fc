"""`moodflow leaderboard`: rank the models of a benchmark, in the terminal or as a page."""

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, terminal_table
from flows.commands.run_view import leaderboard_table
from schemas.documents.leaderboard import RankedSystems
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE
from schemas.table import Table
from tasks.leaderboard import ranking as leaderboards
from tasks.leaderboard.across_models import compare_models, describe_leaderboard, groups_said
from tasks.leaderboard.descriptions import choose_described
from tasks.leaderboard.history import stored_leaderboard
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.content.score_tables import describe_dimensions
from tasks.reporting.leaderboard_files import write_leaderboard
from tasks.text.tables import as_cell

Runs = Annotated[list[str] | None, typer.Option("--run", help="only this run; repeatable; default: the newest of each model")]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="also write a page with figures and history")]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="also write tables as CSV, further ones beside the file")]
Latex = Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="also write tables as LaTeX, for a paper")]

app = typer.Typer(add_completion=False)


@app.command()
def leaderboard(
    benchmark: opt.Benchmark,
    published: bool = typer.Option(False, "--published", help="rank the paper's models by our aggregation and veto"),
    with_published: bool = typer.Option(False, "--with-published", help="show the paper's models beside your own"),
    run: Runs = None,
    html: Page = None,
    csv: Csv = None,
    latex: Latex = None,
    where: str | None = typer.Option(None, "--where", metavar="COND", help="only models that meet this, ranked anew"),
    group_by: str | None = typer.Option(None, "--group-by", metavar="FIELD", help="group by institution, series, openness ..."),
    profile: opt.ScoredAs = "corrected",
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Rank the models of a benchmark."""
    folder, runs = lake or DEFAULT_LAKE, run or []
    if html and (html.suffix != ".html" or html.is_dir()):
        raise UsageError(
            "the page needs a file name",
            where="--html",
            expected="a file that ends in .html",
            got=str(html),
            next_step="for example --html leaderboard.html",
        )
    if published and (runs or with_published):
        raise UsageError(
            "a paper's table has no runs",
            where="--published with --run or --with-published",
            expected="--published alone",
            got=f"--run {runs[0]}" if runs else "--with-published",
            next_step="leave out --published to see runs",
        )
    if published:
        ranked = leaderboards.published_leaderboard(benchmark)
    else:
        ranked = leaderboards.rank_stored_systems(benchmark, folder, runs, profile)
    ranked = choose_described(ranked, where, group_by)
    if with_published:
        paper = choose_described(leaderboards.published_leaderboard(benchmark), where, group_by)
        ranked = leaderboards.with_published(ranked, paper)
    page = stored_leaderboard(folder, ranked, html) if html and not published else ranked
    written = {name: str(file) for name, file in (("html", html), ("csv", csv), ("latex", latex)) if file}
    across = compare_models(ranked, folder) if as_json or written else ()
    for name, file in written.items():
        write_leaderboard(name, Path(file), page, across)
    document = describe_leaderboard(ranked, across).model_copy(update=written)
    CommandResult(int(bool(page.damaged)), document, _view(benchmark, document, ranked)).finish(as_json=as_json)


def _view(benchmark: str, document: RankedSystems, ranked: LeaderboardData) -> list[RenderableType]:
    """Return what a terminal shows: a table for each group, or one for a paper's; rated dimensions; groups; files."""
    tables = []
    field = ranked.chosen.group_by
    for (number, said), rows in groupby(document.models, key=lambda row: (row.group, row.said(field))):
        apart = f", group {number}: {ranked.groups[number - 1].words}" if number and len(ranked.groups) > 1 else ""
        apart += f", {field} {said or 'not said'}" if field else ""
        tables.append(leaderboard_table(f"{benchmark}{apart}", list(rows), ranked.regressed))
    if document.published:
        tables.append(leaderboard_table(f"{benchmark}, the paper's models", document.published))
    rated = describe_dimensions(ranked)
    files = (("Page", document.html), ("Tables", document.csv), ("Tables", document.latex))
    return [
        *tables,
        *(_dimensions(table) for table in rated if len(rated) == len(ranked.blueprint.datasets)),
        *groups_said(ranked),
        *(f"{title}: {file}" for title, file in files if file),
    ]


def _dimensions(rated: Table) -> RenderableType:
    scores = [[as_cell(value).value for value in row] for row in rated.rows]
    return terminal_table(Table(rated.columns, scores, f"{rated.title}: dimensions on 0-100"))
