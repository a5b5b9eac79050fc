"""Small blueprints and item scores to score by hand."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from schemas.blueprint import Ability, Blueprint, BlueprintDataset, Gate, LevelRule, MethodSpec, MetricSpec, Task, WeightedDataset
from schemas.tables.scores import ItemScores
from schemas.vocabulary import Level

LEVEL_RULES = tuple(
    LevelRule(weights=weights)
    for weights in (
        {"low": 0.30, "medium": 0.55, "high": 0.15},
        {"low": 0.4, "medium": 0.6},
        {"low": 0.6, "high": 0.4},
        {"medium": 0.7, "high": 0.3},
        {"low": 1},
        {"medium": 1},
        {"high": 1},
    )
)


def measured(*metrics: MetricSpec, method: str = "choice", **more: Any) -> BlueprintDataset:
    """A dataset with one method of these metrics."""
    return BlueprintDataset(title="measured", methods=(MethodSpec(id=method, metrics=metrics, **more),))


def task(name: str, level: Level = "low", datasets: Sequence[str] | None = None, weight: float = 1.0, **weights: float) -> Task:
    used = [name] if datasets is None else datasets
    entries = tuple(WeightedDataset(id=dataset, weight=weights.get(dataset, 1.0)) for dataset in used)
    return Task(id=f"task_{name}", title=name, level=level, weight=weight, datasets=entries)


def ability(name: str, *below: Ability | Task, weight: float = 1.0) -> Ability:
    children = tuple(node for node in below if isinstance(node, Ability))
    tasks = tuple(node for node in below if isinstance(node, Task))
    return Ability(id=name, title=name.title(), weight=weight, children=children, tasks=tasks)


def blueprint(*abilities: Ability, gate: Gate | None = None, **changed: Any) -> Blueprint:
    """A blueprint over these abilities; every dataset is scored by accuracy unless `datasets` overrides it."""
    used = [entry.id for main in abilities for _, node in main.walk() for each in node.tasks for entry in each.datasets]
    datasets = {name: measured(MetricSpec(metric="accuracy")) for name in used} | changed.pop("datasets", {})
    fields = {"name": "tiny", "title": "Tiny", "version": "1", "source": "none", "level_rules": LEVEL_RULES, **changed}
    return Blueprint(abilities=abilities, datasets=datasets, gate=gate, **fields)


def one_dataset(*metrics: MetricSpec, **more: Any) -> Blueprint:
    """A blueprint over one dataset, `d`, with these metrics."""
    return blueprint(ability("a", task("d")), datasets={"d": measured(*metrics, **more)})


def by_labels(metric: Any) -> Blueprint:
    """A blueprint over one dataset, `d`, scored as `labelled` has it."""
    return one_dataset(MetricSpec(metric=metric), method="labels")


def gated() -> Blueprint:
    """Two abilities that count, 0.3 and 0.7, and a gate with threshold 60; one dataset each: mind, heart, safety."""
    return blueprint(
        ability("safe", task("safety")),
        ability("able", task("mind"), weight=0.3),
        ability("kind", task("heart"), weight=0.7),
        gate=Gate(ability="safe", threshold=60),
    )


def items(
    dataset: str, values: Sequence[float | None], model: str = "m", *, status: str | Sequence[str] | None = None, **columns: Any
) -> pl.DataFrame:
    """Item scores of one dataset; a null value is a failed call unless `status` says otherwise."""
    statuses = ["call_failed" if value is None else "scored" for value in values] if status is None else status
    row = {"method": "choice", "metric": "accuracy", "setting": "base", "part": "", "repetition": 0} | columns
    frame = pl.DataFrame({"item_id": [f"{dataset}-{number}" for number in range(len(values))]}).with_columns(cluster="item_id")
    listed = {"value": pl.Series(values, dtype=pl.Float64), "status": statuses}
    given = {name: pl.Series(column) if isinstance(column, list) else column for name, column in {**row, **listed}.items()}
    built = frame.with_columns(
        model=pl.lit(model),
        dataset=pl.lit(dataset),
        parsed_answer=pl.lit(None, pl.String),
        predicted=pl.lit(None, pl.List(pl.String)),
        gold=pl.lit(None, pl.List(pl.String)),
        chosen_place=pl.lit(None, pl.Int64),
        gold_place=pl.lit(None, pl.Int64),
        error=pl.lit(None, pl.String),
    ).with_columns(
        pl.lit(column).alias(name) if not isinstance(column, pl.Series) else column.alias(name) for name, column in given.items()
    )
    return ItemScores.validate(built.select(ItemScores.column_names()), cast=True)


def labelled(
    dataset: str, metric: str, gold: Sequence[list[str]], predicted: Sequence[list[str] | None], model: str = "m", **columns: Any
) -> pl.DataFrame:
    """Item scores of an F1 metric; a null prediction is an unparsed reply."""
    values = [0.0 if labels is None else float(set(labels) == set(right)) for labels, right in zip(predicted, gold, strict=True)]
    status = ["unparsed" if labels is None else "scored" for labels in predicted]
    return items(
        dataset,
        values,
        model,
        status=status,
        method="labels",
        metric=metric,
        gold=pl.Series(list(gold), dtype=pl.List(pl.String)),
        predicted=pl.Series(list(predicted), dtype=pl.List(pl.String)),
        **columns,
    )


def share(hits: int, total: int) -> list[float | None]:
    """Values of `total` items of which `hits` are right."""
    return [*[1.0] * hits, *[0.0] * (total - hits)]
