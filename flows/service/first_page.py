"""Pages of the report server about lakes: what they hold, and the leaderboard of each benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf
from pathlib import Path
from urllib.parse import quote

from schemas.documents.run_list import ListedRun
from schemas.errors import MoodflowError
from schemas.folders import Folder
from schemas.table import Cell, Column, Table, Value, columns
from schemas.vocabulary import CORRECTED
from tasks.lake.manifest import list_runs, read_all_changes, run_folder, run_number, run_stamps
from tasks.lake.run_index import Stamp
from tasks.lake.seal import REPORT
from tasks.leaderboard.across_models import compare_models
from tasks.leaderboard.history import stored_leaderboard
from tasks.leaderboard.rank_ranges import with_rank_ranges
from tasks.leaderboard.ranking import rank_stored_systems
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, state_said, total_cell
from tasks.reporting.page import render_leaderboard, render_template
from tasks.reporting.view.addresses import Address, score_address, served
from tasks.runs.run_list import describe_runs
from tasks.runs.sections import Block, Section
from tasks.solvers.registry import setting_title
from tasks.text.number_format import moment

MOST_MODELS, MOST_CHANGES, MOST_RUNS = 3, 8, 12
"""Rows that are shown at once: of a benchmark's leaderboard, of the history, of the runs."""

LEADERBOARD = "leaderboard"
DAMAGED = "damaged"
Stamps = tuple[tuple[str, Stamp], ...]
"""Of the runs of lakes: others as soon as a run is written or goes away."""


def stamp_lakes(*lakes: Folder) -> Stamps:
    """Return the stamps of all runs of these lakes."""
    return tuple(stamp for lake in lakes for stamp in run_stamps(lake).items())


@lru_cache(maxsize=4)
def first_page(lakes: tuple[Folder, ...], stamps: Stamps, named: tuple[str, ...] = ()) -> str:
    """Return the page about these lakes. `named`: runs that it is about; none = all."""
    many = len(lakes) > 1
    sections = [section for number, lake in enumerate(lakes) for section in _describe_lake(number, lake, named, several=many)]
    # Leaderboards of many benchmarks are not folded as a long table of a report is.
    return render_template("index.html.jinja", lakes=lakes, n_runs=len(stamps), sections=sections, most_rows=inf)


@lru_cache(maxsize=16)
def leaderboard_page(lake: Folder, benchmark: str, stamps: Stamps) -> str:  # noqa: ARG001  with others, it is made again
    """Return the leaderboard of a benchmark; UsageError or BlueprintError: the lake has no run of it."""
    ranked = with_rank_ranges(rank_stored_systems(benchmark, lake, (), CORRECTED))
    data = stored_leaderboard(lake, ranked, Path())
    pages = {run.run: served(Address("run", run.run)) for run in data.manifests}
    systems = ((str(row.run), row.model, row.setting) for row in data.rows)
    scores = {system: served(score_address(*system)) for system in systems}
    return render_leaderboard(replace(data, links=pages, scores=scores), compare_models(ranked, lake))


def report_of(run: str) -> str:
    """Return the address of a run's report, which holds under whatever name a browser has for the server."""
    return f"/{quote(run)}/{REPORT}"


def _describe_lake(number: int, lake: Folder, named: Sequence[str], *, several: bool) -> Iterator[Section]:
    where = f" in {lake}" if several else ""
    names = list_runs(lake)
    if not names:
        start = f"moodflow demo --lake {lake} makes one, or deployment evaluate-a-model in the Prefect UI of moodflow serve"
        yield f"runs-{number}", f"Runs{where}", [Block(words=f"No run is in this lake yet: {start}")]
        return
    runs = {run.run: run for run in describe_runs(lake).runs}
    ranked = [row for name in dict.fromkeys(run.benchmark for run in runs.values()) for row in _rank(name, lake, number)]
    systems = (*columns("count", "Group", "Rank"), *columns("name", "Model", "Setting"), *TOTAL_COLUMNS)
    best = Table((Column("Benchmark"), *systems), ranked, "Best models").without_empty("Group")
    yield f"leaderboards-{number}", f"Leaderboards{where}", [Block(tables=(best,))]
    history = Table((Column("Run", "name"), Column("What changed")), list(_history(lake, runs)), "Runs that changed something")
    changes = Block(tables=(history,)) if history.rows else Block(words="No run changed anything.")
    yield f"history-{number}", f"History{where}", [changes]
    heads = (*columns("name", "Run", "Benchmark", "Models"), Column("Total", "score", 1), Column("Verdict", "verdict"))
    rows = [_run_row(lake, name, runs.get(name)) for name in names if not named or name in named]
    newest, earlier = (
        Table((*heads, *columns("text", "State", "Started", "Report")), part, "Runs, newest first")
        for part in (rows[:MOST_RUNS], rows[MOST_RUNS:])
    )
    more = [Block("Earlier runs", tables=(earlier,), folds=True)] if earlier.rows else []
    yield f"runs-{number}", f"Runs{where}", [Block(tables=(newest,)), *more]


def _rank(benchmark: str, lake: Folder, number: int) -> Iterator[tuple[Value, ...]]:
    """Yield the best models of a benchmark; why there are none, if a blueprint of one's own or a damaged run is the cause."""
    try:
        data = rank_stored_systems(benchmark, lake, (), CORRECTED)
    except MoodflowError as error:
        yield benchmark, None, None, f"its runs cannot be ranked here: {error.what}", "", None, None, ""
        return
    note = f"the first {MOST_MODELS} of {len(data.rows)}" if len(data.rows) > MOST_MODELS else ""
    title = Cell(data.blueprint.title, note, href=f"/{LEADERBOARD}/{number}/{quote(benchmark)}")
    for row in data.rows[:MOST_MODELS]:
        place = row.group if len(data.groups) > 1 else None, row.rank
        system = Cell(row.model, href=served(score_address(str(row.run), row.model, row.setting))), setting_title(row.setting)
        yield title, *place, *system, total_cell(row), interval_cell(row), row.verdict
        title = title._replace(note="")


def _run_row(lake: Folder, name: str, run: ListedRun | None) -> tuple[Value, ...]:
    """Return what is said of a run; null = its manifest cannot be read."""
    number = run_number(name)
    shown = name if number is None else f"#{number}"
    if run is None:
        report = Cell("report", href=report_of(name)) if (run_folder(lake, name) / REPORT).is_file() else ""
        return Cell(shown, f"moodflow verify {name}"), "", "", None, "", DAMAGED, "", report
    total, verdict = (run.best.total, run.best.verdict) if run.best else (None, "")
    state = run.state if run.best else DAMAGED
    page, report = Cell(shown, href=served(Address("run", name))), Cell("report", href=report_of(name)) if run.report else ""
    return page, run.benchmark, ", ".join(run.models), total, verdict, state, moment(run.started_at), report


def _history(lake: Folder, runs: Mapping[str, ListedRun]) -> Iterator[tuple[Value, ...]]:
    """Yield the newest runs in which something changed."""
    changed = [name for name, run in runs.items() if run.state not in {"UpToDate", DAMAGED}]
    for name, change in read_all_changes(lake, changed[:MOST_CHANGES])[0].items():
        title = f"{moment(runs[name].started_at)}, {runs[name].benchmark}: {change.state}"
        yield Cell(title, href=report_of(name)), state_said(change)
