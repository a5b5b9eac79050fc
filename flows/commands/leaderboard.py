"""`moodflow leaderboard`: rank the models of a benchmark, in the terminal or as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, first_lines, terminal_table
from flows.commands.run_view import label_systems
from flows.commands.screen import FirstFit
from schemas.documents.leaderboard import PublishedRow, RankedSystems, StoredRow
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.table import Column, Table, Value, columns
from tasks.certificates.lookup import marked
from tasks.lake.files import require_ending
from tasks.lake.manifest import read_changes
from tasks.leaderboard import ranking as leaderboards
from tasks.leaderboard.across_models import compare_models, describe_leaderboard, groups_said
from tasks.leaderboard.descriptions import choose_described
from tasks.leaderboard.history import stored_leaderboard
from tasks.leaderboard.rank_ranges import ties_said, with_rank_ranges
from tasks.leaderboard.ranking import LeaderboardData, judges_said
from tasks.reporting.content.score_tables import describe_dimensions
from tasks.reporting.content.verdicts import interval_cell
from tasks.reporting.leaderboard_files import INDEX, write_leaderboard, write_site
from tasks.reporting.run_files import load_report_data
from tasks.runs.run_tables import ReportData
from tasks.runs.verdict import label_of
from tasks.text.tables import as_cell

Runs = Annotated[
    list[str] | None, typer.Option("--run", help="only this run; repeatable; default: the newest of each model in each group")
]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="also write a page with figures and history")]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="also write tables as CSV, more of them next to it")]
Latex = Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="also write tables as LaTeX, for a paper")]
Site = Annotated[Path | None, typer.Option("--site", metavar="DIR", help="also write a folder of pages for any web server")]

app = typer.Typer(add_completion=False)


@app.command()
def leaderboard(
    benchmark: opt.Benchmark,
    published: bool = typer.Option(False, "--published", help="rank the paper's models by our aggregation and veto"),
    with_published: bool = typer.Option(False, "--with-published", help="show the paper's models next to yours"),
    run: Runs = None,
    html: Page = None,
    csv: Csv = None,
    latex: Latex = None,
    site: Site = None,
    where: str | None = typer.Option(None, "--where", metavar="COND", help="rank only the models that meet this condition"),
    group_by: str | None = typer.Option(None, "--group-by", metavar="FIELD", help="group by institution, series, openness ..."),
    profile: opt.ScoredAs = "corrected",
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Rank the models of a benchmark."""
    folder, runs = lake or DEFAULT_LAKE, run or []
    if html:
        require_ending(html, "--html", ".html")
    if published and (runs or with_published):
        raise UsageError(
            "--published shows only the paper's models and takes no --run",
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
    ranked = ranked if published else with_rank_ranges(ranked)
    page = stored_leaderboard(folder, ranked, html) if html and not published else ranked
    written = {name: str(file) for name, file in (("html", html), ("csv", csv), ("latex", latex)) if file}
    across = compare_models(ranked, folder) if as_json or written or site else ()
    for name, file in written.items():
        write_leaderboard(name, Path(file), page, across)
    document = describe_leaderboard(ranked, across).model_copy(update=written)
    if site:
        whole = ranked if published else stored_leaderboard(folder, ranked, site / INDEX)
        write_site(site, whole, across, document, redacted_reports(whole, folder))
        document = document.model_copy(update={"site": str(site)})
    CommandResult(int(bool(page.damaged)), document, _view(benchmark, document, ranked)).finish(as_json=as_json)


def redacted_reports(ranked: LeaderboardData, folder: Folder) -> Iterator[ReportData]:
    """Yield what is shown of each run, without texts that may not be passed on."""
    for run in ranked.runs.values():
        manifest = run.manifest.model_copy(update={"redacted": True})
        yield load_report_data(replace(run, manifest=manifest, names_lake=False), read_changes(folder, run.name))


def _view(benchmark: str, document: RankedSystems, ranked: LeaderboardData) -> list[RenderableType]:
    tables = []
    field = ranked.chosen.group_by
    for (number, said), rows in groupby(document.models, key=lambda row: (row.group, row.said(field))):
        apart = f", group {number}: {ranked.groups[number - 1].words}" if number and len(ranked.groups) > 1 else ""
        apart += f", {field} {said or 'not said'}" if field else ""
        tables.append(leaderboard_table(f"{benchmark}{apart}", [*rows], ranked))
    if document.published:
        tables.append(leaderboard_table(f"{benchmark}, the paper's models", document.published, ranked))
    told = [row for row in document.models if row.run and (row.verdict != "scored" or row.unranked)]
    rated = describe_dimensions(ranked)
    files = (("Site", document.site), ("Page", document.html), ("Tables", document.csv), ("Tables", document.latex))
    return [
        *tables,
        *first_lines([row.headline for row in told]),
        *(_dimensions(table, document) for table in rated if len(rated) == len(ranked.blueprint.datasets)),
        *ties_said(ranked),
        *judges_said(ranked),
        *groups_said(ranked),
        *(f"{title}: {file}" for title, file in files if file),
    ]


def leaderboard_table(title: str, rows: Sequence[StoredRow | PublishedRow], ranked: LeaderboardData) -> RenderableType:
    """Return a leaderboard with a column for each ability; these are a table of their own where all are too wide together."""
    name = Column("Model", "name")
    heads = (
        *(Column("#", "count"), Column("Ranks"), name, Column("Total", "score", 1), Column("95 % interval", "interval", 1)),
        *columns("verdict", "Verdict", "Comparability", "Run before"),
        Column("Coverage", "share"),
    )
    abilities = [main for main in ranked.blueprint.abilities if any(main.id in row.abilities for row in rows)]
    scores = columns("score", *(main.title for main in abilities), digits=1)
    named = zip(label_systems(rows), rows, strict=True)
    labels = [marked(label, ranked.judges.get(row.run or "", ())) for label, row in named]
    values = [(label, *(row.abilities.get(main.id) for main in abilities)) for label, row in zip(labels, rows, strict=True)]
    places = [(row.rank, row.rank_range, label, *_standing(row, ranked)) for label, row in zip(labels, rows, strict=True)]
    may_be_empty = ("Ranks", "95 % interval", "Verdict", "Comparability", "Run before", "Coverage")
    both = Table((*heads, *scores), [(*place, *row[1:]) for place, row in zip(places, values, strict=True)], title)
    apart, own = Table(heads, places, title).without_empty(*may_be_empty), terminal_table(Table((name, *scores), values))
    forms = (terminal_table(both.without_empty(*may_be_empty)), Group(terminal_table(apart), "", own))
    return Group(FirstFit(*forms), "")


def _standing(row: StoredRow | PublishedRow, ranked: LeaderboardData) -> tuple[Value, ...]:
    fell = (row.run, row.model, row.setting) in ranked.regressed
    verdict = row.verdict if row.verdict != "scored" else "not ranked" if row.unranked else ""
    likeness = row.comparability.verdict if row.comparability else None
    coverage = row.coverage if row.coverage < 1 else None
    ends = interval_cell(row)
    return row.total, ends if ends.note else ends.value, verdict, likeness, "regressed" if fell else "", coverage


def _dimensions(rated: Table, document: RankedSystems) -> RenderableType:
    """Return the rated dimensions of a dataset, a row for each model; their average is the score of the dataset."""
    settings = {label_of(row).removeprefix(row.model) for row in document.models}
    setting = settings.pop() if len(settings) == 1 else ""
    scores = [
        (str(name).removesuffix(setting), *(as_cell(value).value for value in values)) for name, *values, _average in rated.rows
    ]
    heads = tuple(column._replace(digits=1) for column in rated.columns[:-1])
    return terminal_table(Table(heads, scores, f"{rated.title}: dimensions on 0-100"))
