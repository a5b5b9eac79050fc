"""Compute the score tree: every stored score of a run with the parts it is the weighted mean of.

Nothing is scored anew: scores are those of the layers, weights those of the blueprint (of levels: of the rule for the levels that
have a score). Each mean is computed once more, here and in another way than in tasks.scoring.aggregation, and held against the
stored score, so that what is shown adds up or says that it does not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

import polars as pl

from schemas.blueprint import Ability, Blueprint, BlueprintDataset, Task
from schemas.documents.score_part import Kind, MetricPart, ScorePart
from schemas.metrics import Metric
from schemas.tables.layers import AGGREGATED, LAYERS
from schemas.vocabulary import LEVELS
from tasks.runs.baselines import Baselines
from tasks.runs.run_tables import Row, System, from_row
from tasks.scoring.normalisation import describe_normalisation, normalise


@dataclass(frozen=True)
class Scores:
    """Rows of one model and setting, by what they are about; `layers` by the layer's name.

    `baselines`: by dataset and metric; empty = they were not looked up.
    """

    system: System
    total: Row
    layers: Mapping[str, Mapping[tuple[str, ...], Row]]
    baselines: Mapping[tuple[str, Metric], Baselines] = field(default_factory=dict)

    def row(self, layer: str, *names: str) -> Row:
        """Return the row of a layer; one that says that nothing was scored where there is none."""
        return self.layers[layer].get(names, {})


def scores_of(
    layers: Mapping[str, pl.DataFrame], system: System, baselines: Mapping[tuple[str, Metric], Baselines] | None = None
) -> Scores:
    """Return the rows of one model and setting from every layer that is aggregated, by the columns that name them there."""
    rows: dict[str, dict[tuple[str, ...], Row]] = {}
    for layer in AGGREGATED:
        names = [name for name in LAYERS[layer].schema.primary_key() if name not in System._fields]
        rows[layer] = {tuple(str(row[name]) for name in names): row for row in system.rows(layers[layer])}
    return Scores(system, rows["totals"].get((), {}), rows, baselines or {})


def explain_total(scores: Scores, blueprint: Blueprint) -> ScorePart:
    """Explain the total before the veto: the weighted mean of all main abilities but the gate, each with everything below it."""
    gate = blueprint.gate.ability if blueprint.gate else None
    mains = [ability for ability in blueprint.abilities if ability.dataset_ids and ability.id != gate]
    parts = [explain_ability(scores, ability, blueprint) for ability in mains]
    row = {**scores.total, "score_0_100": scores.total.get("total_before_veto")}
    return _mean("total", blueprint.name, blueprint.title, parts, row)


def explain_ability(scores: Scores, ability: Ability, blueprint: Blueprint, tier: int = 1) -> ScorePart:
    """Explain an ability of any tier: the mean of the abilities below it, or of its levels."""
    kind: Kind = "ability" if tier == 1 else "sub_ability"
    row = scores.row(f"{kind}_scores", ability.id)
    below = [explain_ability(scores, child, blueprint, tier + 1) for child in ability.children if child.dataset_ids]
    parts = below or _levels(scores, ability, blueprint)
    return _mean(kind, ability.id, ability.title, parts, row, ability.weight)


def explain_task(scores: Scores, task: Task, blueprint: Blueprint) -> ScorePart:
    """Explain a task: the mean of its datasets."""
    parts = [explain_dataset(scores, entry.id, blueprint.datasets[entry.id], entry.weight) for entry in task.datasets]
    return _mean("task", task.id, task.title, parts, scores.row("task_scores", task.id), task.weight)


def explain_dataset(scores: Scores, name: str, entry: BlueprintDataset, weight: float = 1.0) -> ScorePart:
    """Explain a dataset: the mean of its methods' metrics."""
    row = scores.row("dataset_scores", name)
    return _mean("dataset", name, entry.title, list(_metrics(scores, name, entry)), row, weight)


def list_scores(scores: Scores, blueprint: Blueprint) -> Iterator[Row]:
    """Yield a row per score of a model and setting, from the total down, each with the main ability and dataset that it is of."""
    total, before_veto = scores.total, explain_total(scores, blueprint)
    gates = [ability for ability in blueprint.abilities if blueprint.gate and ability.id == blueprint.gate.ability]
    yield _score_row(before_veto) | {"score": total.get("total")}
    yield _score_row(before_veto) | {"kind": "total_before_veto", "ci_low": total.get("ci_low"), "ci_high": total.get("ci_high")}
    for ability in (*before_veto.parts, *(explain_ability(scores, gate, blueprint) for gate in gates)):
        yield from (_score_row(part, ability.id) for part in ability.walk())


def _score_row(part: ScorePart, ability: str | None = None) -> Row:
    own = {name: getattr(part, name) for name in ("kind", "id", "title", "score", "weight", "n_scored", "n_total", "constant")}
    dataset = part.id if part.kind == "dataset" else getattr(part.measured, "dataset", None)
    measured = {name: getattr(part.measured, name, None) for name in ("raw", "ci_low", "ci_high")}
    return {"ability": ability, "dataset": dataset, **own, **measured}


def _levels(scores: Scores, ability: Ability, blueprint: Blueprint) -> list[ScorePart]:
    used = [level for level in LEVELS if any(task.level == level for task in ability.tasks)]
    rows = {level: scores.row("level_scores", ability.id, level) for level in used}
    present = [level for level in used if rows[level].get("score_0_100") is not None]
    weights = next((rule.weights for rule in blueprint.level_rules if set(rule.weights) == set(present)), {})
    parts = []
    for level in used:
        tasks = [explain_task(scores, task, blueprint) for task in ability.tasks if task.level == level]
        parts.append(_mean("level", level, f"{level} level", tasks, rows[level], weights.get(level, 0.0)))
    return parts


def _metrics(scores: Scores, dataset: str, entry: BlueprintDataset) -> Iterator[ScorePart]:
    for method in entry.methods:
        for spec in method.metrics:
            key = (dataset, method.id, spec.metric)
            row, raw = scores.row("normalized_scores", *key), scores.row("raw_scores", *key)
            value, constant = raw.get("value"), scores.baselines.get((dataset, spec.metric), Baselines()).constant
            measured = from_row(
                MetricPart,
                raw,
                dataset=dataset,
                method=method.id,
                metric=spec.metric,
                rubric=method.rubric,
                profile=method.profile,
                raw=value,
                constant_answer=constant and constant.answer,
                normalisation=spec.normalisation,
                formula=describe_normalisation(spec.normalisation),
            )
            score = row.get("normalized_0_100")
            yield ScorePart(
                kind="metric",
                id=f"{method.id}.{spec.metric}",
                title=spec.metric if spec.k is None else f"{spec.metric}, k = {spec.k}",
                score=score,
                weight=spec.weight,
                datasets_scored=int(score is not None),
                datasets_total=1,
                n_scored=row.get("n_scored", 0),
                n_total=row.get("n_total", 0),
                computed=None if value is None else normalise(value, spec.normalisation),
                constant=normalise(constant.share, spec.normalisation) if constant else None,
                measured=measured,
            )


def _mean(kind: Kind, name: str, title: str, parts: Sequence[ScorePart], row: Row, weight: float = 1.0) -> ScorePart:
    return ScorePart(
        kind=kind,
        id=name,
        title=title,
        score=row.get("score_0_100"),
        weight=weight,
        datasets_scored=row.get("datasets_scored", 0),
        datasets_total=row.get("datasets_total", sum(part.datasets_total for part in parts) if kind != "dataset" else 1),
        n_scored=row.get("n_scored", 0),
        n_total=row.get("n_total", 0),
        computed=weighted_mean((part.score, part.weight) for part in parts),
        constant=_constant(parts),
        parts=tuple(_share_out(parts)),
        note=None if row else "no dataset below it was in the run",
    )


def _constant(parts: Sequence[ScorePart]) -> float | None:
    """Return the mean of constant answers over the parts that count; null if one of them has none."""
    counted = [part for part in parts if part.score is not None and part.weight]
    known = all(part.constant is not None for part in counted)
    return weighted_mean((part.constant, part.weight) for part in counted) if known else None


def weighted_mean(scored: Iterable[tuple[float | None, float]]) -> float | None:
    """Return the weighted mean of the scores that are there, kept between their extremes; null if none has a weight."""
    present = [(score, weight) for score, weight in scored if score is not None]
    whole = fsum(weight for _, weight in present)
    if whole <= 0:
        return None
    mean = fsum(score * weight for score, weight in present) / whole
    return min(max(mean, min(present)[0]), max(present)[0])


def _share_out(parts: Sequence[ScorePart]) -> Iterator[ScorePart]:
    """Yield the parts of one mean, each with its share of it."""
    whole = fsum(part.weight for part in parts if part.score is not None)
    for part in parts:
        share = part.weight / whole if part.score is not None and whole > 0 else None
        yield part if share is None else replace(part, share=share, contributes=share * (part.score or 0.0))
