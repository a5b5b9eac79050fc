"""The score stage's second step: item scores of all models to totals."""

from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables import scores as tables
from tasks.lineage.lake import Lake
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.keys import aggregate_key
from tasks.steps import step

LAYERS: dict[str, type[dy.Schema]] = {
    "raw_scores": tables.RawScores,
    "normalized_scores": tables.NormalizedScores,
    "dataset_scores": tables.DatasetScores,
    "task_scores": tables.TaskScores,
    "level_scores": tables.LevelScores,
    "sub_ability_scores": tables.SubAbilityScores,
    "ability_scores": tables.AbilityScores,
    "totals": tables.Totals,
}
"""Layers this step writes, in the order they build on each other."""


@dataclass(frozen=True)
class AggregateJob:
    """All item scores of a run."""

    blueprint: Blueprint
    settings: ScoreSettings
    item_scores: tuple[PartitionRef, ...]

    def key(self, layer: str) -> PartitionKey:
        """Key of one of the layers."""
        return aggregate_key(layer, self.item_scores, self.blueprint, self.settings)


@step("aggregate {job.blueprint.name}")
async def aggregate(job: AggregateJob, lake: Lake) -> Any:
    """Reduce, normalise, aggregate and apply the veto.

    Returns:
        One PartitionRef per layer, in the order of LAYERS.
    """
    found = [lake.find(job.key(layer)) for layer in LAYERS]
    refs = [ref for ref in found if ref is not None]
    if len(refs) == len(LAYERS):
        return refs
    frames = [lake.read(ref, tables.ItemScores) for ref in job.item_scores]
    scored = score_benchmark(pl.concat(frames).lazy(), job.blueprint, job.settings)
    return [
        ref or lake.write(job.key(layer), scored.layer(layer), schema)
        for ref, (layer, schema) in zip(found, LAYERS.items(), strict=True)
    ]
