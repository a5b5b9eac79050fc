"""Describe a leaderboard: models of several runs, ranked together, and their totals over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.comparability import Comparability
from schemas.documents.leaderboard import HelperRanks
from schemas.documents.system import PublishedRow, StoredRow
from schemas.lineage import RunManifest
from tasks.lake.manifest import run_order
from tasks.leaderboard.across_models import compare_helpers
from tasks.leaderboard.ranking import RUN, LeaderboardData
from tasks.reporting.content.published_models import NEAR, PublishedModels, describe_published_models
from tasks.reporting.content.score_tables import ScoreTable, describe_dimensions
from tasks.reporting.content.verdicts import SystemTotal
from tasks.runs.run_tables import System
from tasks.scoring.published import TOTAL, paper_of
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, interval, listed, number

Row = StoredRow | PublishedRow


@dataclass(frozen=True, kw_only=True)
class LeaderboardEntry(SystemTotal):
    """One model in one setting, in one run. `scores`: of the abilities that are measured, in the blueprint's order.

    `near`: whether the total, and each of the scores, is within a point of the best of its setting.
    """

    scores: tuple[float | None, ...] = ()
    near: tuple[bool, ...] = ()
    run: str | None = None
    n_scored: int = 0
    group: int | None = None
    comparability: Comparability | None = None
    regressed: bool = False
    started_at: str | None = None


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
    published: PublishedModels | None
    warnings: tuple[str, ...]
    paper: str | None
    """Title of the paper whose printed scores these are; null for runs."""

    dimensions: tuple[ScoreTable, ...] = ()

    @property
    def has_settings(self) -> bool:
        """Whether rows differ in more than the model."""
        return len({entry.system.setting for entry in self.entries}) > 1


def build_leaderboard(data: LeaderboardData) -> Leaderboard:
    """Compute everything a leaderboard page says of its rows."""
    rows = data.rows
    shown = {ability for row in rows for ability in row.abilities}
    measured = [main for main in data.blueprint.abilities if main.evaluated and main.id in shown]
    paper = paper_of(data.blueprint) if data.is_published else None
    used = [manifest for manifest in data.manifests if manifest.run in {row.run for row in rows}]
    return Leaderboard(
        data=data,
        titles=tuple(main.title for main in measured),
        entries=tuple(_entry(row.model_dump(), data, **_scores(row, rows, [main.id for main in measured])) for row in rows),
        histories=tuple(_histories(data, rows)),
        runs=tuple(used),
        published=describe_published_models(data.paper, data.blueprint) if data.is_published else None,
        warnings=(*groups_said(data), *_warnings(used)),
        paper=paper.title if paper else None,
        dimensions=describe_dimensions(data),
    )


def _scores(row: Row, rows: Sequence[Row], measured: list[str]) -> dict[str, Any]:
    """Return the fields `scores` and `near` of an entry."""
    names = [TOTAL, *measured]
    beside = [other for other in rows if (other.setting, other.group) == (row.setting, row.group)]
    of_setting = [other.abilities | {TOTAL: other.total} for other in beside]
    scored = {name: [score for one in of_setting if (score := one.get(name)) is not None] for name in names}
    own = row.abilities | {TOTAL: row.total}
    near = ((score := own.get(name)) is not None and round(max(scored[name]) - score, 2) <= NEAR for name in names)
    return {"scores": tuple(own.get(name) for name in measured), "near": tuple(near)}


def _entry(row: dict[str, Any], data: LeaderboardData, **more: object) -> LeaderboardEntry:
    system = System(row["model"], row["setting"])
    record, regressed = data.records.get(row.get(RUN), {}).get(system), (row.get(RUN), *system) in data.regressed
    return LeaderboardEntry.of_row(row, comparability=record, regressed=regressed, **more)


def _histories(data: LeaderboardData, rows: Sequence[Row]) -> Iterator[tuple[LeaderboardEntry, ...]]:
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


def groups_said(data: LeaderboardData) -> tuple[str, ...]:
    """Say what is ranked apart and why, and which row stands for fewer items than an earlier run has."""
    rows = (row for row in data.rows if isinstance(row, StoredRow) and row.fuller_run)
    fewer = (
        f"{System(row.model, row.setting).label}: the newest run has {counted(row.n_scored, 'item')} scored, fewer than the"
        f" earlier {row.fuller_run}."
        for row in rows
    )
    if len(data.groups) < 2:  # noqa: PLR2004
        return tuple(fewer)
    apart = "; ".join(f"group {group.number}: {group.words}" for group in data.groups)
    ranks = f"Ranks hold within a group: totals of different groups rest on different questions or ratings. {apart}."
    return (ranks, *map(_agreement_said, compare_helpers(data)), *fewer)


def _agreement_said(ranks: HelperRanks) -> str:
    rho = f"{number(ranks.spearman, 2)} ({interval(ranks.spearman_low, ranks.spearman_high, 2)})"
    tau = f"{number(ranks.kendall_tau_b, 2)} ({interval(ranks.kendall_tau_b_low, ranks.kendall_tau_b_high, 2)})"
    groups = listed([str(group) for group in ranks.groups])
    where = f"{counted(len(ranks.models), 'model')} of groups {groups}, {setting_title(ranks.setting)}"
    return f"With another {ranks.role} the order of {where}: Spearman's rho {rho}, Kendall's tau-b {tau}."
