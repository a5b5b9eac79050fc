"""Score as Prefect steps: item scores of all models to totals, means of dimensions, gains and needle scores."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables import scores as tables
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from schemas.tables.layers import AGGREGATED, LAYERS
from schemas.tables.responses import Judgements
from tasks.lake.fingerprint import hash_settings, partition_key
from tasks.lake.lake import Lake
from tasks.scoring.benchmark import SCORING_VERSION, ScoreSettings, ScoreTables, score_benchmark
from tasks.scoring.dimensions import DIMENSIONS_VERSION, score_dimensions
from tasks.scoring.gains import setting_gains
from tasks.scoring.needles import needle_grid
from tasks.scoring.uncertainty import Resampling
from tasks.steps import step, up_to_date

COMPARISONS_VERSION = "1"
"""Bumped when grids of needles are computed differently."""


def blueprint_sha256(blueprint: Blueprint) -> str:
    """Hash of the resolved blueprint, independent of comments and layout of its file."""
    return hash_settings(blueprint.model_dump(mode="json"))


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


@step("aggregate {job.blueprint.name}")
async def aggregate(job: AggregateJob, lake: Lake) -> Any:
    """Reduce, normalise, aggregate and apply the veto: a PartitionRef per layer, in the order of AGGREGATED."""
    found = [lake.find(job.key(layer)) for layer in AGGREGATED]
    refs = [ref for ref in found if ref is not None]
    if len(refs) == len(AGGREGATED):
        return up_to_date(refs)
    scored = compute_layers(job, lake)
    return [
        ref or lake.write(job.key(layer), scored.layer(layer), LAYERS[layer].schema)
        for ref, layer in zip(found, AGGREGATED, strict=True)
    ]


def compute_layers(job: AggregateJob, lake: Lake) -> ScoreTables:
    """Compute every layer from raw scores to totals, from what the lake holds."""
    frames = [lake.read(ref, tables.ItemScores) for ref in job.item_scores]
    return score_benchmark(pl.concat(frames).lazy(), job.blueprint, job.settings)


class LayerJob(Protocol):
    """One partition of a layer that is computed from others of the lake."""

    @property
    def key(self) -> PartitionKey:
        """Key of the partition."""

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute its rows, from what the lake holds."""


@step("compute {job.key.layer}")
async def compute_layer(job: LayerJob, lake: Lake) -> Any:
    """Compute one layer of a run, unless the lake has it, and return its PartitionRef."""
    if found := lake.find(job.key):
        return up_to_date(found)
    return lake.write(job.key, job.compute(lake), LAYERS[job.key.layer].schema)


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
        settings = self.scores.settings
        rows = pl.concat([lake.read(ref, tables.ItemScores) for ref in self.scores.item_scores])
        return setting_gains(rows.lazy(), self.scores.blueprint, Resampling(settings.bootstrap, settings.seed))


@dataclass(frozen=True)
class NeedlesJob:
    """Item scores of a run, and the contexts of those items that have one."""

    benchmark: str
    contexts: tuple[PartitionRef, ...]
    item_scores: tuple[PartitionRef, ...]

    @property
    def key(self) -> PartitionKey:
        """Key of the grid."""
        parents = [ref.identity for ref in (*self.contexts, *self.item_scores)]
        return partition_key("needle_scores", {"benchmark": self.benchmark}, {}, parents, COMPARISONS_VERSION)

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute rows of `needle_scores`; none if no item has a needle."""
        scores = pl.concat([lake.read(ref, tables.ItemScores) for ref in self.item_scores])
        contexts = pl.concat([lake.read(ref, Contexts) for ref in self.contexts])
        return needle_grid(scores.lazy(), contexts)


@dataclass(frozen=True)
class DimensionsJob:
    """Ratings of a benchmark's answers by the judges whose ratings count, and the items the answers are to."""

    benchmark: str
    resampling: Resampling
    items: tuple[PartitionRef, ...]
    judgements: tuple[PartitionRef, ...]

    @property
    def key(self) -> PartitionKey:
        """Key of the means."""
        parents = [ref.identity for ref in (*self.items, *self.judgements)]
        place = {"benchmark": self.benchmark}
        return partition_key("dimension_scores", place, asdict(self.resampling), parents, DIMENSIONS_VERSION)

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute rows of `dimension_scores`."""
        items = Items.cast(pl.concat([lake.read(ref, Items) for ref in self.items]))
        judgements = Judgements.cast(pl.concat([lake.read(ref, Judgements) for ref in self.judgements]))
        return score_dimensions(judgements, items, self.resampling)
