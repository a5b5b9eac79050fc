"""Pages of the report server that no run has written: what its lakes hold, and the leaderboard of each benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from schemas.documents.run import ListedRun
from schemas.errors import MoodflowError
from schemas.folders import Folder
from schemas.table import Cell, Column, Table, Value, columns
from schemas.vocabulary import CORRECTED
from tasks.lake.manifest import MANIFEST, list_runs, read_all_changes, run_folder, run_number
from tasks.lake.seal import REPORT
from tasks.leaderboard.across_models import compare_models
from tasks.leaderboard.history import stored_leaderboard
from tasks.leaderboard.ranking import LeaderboardData, rank_stored_systems
from tasks.reporting.content.leaderboard import ranking_table
from tasks.reporting.content.verdicts import state_said
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.page import make_environment, render_leaderboard
from tasks.runs.run_list import describe_runs
from tasks.text.number_format import moment

MOST_MODELS, MOST_CHANGES, MOST_RUNS = 3, 8, 100
"""Rows of the page: of a benchmark's leaderboard, of the history, of the runs."""

LEADERBOARD = "leaderboard"
DAMAGED = "damaged"
Stamp = frozenset[tuple[str, float]]


class Board(NamedTuple):
    """The best models of a benchmark, and where all of them are; without a table, `words` say why."""

    title: str
    words: str
    href: str = ""
    table: Table | None = None


class Change(NamedTuple):
    """A run that changed something, and what."""

    href: str
    title: str
    words: str


class ShownLake(NamedTuple):
    """What the page says of a lake."""

    folder: str
    n_runs: int
    boards: tuple[Board, ...]
    history: tuple[Change, ...]
    runs: Table


def stamp_lakes(lakes: Sequence[Folder]) -> Stamp:
    """Return what changes as soon as a run is written to one of the lakes, or goes away."""
    return frozenset((str(path), path.stat().st_mtime) for lake in lakes for path in (lake / "runs").glob(f"*/{MANIFEST}"))


@lru_cache(maxsize=4)
def first_page(lakes: tuple[Folder, ...], stamp: Stamp) -> str:  # noqa: ARG001  it is made again if the stamp is another
    """Return the page about these lakes."""
    shown = [_describe_lake(number, lake) for number, lake in enumerate(lakes)]
    return make_environment().get_template("index.html.jinja").render(lakes=shown, colours=COLOURS)


@lru_cache(maxsize=16)
def leaderboard_page(lake: Folder, benchmark: str, stamp: Stamp) -> str:  # noqa: ARG001  likewise
    """Return the leaderboard of a benchmark; UsageError or BlueprintError: the lake has no run of it."""
    ranked = rank_stored_systems(benchmark, lake, (), CORRECTED)
    data = stored_leaderboard(lake, ranked, Path())
    return render_leaderboard(_linked(data), compare_models(ranked, lake))


def _linked(data: LeaderboardData) -> LeaderboardData:
    """Return a leaderboard whose links hold under whatever name a browser has for the server."""
    return replace(data, links={run.run: _report_of(run.run) for run in data.manifests if run.report})


def _report_of(run: str) -> str:
    return f"/{quote(run)}/{REPORT}"


def _describe_lake(number: int, lake: Folder) -> ShownLake:
    listed = {run.run: run for run in describe_runs(lake).runs}
    names = list_runs(lake)
    benchmarks = dict.fromkeys(run.benchmark for run in listed.values())
    boards = tuple(_describe_board(benchmark, lake, f"/{LEADERBOARD}/{number}/{quote(benchmark)}") for benchmark in benchmarks)
    rows = [_run_row(lake, name, listed.get(name)) for name in names[:MOST_RUNS]]
    heads = (*columns("name", "Run", "Benchmark", "Models"), Column("Total", "score", 1), Column("Verdict", "verdict"))
    runs = Table((*heads, Column("State"), Column("Started")), rows, "Runs, newest first")
    return ShownLake(str(lake), len(names), boards, tuple(_history(lake, listed)), runs)


def _describe_board(benchmark: str, lake: Folder, href: str) -> Board:
    try:
        data = _linked(rank_stored_systems(benchmark, lake, (), CORRECTED))
    except MoodflowError as error:  # a blueprint of one's own file, or a damaged run
        return Board(benchmark, f"Its runs cannot be ranked here: {error.what}.")
    table = ranking_table(data)
    width = [column.title for column in table.columns].index("Verdict") + 1
    best = Table(table.columns[:width], [row[:width] for row in table.rows[:MOST_MODELS]], table.title)
    words = f"The first {MOST_MODELS} of {len(data.rows)}." if len(data.rows) > MOST_MODELS else ""
    return Board(data.blueprint.title, words, href, best)


def _run_row(lake: Folder, name: str, run: ListedRun | None) -> tuple[Value, ...]:
    """Return what is said of a run; null = its manifest cannot be read."""
    number = run_number(name)
    shown = name if number is None else f"#{number}"
    if run is None:
        href = _report_of(name) if (run_folder(lake, name) / REPORT).is_file() else ""
        return Cell(shown, f"moodflow verify {name}", href=href), "", "", None, "", DAMAGED, ""
    total, verdict = (run.best.total, run.best.verdict) if run.best else (None, "")
    state = run.state if run.best else DAMAGED
    href = _report_of(name) if run.report else ""
    return Cell(shown, href=href), run.benchmark, ", ".join(run.models), total, verdict, state, moment(run.started_at)


def _history(lake: Folder, listed: Mapping[str, ListedRun]) -> Iterator[Change]:
    """Yield the newest runs in which something changed."""
    changed = [name for name, run in listed.items() if run.state not in {"UpToDate", DAMAGED}]
    for name, change in read_all_changes(lake, changed[:MOST_CHANGES])[0].items():
        run = listed[name]
        yield Change(_report_of(name), f"{moment(run.started_at)}, {run.benchmark}: {change.state}", state_said(change))
