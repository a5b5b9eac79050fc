"""What the steps of scoring are given: item scores to aggregate, partitions that other layers are computed of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables import scores as tables
from schemas.tables.layers import LAYERS
from tasks.lake.lake import Lake
from tasks.lake.partitions import hash_settings, partition_key
from tasks.scoring.benchmark import SCORING_VERSION, ScoreSettings, ScoreTables, score_benchmark
from tasks.scoring.blueprints import WORDING
from tasks.scoring.gains import setting_gains


def blueprint_sha256(blueprint: Blueprint) -> str:
    """Hash of the resolved blueprint, independent of comments and layout of its file, and of whose words are said to be in it."""
    return hash_settings(blueprint.model_dump(mode="json", exclude={WORDING}))


@dataclass(frozen=True)
class AggregateJob:
    """All item scores of a run."""

    blueprint: Blueprint
    settings: ScoreSettings
    item_scores: tuple[PartitionRef, ...]

    def key(self, layer: str) -> PartitionKey:
        """Return the key of one of the aggregated layers, or of the gains."""
        resolved = {"blueprint_sha256": blueprint_sha256(self.blueprint), **self.settings.model_dump()}
        parents = [ref.identity for ref in self.item_scores]
        return partition_key(layer, {"benchmark": self.blueprint.name}, resolved, parents, SCORING_VERSION)


def compute_layers(job: AggregateJob, lake: Lake) -> ScoreTables:
    """Compute every layer from raw scores to totals, from what the lake holds."""
    frames = [lake.read(ref, tables.ItemScores) for ref in job.item_scores]
    return score_benchmark(pl.concat(frames).lazy(), job.blueprint, job.settings)


@dataclass(frozen=True)
class LayerJob:
    """One partition of a layer that is computed of others of the lake, as the layer's row says.

    `inputs`: partitions by the parents in the layer's row, in their order.
    `own_rubrics`: of the blueprint; the ratings among the inputs know them by their content.
    """

    layer: str
    benchmark: str
    inputs: tuple[tuple[PartitionRef, ...], ...]
    own_rubrics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> PartitionKey:
        """Key of the partition; in which order inputs are named does not matter."""
        parents = sorted({ref.identity for refs in self.inputs for ref in refs})
        version = str(LAYERS[self.layer].version)
        return partition_key(self.layer, {"benchmark": self.benchmark}, {}, parents, version)

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute its rows, from what the lake holds."""
        rows = {}
        for layer, refs in zip(LAYERS[self.layer].parents, self.inputs, strict=True):
            schema = LAYERS[layer].schema
            frames: list[pl.DataFrame] = [lake.read(ref, schema) for ref in dict.fromkeys(refs)]
            rows[layer] = pl.concat([schema.create_empty(), *frames])
        return LAYERS[self.layer].compute(rows, self.own_rubrics)


@dataclass(frozen=True)
class GainsJob:
    """What each setting gains over `base`, from the item scores of a run."""

    scores: AggregateJob

    @property
    def key(self) -> PartitionKey:
        """Key of the gains."""
        return self.scores.key("setting_gains")

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute rows of `setting_gains`."""
        rows = pl.concat([lake.read(ref, tables.ItemScores) for ref in self.scores.item_scores])
        return setting_gains(rows.lazy(), self.scores.blueprint)
