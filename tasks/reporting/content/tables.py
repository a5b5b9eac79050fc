"""Turn score layers into rows for readers. Null stays null and carries its reason."""

from dataclasses import dataclass

from schemas.normalisation import CentredNormalisation, NoNormalisation, Normalisation, NumericNormalisation, RatioNormalisation
from tasks.analysis.baselines import Baselines
from tasks.analysis.run_tables import ReportData, System, from_row
from tasks.analysis.score_tree import ScorePart, Scores, explain_task
from tasks.reporting.content.benchmark import MetricPath, TaskPath, metric_paths, task_paths
from tasks.reporting.content.caveats import MissingScores


@dataclass(frozen=True)
class TaskRow:
    """A task of one system. `reason` says what is missing, null if nothing is."""

    path: TaskPath
    part: ScorePart
    reason: str | None


@dataclass(frozen=True)
class RawRow:
    """One number of one method, in its own unit, and on 0-100. `reason` is set where the value is null.

    `spread_0_100` is the width of the interval on 0-100, null without an interval or where grades are looked up in a table.
    """

    path: MetricPath
    baselines: Baselines
    reason: str | None
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    spread_0_100: float | None = None
    normalized_0_100: float | None = None
    n_scored: int = 0
    n_unparsed: int = 0
    n_total: int = 0


def task_rows(data: ReportData, system: System, scores: Scores, missing: MissingScores) -> tuple[TaskRow, ...]:
    """Return every task of the blueprint, in its order.

    Args:
        data: the run.
        system: whom the rows are about.
        scores: its scores.
        missing: why it has no others.
    """
    rows = []
    for path in task_paths(data.blueprint):
        part = explain_task(scores, path.task, data.blueprint)
        unscored = [dataset.id for dataset in part.parts if dataset.score is None]
        rows.append(TaskRow(path, part, missing.reasons(system, unscored) if unscored else None))
    return tuple(rows)


def raw_rows(data: ReportData, system: System, missing: MissingScores) -> tuple[RawRow, ...]:
    """Return every number the blueprint expects, in the order of its tasks."""
    keys = ["model", "setting", "dataset", "method", "metric"]
    measured = data.raw.join(data.normalized.select(*keys, "normalized_0_100"), on=keys, how="left")
    found = {(row["dataset"], row["method"], row["metric"]): row for row in system.rows(measured)}
    rows = []
    for path in metric_paths(data.blueprint):
        row = found.get(path.key, {})
        rows.append(
            from_row(
                RawRow,
                row,
                path=path,
                baselines=data.baselines.get((path.dataset, path.spec.metric), Baselines()),
                reason=missing.reason(system, path.dataset) if row.get("value") is None else None,
                spread_0_100=_spread(path.spec.normalisation, row.get("ci_low"), row.get("ci_high")),
            )
        )
    return tuple(rows)


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
