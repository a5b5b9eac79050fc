"""Describe a leaderboard: models of several runs, ranked and side by side, their totals over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.documents.leaderboard import AcrossModels, ModelScore, PairDifference, PublishedRow, StoredRow
from schemas.lineage import RunManifest
from schemas.paper import Comparability
from schemas.roles import JUDGE
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.lake.manifest import run_order
from tasks.leaderboard.across_models import groups_said
from tasks.leaderboard.ranking import RUN, LeaderboardData
from tasks.reporting.content.score_tables import describe_dimensions
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, SystemTotal
from tasks.runs.run_tables import Row, System
from tasks.scoring.published import BASE_SETTING, paper_of
from tasks.solvers.registry import setting_title
from tasks.text.number_format import listed

Ranked = StoredRow | PublishedRow
REGRESSED = "▼ regressed"


@dataclass(frozen=True, kw_only=True)
class LeaderboardEntry(SystemTotal):
    """One model in one setting, in one run. `scores`: of the abilities that are measured, in the blueprint's order."""

    scores: tuple[float | None, ...] = ()
    run: str | None = None
    n_scored: int = 0
    group: int | None = None
    comparability: Comparability | None = None
    regressed: bool = False
    started_at: str | None = None
    said: str | None = None
    """What the field says that the rows are grouped by."""

    @property
    def verdict_cell(self) -> Cell:
        """The verdict with what it rests on, and how far the numbers may stand beside published ones."""
        unranked = "not ranked" if self.rank is None and self.verdict == "scored" else ""
        likeness = f"beside published: {self.comparability.verdict}" if self.comparability else ""
        notes = (REGRESSED if self.regressed else "", self.why or unranked, likeness)
        return Cell(self.verdict, "; ".join(filter(None, notes)))


@dataclass(frozen=True)
class Leaderboard:
    """Everything a leaderboard page says of its rows. `warnings`: why its rows may not be compared.

    `histories`: the totals of one model in one setting each, oldest first.
    """

    data: LeaderboardData
    titles: tuple[str, ...]
    entries: tuple[LeaderboardEntry, ...]
    histories: tuple[tuple[LeaderboardEntry, ...], ...]
    runs: tuple[RunManifest, ...]
    warnings: tuple[str, ...]
    paper: str | None
    """Title of the paper whose printed scores these are; null for runs."""

    dimensions: tuple[Table, ...] = ()

    @property
    def ranking(self) -> Table:
        """The models by rank."""
        said = Column((self.data.chosen.group_by or "About").capitalize())
        heads = (*columns("count", "Group", "Rank"), said, *columns("name", "Model", "Setting"), *TOTAL_COLUMNS)
        scores = (*columns("score", *self.titles, digits=1), Column("Coverage", "share"), Column("Items", "count"))
        table = Table(
            (*heads, *scores), [tuple(self._row(entry)) for entry in self.entries], f"{self.data.blueprint.title}: ranking"
        )
        return table.without_empty("Group", said.title, "Items")

    @property
    def is_grouped(self) -> bool:
        """Whether not all models are ranked together."""
        return len(self.data.groups) > 1

    def _row(self, entry: LeaderboardEntry) -> Iterator[Value]:
        yield entry.group if self.is_grouped else None
        yield entry.rank
        yield entry.said
        yield Cell(entry.system.model, href=self.data.links.get(entry.run or "", ""))
        yield setting_title(entry.system.setting)
        yield from (entry.total_cell, entry.interval_cell, entry.verdict_cell, *entry.scores, entry.coverage)
        yield None if self.paper else entry.n_scored

    @property
    def history(self) -> Table:
        """The totals of all runs, oldest first."""
        heads = (*columns("name", "Model", "Start"), *TOTAL_COLUMNS, Column("Coverage", "share"), Column("Run", "code"))
        rows = [
            (
                *(moment.system.label, moment.started_at, moment.total_cell, moment.interval_cell),
                *(Cell(moment.verdict, REGRESSED if moment.regressed else ""), moment.coverage, self._run_cell(moment.run or "")),
            )
            for history in self.histories
            for moment in history
        ]
        return Table(heads, rows, "Totals of all runs")

    @property
    def sources(self) -> Table:
        """The runs behind the ranking."""
        plan = (*columns("name", "Models", "Settings", "Judge"), Column("Items per dataset", "count"), Column("Seed", "code"))
        heads = (Column("Run and report", "code"), *plan, Column("Made by", "name"), Column("Blueprint", "code"))
        return Table(heads, [tuple(self._source(run)) for run in self.runs], "Runs behind the ranking")

    def _source(self, run: RunManifest) -> Iterator[Value]:
        yield self._run_cell(run.run)._replace(note=run.started_at)
        yield ", ".join(model["name"] for model in run.plan.get("models", ()))
        yield ", ".join(map(setting_title, run.plan.get("settings", (BASE_SETTING,))))
        yield ", ".join(run.names_in(JUDGE)) or "none"
        yield from (run.plan.get("sample"), run.plan.get("seed"))
        yield Cell(f"moodflow {run.package_version}", (run.git_commit or "")[:12])
        yield run.blueprint_sha256[:12]

    def _run_cell(self, run: str) -> Cell:
        return Cell(run, href=self.data.links.get(run, ""))


def build_leaderboard(data: LeaderboardData) -> Leaderboard:
    """Compute everything a leaderboard page says of its rows."""
    rows = data.rows
    scored = {ability for row in rows for ability in row.abilities}
    measured = [main for main in data.blueprint.abilities if main.evaluated and main.id in scored]
    paper = paper_of(data.blueprint) if data.is_published else None
    used = [manifest for manifest in data.manifests if manifest.run in {row.run for row in rows}]
    return Leaderboard(
        data=data,
        titles=tuple(main.title for main in measured),
        entries=tuple(
            _entry(
                row.model_dump(),
                data,
                said=row.said(data.chosen.group_by),
                scores=tuple(row.abilities.get(main.id) for main in measured),
            )
            for row in rows
        ),
        histories=tuple(_histories(data, rows)),
        runs=tuple(used),
        warnings=(*groups_said(data), *_warnings(used)),
        paper=paper.title if paper else None,
        dimensions=describe_dimensions(data),
    )


def _entry(row: Row, data: LeaderboardData, **more: object) -> LeaderboardEntry:
    system = System(row["model"], row["setting"])
    record, regressed = data.records.get(row.get(RUN), {}).get(system), (row.get(RUN), *system) in data.regressed
    return LeaderboardEntry.of_row(row, comparability=record, regressed=regressed, **more)


def _histories(data: LeaderboardData, rows: Sequence[Ranked]) -> Iterator[tuple[LeaderboardEntry, ...]]:
    """Yield the history of each model with two runs or more."""
    started = {manifest.run: manifest.started_at for manifest in data.manifests}
    for system in dict.fromkeys(System(row.model, row.setting) for row in rows):
        history = sorted(system.rows(data.history), key=lambda row: run_order(row[RUN]))
        if len(history) > 1:
            yield tuple(_entry(row, data, started_at=started[row[RUN]]) for row in history)


def _warnings(manifests: list[RunManifest]) -> tuple[str, ...]:
    """Say what else may move scores of the runs behind the rows."""
    versions = sorted({manifest.package_version for manifest in manifests})
    return (f"The runs were made by MoodFlow {listed(versions)}.",) if len(versions) > 1 else ()


MOST_COMPARED = 10
"""Models set side by side on a page; JSON and CSV have all."""

FIRST = slice(MOST_COMPARED)


def tasks_table(across: AcrossModels, models: slice) -> Table:
    """Return the tasks, a column for each of these models."""
    scores = columns("score", *across.models[models], digits=1)
    rows: list[tuple[Value, ...]] = [
        (task.title, *map(_task_cell, task.scores[models]), task.weakest_of) for task in across.tasks
    ]
    return Table((Column("Task", "name"), *scores, Column("Weakest of", "count")), rows, "Tasks by model")


def _task_cell(score: ModelScore) -> Cell:
    return Cell(score.score, "≈" if score.tied and score.mark != "best" else "", score.mark)


def differences_table(across: AcrossModels) -> Table:
    """Return totals less totals of the first models, a row and a column for each."""
    models = across.models[FIRST]
    pairs = {(pair.first, pair.second): _difference(pair) for pair in across.pairs}
    heads = (Column("Row less column", "name"), *columns("difference", *models, digits=1))
    return Table(heads, [(row, *(pairs.get((row, column), "") for column in models)) for row in models], "Differences of totals")


def pairs_table(across: AcrossModels) -> Table:
    """Return the same, a row for each pair."""
    first = set(across.models[FIRST])
    heads = (*columns("name", "Model", "Less"), Column("Points", "difference"), Column("95 % interval", "change"))
    rows = [
        (pair.first, pair.second, _difference(pair)._replace(interval=None), _difference(pair).interval, pair.n_items)
        for pair in across.pairs
        if {pair.first, pair.second} <= first
    ]
    return Table((*heads, Column("Items", "count")), rows, "Total less total")


def _difference(pair: PairDifference) -> Cell:
    ends = Interval.of(pair.ci_low, pair.ci_high)
    return Cell(pair.difference, mark="clear" if pair.is_clear else None, interval=ends)


def ranks_table(across: AcrossModels) -> Table:
    """Return ranks by other weights and thresholds, a column for each; below them how far they are the same."""
    ways = across.variations
    heads = (Column("Model", "name"), *columns("number", *(way.title for way in ways)))
    ranks = zip(across.models, *(way.ranks for way in ways), strict=True)
    moved, correlations = (way.moved for way in ways), (way.rank_correlation for way in ways)
    rows: list[tuple[Value, ...]] = [*ranks, ("Moved", *moved), ("Spearman's rho", *correlations)] if ways else []
    return Table(heads, rows, "Ranks by other weights and thresholds")
