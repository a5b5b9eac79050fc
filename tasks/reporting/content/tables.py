"""Turn score layers into rows for readers. Null stays null and carries its reason."""

from dataclasses import dataclass
from typing import Any

from schemas.blueprint import (
    Ability,
    CentredNormalisation,
    NoNormalisation,
    Normalisation,
    NumericNormalisation,
    RatioNormalisation,
)
from schemas.vocabulary import LEVELS, Level, Metric
from tasks.analysis.baselines import Baselines, ConstantAnswer, MajorityLabel
from tasks.analysis.published_tables import PublishedRange
from tasks.analysis.run_tables import ReportData, System
from tasks.reporting.content.benchmark import MetricPath, TaskPath, metric_paths, task_paths
from tasks.reporting.content.caveats import NO_TASKS, MissingScores

NOT_EVALUATED = "not evaluated in this version"


@dataclass(frozen=True)
class AbilityRow:
    """A main ability. `reason` is set where the score is null."""

    id: str
    title: str
    is_gate: bool
    score: float | None
    datasets_scored: int
    datasets_total: int
    reason: str | None
    published: PublishedRange | None


@dataclass(frozen=True)
class LevelCell:
    """One sub-ability at one level. `reason` is set where the score is null."""

    score: float | None
    datasets_scored: int
    datasets_total: int
    reason: str | None


@dataclass(frozen=True)
class LevelRow:
    """An ability that has tasks, level by level (low, medium, high)."""

    id: str
    ability: str
    sub_ability: str
    cells: tuple[LevelCell, ...]
    score: float | None
    datasets_scored: int
    datasets_total: int


@dataclass(frozen=True)
class TaskRow:
    """A task of one system. `reason` says what is missing, null if nothing is."""

    id: str
    title: str
    path: str
    level: Level
    score: float | None
    datasets_scored: int
    datasets_total: int
    n_scored: int
    n_total: int
    reason: str | None


@dataclass(frozen=True)
class RawRow:
    """One number of one method, in its own unit, and on 0-100. `reason` is set where the value is null.

    `spread_0_100` is the width of the interval on 0-100, null without an interval or where grades are looked up in a table.
    """

    dataset: str
    title: str
    task: str
    task_title: str
    method: str
    metric: Metric
    metric_label: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    spread_0_100: float | None
    normalized_0_100: float | None
    n_scored: int
    n_unparsed: int
    n_total: int
    baselines: Baselines
    path: str
    reason: str | None

    @property
    def constant(self) -> ConstantAnswer | None:
        """The best constant answer."""
        return self.baselines.constant

    @property
    def majority(self) -> MajorityLabel | None:
        """The majority label, where labels repeat."""
        return self.baselines.majority


def ability_rows(data: ReportData, system: System, missing: MissingScores) -> tuple[AbilityRow, ...]:
    """Return every main ability of the blueprint, those that are named but not evaluated included."""
    found = {row["ability"]: row for row in system.rows(data.ability)}
    return tuple(_ability_row(data, system, missing, main, found.get(main.id)) for main in data.blueprint.abilities)


def _ability_row(
    data: ReportData, system: System, missing: MissingScores, main: Ability, row: dict[str, Any] | None
) -> AbilityRow:
    datasets = main.dataset_ids
    score = row["score_0_100"] if row else None
    reason = missing.reasons(system, datasets) if score is None and datasets else None
    return AbilityRow(
        id=main.id,
        title=main.title,
        is_gate=data.blueprint.gate is not None and data.blueprint.gate.ability == main.id,
        score=score,
        datasets_scored=row["datasets_scored"] if row else 0,
        datasets_total=row["datasets_total"] if row else len(datasets),
        reason=reason if main.evaluated else NOT_EVALUATED,
        published=data.paper.range_of(main.id, system.setting, score),
    )


def level_rows(data: ReportData, system: System, missing: MissingScores) -> tuple[LevelRow, ...]:
    """Return every ability that has tasks, with a cell per level."""
    cells = {(row["sub_ability"], row["level"]): row for row in system.rows(data.level)}
    scores = {row["sub_ability"]: row for row in system.rows(data.sub_ability)}
    scores |= {row["ability"]: row for row in system.rows(data.ability)}
    by_parent: dict[str, list[TaskPath]] = {}
    for path in task_paths(data.blueprint):
        by_parent.setdefault(path.parent.id, []).append(path)
    rows = []
    for parent, paths in by_parent.items():
        total = scores.get(parent)
        names = _datasets(paths)
        rows.append(
            LevelRow(
                id=parent,
                ability=paths[0].main.title,
                sub_ability=paths[0].parent.title,
                cells=tuple(
                    _cell(system, missing, [path for path in paths if path.task.level == x], cells.get((parent, x)))
                    for x in LEVELS
                ),
                score=total["score_0_100"] if total else None,
                datasets_scored=total["datasets_scored"] if total else 0,
                datasets_total=total["datasets_total"] if total else len(names),
            )
        )
    return tuple(rows)


def _datasets(paths: list[TaskPath]) -> list[str]:
    return [entry.id for path in paths for entry in path.task.datasets]


def _cell(system: System, missing: MissingScores, paths: list[TaskPath], row: dict[str, Any] | None) -> LevelCell:
    names = _datasets(paths)
    if not names:
        return LevelCell(None, 0, 0, NO_TASKS)
    if row is None:
        return LevelCell(None, 0, len(names), missing.reasons(system, names))
    reason = missing.reasons(system, names) if row["score_0_100"] is None else None
    return LevelCell(row["score_0_100"], row["datasets_scored"], row["datasets_total"], reason)


def task_rows(data: ReportData, system: System, missing: MissingScores) -> tuple[TaskRow, ...]:
    """Return every task of the blueprint, in its order."""
    found = {row["task"]: row for row in system.rows(data.task)}
    scored = {row["dataset"] for row in system.rows(data.dataset) if row["score_0_100"] is not None}
    rows = []
    for path in task_paths(data.blueprint):
        row = found.get(path.task.id)
        unscored = [entry.id for entry in path.task.datasets if entry.id not in scored]
        rows.append(
            TaskRow(
                id=path.task.id,
                title=path.task.title,
                path=path.path,
                level=path.task.level,
                score=row["score_0_100"] if row else None,
                datasets_scored=row["datasets_scored"] if row else 0,
                datasets_total=row["datasets_total"] if row else len(path.task.datasets),
                n_scored=row["n_scored"] if row else 0,
                n_total=row["n_total"] if row else 0,
                reason=missing.reasons(system, unscored) if unscored else None,
            )
        )
    return tuple(rows)


def raw_rows(data: ReportData, system: System, missing: MissingScores) -> tuple[RawRow, ...]:
    """Return every number the blueprint expects, in the order of its tasks."""
    keys, none = ("dataset", "method", "metric"), Baselines()
    raw = {tuple(row[key] for key in keys): row for row in system.rows(data.raw)}
    normalized = {tuple(row[key] for key in keys): row["normalized_0_100"] for row in system.rows(data.normalized)}
    return tuple(
        _raw_row(
            path, raw.get(key), normalized.get(key), data.baselines.get(key[::2], none), missing.reason(system, path.dataset)
        )
        for path in metric_paths(data.blueprint)
        for key in [(path.dataset, path.method.id, path.spec.metric)]
    )


def _raw_row(path: MetricPath, row: dict[str, Any] | None, normalized: float | None, baselines: Baselines, reason: str) -> RawRow:
    value = row["value"] if row else None
    return RawRow(
        dataset=path.dataset,
        title=path.title,
        task=path.task.id,
        task_title=path.task.title,
        method=path.method.id,
        metric=path.spec.metric,
        metric_label=path.metric_label,
        value=value,
        ci_low=row["ci_low"] if row else None,
        ci_high=row["ci_high"] if row else None,
        spread_0_100=_spread(path.spec.normalisation, row["ci_low"], row["ci_high"]) if row else None,
        normalized_0_100=normalized,
        n_scored=row["n_scored"] if row else 0,
        n_unparsed=row["n_unparsed"] if row else 0,
        n_total=row["n_total"] if row else 0,
        baselines=baselines,
        path=path.path,
        reason=reason if value is None else None,
    )


def _spread(normalisation: Normalisation, low: float | None, high: float | None) -> float | None:
    if low is None or high is None:
        return None
    match normalisation:
        case RatioNormalisation():
            return 100 * (high - low)
        case CentredNormalisation(span=span):
            return 100 * (high - low) / span  # on one side of the best score; less if the interval holds it
        case NumericNormalisation(min=lowest, max=highest):
            return 100 * (high - low) / (highest - lowest)
        case NoNormalisation():
            return high - low
        case _:
            return None
