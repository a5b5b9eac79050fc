"""Describe a leaderboard: models of several runs, ranked and side by side, their totals over time."""

from collections.abc import Iterator, Sequence

from schemas.chart import Axis, Chart, Point
from schemas.documents.leaderboard import AcrossModels, PublishedRow, StoredRow
from schemas.lineage import RunManifest
from schemas.roles import JUDGE
from schemas.table import Cell, Column, Table, Value, columns
from tasks.certificates.lookup import marked
from tasks.lake.manifest import run_order
from tasks.leaderboard.across_models import groups_said
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.reporting.content.score_tables import describe_dimensions
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, total_cell
from tasks.runs.run_tables import System
from tasks.runs.sections import Block, Section, shown_sections
from tasks.runs.verdict import total_of
from tasks.scoring.gains import difference_cell
from tasks.scoring.published import BASE_SETTING
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, listed, moment, number, percent, signed

Ranked = StoredRow | PublishedRow
REGRESSED = "▼ regressed"
DIMENSIONS = (
    "What the judge gave by dimension, on 0–100 (100 × (mean − lowest) / (highest − lowest)) with 95 % interval, and in points "
    "of its own scale. Average: of the dimensions, each counting the same. Answers that were not rated are left out."
)
HISTORY = (
    "Totals before the veto of all runs of the benchmark in the lake. A line joins runs that are ranked together; upright lines: "
    "95 % intervals."
)
TASKS = (
    "Bold: the best of all models, underlined: the second, ≈: the 95 % interval of the difference from the best holds 0. Last "
    "column: how many models have the task among their five weakest."
)
DIFFERENCES = (
    "Totals before the veto over the items scored for both, with 95 % intervals; bold: the interval excludes 0. "
    "Among models that do not differ, one pair in twenty is told apart by chance."
)
RANKS = (
    "Rows are in the order of the leaderboard. Moved: models whose rank is another, or that have one in only one of the two. "
    "Rho: over the models ranked both ways."
)
TO_REPLIES = "From a number to its replies: moodflow explain RUN --model NAME --ability ABILITY."


def ranking_table(data: LeaderboardData) -> Table:
    """Return the models by rank."""
    said, scored = Column((data.chosen.group_by or "About").capitalize()), {name for row in data.rows for name in row.abilities}
    measured = [main for main in data.blueprint.abilities if main.evaluated and main.id in scored]
    heads = (*columns("count", "Group", "Rank"), said, *columns("name", "Model", "Setting"), *TOTAL_COLUMNS)
    scores = columns("score", *(main.title for main in measured), digits=1)
    ends = (Column("Coverage", "share"), Column("Items", "count"))
    rows: list[tuple[Value, ...]] = []
    for row in data.rows:
        run, group = row.run or "", row.group if len(data.groups) > 1 else None
        href = data.scores.get((run, row.model, row.setting)) or data.links.get(run, "")
        model = Cell(marked(row.model, data.judges.get(run, ())), href=href)
        about = (group, Cell(row.rank, row.rank_range), row.said(data.chosen.group_by), model, setting_title(row.setting))
        total = (total_cell(row), interval_cell(row), _verdict_cell(row, data))
        abilities = (row.abilities.get(main.id) for main in measured)
        rows.append((*about, *total, *abilities, row.coverage, None if data.is_published else row.n_scored))
    table = Table((*heads, *scores, *ends), rows, f"{data.blueprint.title}: ranking")
    return table.without_empty("Group", said.title, "Items")


def _verdict_cell(row: Ranked, data: LeaderboardData) -> Cell:
    """Return the verdict with what it rests on, and how far the numbers may stand beside published ones."""
    regressed = (row.run, row.model, row.setting) in data.regressed
    unranked = f"not ranked: {row.unranked}" if row.unranked and row.verdict == "scored" else ""
    likeness = f"published numbers: {row.comparability.verdict}" if row.comparability else ""
    return Cell(row.verdict, "; ".join(filter(None, (REGRESSED if regressed else "", row.why or unranked, likeness))))


def warn_of_rows(data: LeaderboardData) -> tuple[str, ...]:
    """Say why rows may not be compared."""
    versions = sorted({manifest.package_version for manifest in runs_behind(data)})
    mixed = (f"The runs were made by MoodFlow {listed(versions)}.",) if len(versions) > 1 else ()
    return (*groups_said(data), *mixed)


def runs_behind(data: LeaderboardData) -> list[RunManifest]:
    """Return the runs of the rows, newest first."""
    runs = {row.run for row in data.rows}
    return [manifest for manifest in data.manifests if manifest.run in runs]


def lay_out_leaderboard(
    data: LeaderboardData, across: Sequence[AcrossModels], exhibits: Sequence[Section]
) -> tuple[Section, ...]:
    """Return what the page of a leaderboard shows below the ranking."""
    dimensions = [Block(tables=(table,)) for table in describe_dimensions(data)]
    return shown_sections(
        ("dimensions", "Rated dimensions", [Block(words=DIMENSIONS), *dimensions] if dimensions else ()),
        ("across", "Across models", _lay_out_across(data, across)),
        ("history", "History", lay_out_history(data)),
        *exhibits,
        ("runs", "Runs", _lay_out_runs(data)),
    )


def lay_out_history(data: LeaderboardData) -> Iterator[Block]:
    """Yield the totals of each model with two runs or more, oldest first; a line of the figure joins runs of one group."""
    started = {manifest.run: manifest.started_at for manifest in data.manifests}
    lines: list[tuple[Value, ...]] = []
    points: list[Point] = []
    for system in dict.fromkeys(System(row.model, row.setting) for row in data.rows):
        history = sorted(system.rows(data.history), key=lambda row: run_order(row[RUN]))
        groups = {row.get(GROUP) for row in history}
        for row in history if len(history) > 1 else ():
            total, at, run = total_of(row), started[row[RUN]], row[RUN]
            if total.has_total and total.total_before_veto is not None:
                name = f"{system.label}, group {row[GROUP]}" if len(groups) > 1 else system.label
                points.append(Point(at, total.total_before_veto, name, None, total.ci_low, total.ci_high))
            verdict = Cell(total.verdict, REGRESSED if (run, *system) in data.regressed else "")
            score = (total_cell(total), interval_cell(total), verdict, total.coverage)
            lines.append((system.label, moment(at), *score, Cell(run, href=data.links.get(run, ""))))
    heads = (*columns("name", "Model", "Start"), *TOTAL_COLUMNS, Column("Coverage", "share"), Column("Run", "code"))
    if lines:
        charts = (_draw_history(points),) if points else ()
        yield Block(charts=charts, tables=(Table(heads, lines, "Totals of all runs"),))


def _draw_history(points: Sequence[Point]) -> Chart:
    names = dict.fromkeys(point.series for point in points)
    by_name = {name: [float(point.y) for point in points if point.series == name] for name in names}
    most = max(by_name, key=lambda name: abs(by_name[name][-1] - by_name[name][0]))
    change = signed(by_name[most][-1] - by_name[most][0])
    words = f"From the first run to the last {most} changes most, by {change} points."
    axes = Axis("start of the run, UTC", is_time=True), Axis("total, before the veto")
    words = "No total changes from the first run to the last." if change == signed(0) else words
    return Chart("Totals of all runs", words, "lines", tuple(points), x=axes[0], y=axes[1], note=HISTORY)


def _lay_out_runs(data: LeaderboardData) -> Iterator[Block]:
    plan = (*columns("name", "Models", "Settings", "Judge"), Column("Items per dataset", "count"), Column("Seed", "code"))
    heads = (Column("Run and report", "code"), *plan, Column("Made by", "name"), Column("Blueprint", "code"))
    rows = []
    for run in runs_behind(data):
        name = Cell(run.run, moment(run.started_at), href=data.links.get(run.run, ""))
        models = ", ".join(model["name"] for model in run.plan.get("models", ()))
        settings = ", ".join(map(setting_title, run.plan.get("settings", (BASE_SETTING,))))
        asked = (models, settings, ", ".join(run.names_in(JUDGE)) or "none", run.plan.get("sample"), run.plan.get("seed"))
        made_by = Cell(f"moodflow {run.package_version}", (run.git_commit or "")[:12])
        rows.append((name, *asked, made_by, run.blueprint_sha256[:12]))
    if rows:
        yield Block(words=TO_REPLIES, tables=(Table(heads, rows, "Runs behind the ranking"),))


def _lay_out_across(data: LeaderboardData, across: Sequence[AcrossModels]) -> Iterator[Block]:
    """Yield tasks, differences and ranks of the models of each group and setting."""
    for group in across:
        title = setting_title(group.setting) if group.setting and len(across) > 1 else ""
        where = f": {title}, group {group.group}" if len(data.groups) > 1 else f": {title}" if title else ""
        few = f"Columns are the first {MOST_COMPARED} of {len(group.models)} models; CSV and JSON have all. "
        few = few if len(group.models) > MOST_COMPARED else ""
        if group.tasks:
            yield Block(f"Tasks{where}", " ".join((*_say_tasks(group), few + TASKS)), (tasks_table(group, FIRST),))
        if group.pairs:
            yield Block(f"Differences{where}", few + DIFFERENCES, (differences_table(group),))
        if group.variations:
            yield Block(f"Ranks by other weights and thresholds{where}", RANKS, (ranks_table(group),))


def _say_tasks(group: AcrossModels) -> Iterator[str]:
    """Yield how many pairs differ, how far the order is the published one, and what is weak everywhere."""
    if group.told_apart is not None:
        apart = f"{percent(group.told_apart)} of the {counted(len(group.pairs), 'pair')} of models are told apart"
        yield f"{apart}: the 95 % interval of their difference excludes 0."
    if group.published_correlation is not None:
        both, rho = counted(len(group.published_models), "model"), number(group.published_correlation, 2)
        yield f"Their order and the published one, over {both} in both: Spearman's rho {rho}."
    if group.weakest:
        yield f"Among the five weakest tasks of every model: {listed([*group.weakest])}."
    else:
        yield "No task is among the five weakest of every model."


MOST_COMPARED = 10
"""Models set side by side on a page; JSON and CSV have all."""

FIRST = slice(MOST_COMPARED)


def tasks_table(across: AcrossModels, models: slice) -> Table:
    """Return the tasks, a column for each of these models."""
    heads = (Column("Task", "name"), *columns("score", *across.models[models], digits=1), Column("Weakest of", "count"))
    rows: list[tuple[Value, ...]] = []
    for task in across.tasks:
        scores = task.scores[models]
        cells = (Cell(each.score, "≈" if each.tied and each.mark != "best" else "", each.mark) for each in scores)
        rows.append((task.title, *cells, task.weakest_of))
    return Table(heads, rows, "Tasks by model")


def differences_table(across: AcrossModels) -> Table:
    """Return totals less totals of the first models, a row and a column for each."""
    models = across.models[FIRST]
    pairs = {(pair.first, pair.second): difference_cell(pair.difference, pair.model_dump()) for pair in across.pairs}
    heads = (Column("Row less column", "name"), *columns("difference", *models, digits=1))
    return Table(heads, [(row, *(pairs.get((row, column), "") for column in models)) for row in models], "Differences of totals")


def pairs_table(across: AcrossModels) -> Table:
    """Return the same, a row for each pair."""
    first = set(across.models[FIRST])
    heads = (*columns("name", "Model", "Less"), Column("Points", "difference"), Column("95 % interval", "change"))
    rows = [
        (pair.first, pair.second, cell._replace(interval=None), cell.interval, pair.n_items)
        for pair in across.pairs
        for cell in [difference_cell(pair.difference, pair.model_dump())]
        if {pair.first, pair.second} <= first
    ]
    return Table((*heads, Column("Items", "count")), rows, "Total less total")


def ranks_table(across: AcrossModels) -> Table:
    """Return ranks by other weights and thresholds, a column for each; below them how far they are the same."""
    ways = across.variations
    heads = (Column("Model", "name"), *columns("number", *(way.title for way in ways)))
    ranks = zip(across.models, *(way.ranks for way in ways), strict=True)
    moved, correlations = (way.moved for way in ways), (way.rank_correlation for way in ways)
    rows: list[tuple[Value, ...]] = [*ranks, ("Moved", *moved), ("Spearman's rho", *correlations)] if ways else []
    return Table(heads, rows, "Ranks by other weights and thresholds")
