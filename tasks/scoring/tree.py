"""Lay a blueprint out as small tables, ready to be joined with scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from schemas.blueprint import Ability, Blueprint
from schemas.metrics import GradeNormalisation, Metric
from schemas.vocabulary import LEVELS, Level
from tasks.scoring.normalisation import raw_bounds

LEVEL = pl.Enum(list(LEVELS))
LEVEL_BIT: dict[Level, int] = {level: 1 << position for position, level in enumerate(LEVELS)}

Row = tuple[str | float | int | None, ...]
Columns = dict[str, pl.DataType | type[pl.DataType]]


@dataclass(frozen=True)
class Tree:
    """Edges of the ability tree with their weights, siblings scaled so that the largest weight lies in [1, 2).

    `metrics`: dataset, method, metric, weight, kind, low, high (the raw score's theoretical bounds, null for grades).
    `grades`: dataset, method, metric, grade, points.
    `datasets`: dataset, task, weight. `tasks`: task, node, level, weight. `rules`: levels (bit mask), level, weight.
    `nodes`: node, parent (null for a main ability), tier, weight; only nodes with a dataset below them.
    `gate`: the main ability that never enters the total; null = there is none.
    """

    metrics: pl.DataFrame
    grades: pl.DataFrame
    datasets: pl.DataFrame
    tasks: pl.DataFrame
    rules: pl.DataFrame
    nodes: pl.DataFrame
    gate: str | None


def tree_tables(blueprint: Blueprint) -> Tree:
    """Lay a blueprint out as tables, rows in the order of its file."""
    spec: Columns = {"dataset": pl.String, "method": pl.String, "metric": pl.String}
    return Tree(
        metrics=_table(
            metric_rows(blueprint), {**spec, "weight": pl.Float64, "kind": pl.String, "low": pl.Float64, "high": pl.Float64}
        ),
        grades=_table(_grade_rows(blueprint), {**spec, "grade": pl.String, "points": pl.Float64}),
        datasets=_table(_dataset_rows(blueprint), {"dataset": pl.String, "task": pl.String, "weight": pl.Float64}),
        tasks=_table(_task_rows(blueprint), {"task": pl.String, "node": pl.String, "level": LEVEL, "weight": pl.Float64}),
        rules=_table(_rule_rows(blueprint), {"levels": pl.Int64, "level": LEVEL, "weight": pl.Float64}),
        nodes=_table(_node_rows(blueprint), {"node": pl.String, "parent": pl.String, "tier": pl.Int64, "weight": pl.Float64}),
        gate=blueprint.gate.ability if blueprint.gate else None,
    )


def dataset_counts(blueprint: Blueprint) -> pl.DataFrame:
    """Return number of datasets below each main ability that has any: ability, datasets_total."""
    rows = [(main.id, len(main.dataset_ids)) for main in blueprint.abilities if main.dataset_ids]
    return pl.DataFrame(rows, schema={"ability": pl.String, "datasets_total": pl.Int64}, orient="row")


def _table(rows: Iterator[Row], schema: Columns) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def metric_rows(blueprint: Blueprint) -> Iterator[tuple[str, str, Metric, float, str, float | None, float | None]]:
    """Yield the rows of Tree.metrics."""
    for name, dataset in blueprint.datasets.items():
        specs = [(method.id, spec) for method in dataset.methods for spec in method.metrics]
        weights = _scaled([spec.weight for _, spec in specs])
        for (method, spec), weight in zip(specs, weights, strict=True):
            yield name, method, spec.metric, weight, spec.normalisation.type, *raw_bounds(spec.normalisation)


def _grade_rows(blueprint: Blueprint) -> Iterator[Row]:
    for name, dataset in blueprint.datasets.items():
        for method in dataset.methods:
            for spec in method.metrics:
                if isinstance(spec.normalisation, GradeNormalisation):
                    for grade, points in spec.normalisation.table.items():
                        yield name, method.id, spec.metric, grade, points


def _dataset_rows(blueprint: Blueprint) -> Iterator[Row]:
    for _, task in blueprint.tasks():
        for entry, weight in zip(task.datasets, _scaled([entry.weight for entry in task.datasets]), strict=True):
            yield entry.id, task.id, weight


def _task_rows(blueprint: Blueprint) -> Iterator[Row]:
    for _, node in blueprint.nodes():
        for level in LEVELS:
            tasks = [task for task in node.tasks if task.level == level]
            for task, weight in zip(tasks, _scaled([task.weight for task in tasks]), strict=True):
                yield task.id, node.id, level, weight


def _rule_rows(blueprint: Blueprint) -> Iterator[Row]:
    for rule in blueprint.level_rules:
        mask = sum(LEVEL_BIT[level] for level in rule.weights)
        yield from ((mask, level, weight) for level, weight in rule.weights.items())


def _node_rows(blueprint: Blueprint) -> Iterator[Row]:
    yield from _siblings(None, blueprint.abilities, 1)
    for tier, node in blueprint.nodes():
        yield from _siblings(node.id, node.children, tier + 1)


def _siblings(parent: str | None, nodes: Sequence[Ability], tier: int) -> Iterator[Row]:
    measured = [node for node in nodes if node.dataset_ids]
    for node, weight in zip(measured, _scaled([node.weight for node in measured]), strict=True):
        yield node.id, parent, tier, weight


def _scaled(weights: Sequence[float]) -> list[float]:
    """Return weights times a power of two, which changes no mean but keeps their sums within the range of exact_sum."""
    largest = max(weights, default=0.0)
    shift = 1 - math.frexp(largest)[1] if largest > 0 else 0
    return [math.ldexp(weight, shift) for weight in weights]
