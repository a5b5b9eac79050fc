"""Turn score layers into rows for readers, along the paths of a blueprint. Null stays null and carries its reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from schemas.blueprint import Ability, Blueprint, MethodSpec, MetricSpec, Task
from schemas.documents.score_part import ScorePart
from schemas.metrics import CentredNormalisation, GradeNormalisation, Metric, Normalisation
from schemas.table import Interval
from tasks.reporting.content.caveats import MissingScores
from tasks.runs.baselines import Baselines
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.score_tree import Scores, explain_task
from tasks.scoring.normalisation import best_end, normalise_limits, raw_bounds

HIGHEST = 100.0


def rescale_interval(normalisation: Normalisation, low: float | None, high: float | None) -> Interval | None:
    """Return what an interval of a raw value becomes on 0-100; null without one, and where grades are looked up in a table."""
    if low is None or high is None or isinstance(normalisation, GradeNormalisation):
        return None
    least, most = normalise_limits((np.array(low), np.array(high)), normalisation.type, *raw_bounds(normalisation))
    return Interval(float(least), float(most))


@dataclass(frozen=True)
class TaskPath:
    """A task with the ability it hangs on and the main ability above that (the same one in a flat tree)."""

    task: Task
    parent: Ability
    main: Ability

    @property
    def path(self) -> str:
        """Ability titles from the top, for readers."""
        return self.parent.title if self.parent == self.main else f"{self.main.title} › {self.parent.title}"


@dataclass(frozen=True)
class MetricPath:
    """One number the blueprint expects: dataset, method and metric. `weight` is 0 if it is shown and does not count."""

    dataset: str
    title: str
    task: Task
    path: str
    method: MethodSpec
    spec: MetricSpec
    weight: float

    @property
    def key(self) -> tuple[str, str, Metric]:
        """What names its rows: dataset, method and metric."""
        return self.dataset, self.method.id, self.spec.metric

    @property
    def metric_label(self) -> str:
        """Name of the metric, with its cut-off, what is best where that is not the most, and whether it counts."""
        remarks = [] if self.spec.k is None else [f"k = {self.spec.k}"]
        if isinstance(rule := self.spec.normalisation, CentredNormalisation):
            best = best_end(self.spec.metric, rule)
            remarks += {"low": ["lower is better"], "high": [], "between": [f"{rule.best:g} is best"]}[best]
        remarks += [] if self.weight else ["not in the total"]
        return f"{self.spec.metric} ({'; '.join(remarks)})" if remarks else self.spec.metric


def task_paths(blueprint: Blueprint) -> tuple[TaskPath, ...]:
    """Return every task with its path, in the blueprint's order."""
    return tuple(TaskPath(task, node, main) for main in blueprint.abilities for _, node in main.walk() for task in node.tasks)


def has_levels(blueprint: Blueprint) -> bool:
    """Return whether tasks stand at several levels; if they all stand at one, it says nothing about any of them."""
    return len({task.level for _, task in blueprint.tasks()}) > 1


def metric_paths(blueprint: Blueprint) -> Iterator[MetricPath]:
    """Yield every number the blueprint expects, in the order of its tasks."""
    for path in task_paths(blueprint):
        for entry in path.task.datasets:
            dataset = blueprint.datasets[entry.id]
            for method in dataset.methods:
                for spec in method.metrics:
                    yield MetricPath(entry.id, dataset.title, path.task, path.path, method, spec, entry.weight * spec.weight)


@dataclass(frozen=True)
class TaskRow:
    """A task of one system."""

    path: TaskPath
    part: ScorePart


@dataclass(frozen=True)
class RawRow:
    """One number of one method, in its own unit, and on 0-100. `reason` is set where the value is null."""

    path: MetricPath
    baselines: Baselines
    reason: str | None
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    normalized_0_100: float | None = None
    n_scored: int = 0
    n_unparsed: int = 0
    n_total: int = 0

    @property
    def interval_0_100(self) -> Interval | None:
        """Its interval on 0-100."""
        return rescale_interval(self.path.spec.normalisation, self.ci_low, self.ci_high)


def task_rows(blueprint: Blueprint, scores: Scores) -> tuple[TaskRow, ...]:
    """Return every task of the blueprint, in its order; `scores`: of the system that the rows are about."""
    return tuple(TaskRow(path, explain_task(scores, path.task, blueprint)) for path in task_paths(blueprint))


def weakest(tasks: Iterable[TaskRow], most: int) -> tuple[TaskRow, ...]:
    """Return the tasks with the lowest scores, lowest first; neither full scores nor missing ones are weak."""
    weak = [task for task in tasks if task.part.score is not None and task.part.score < HIGHEST]
    return tuple(sorted(weak, key=lambda task: (task.part.score or 0.0, task.part.id))[:most])


def raw_rows(data: ReportData, scores: Scores, missing: MissingScores) -> tuple[RawRow, ...]:
    """Return every number the blueprint expects, in the order of its tasks, likewise."""
    rows = []
    for path in metric_paths(data.blueprint):
        row = scores.row("normalized_scores", *path.key) | scores.row("raw_scores", *path.key)
        unscored = row.get("value") is None
        baselines = data.baselines.get((path.dataset, path.spec.metric), Baselines())
        reason = missing.reason(scores.system, *path.key) if unscored else None
        rows.append(from_row(RawRow, row, path=path, baselines=baselines, reason=reason))
    return tuple(rows)
