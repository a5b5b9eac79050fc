"""Compute a stored run again: each partition after `responses`, from the partitions that it was computed from.

Each is computed from its stored inputs and not from recomputed ones, so that what differs is told where it differs and nowhere
else. If every partition follows from its inputs, the last follows from the replies. Nothing is asked and nothing is written.
The rows of the layers name the functions here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import polars as pl

from schemas.blueprint import Blueprint
from schemas.errors import LakeError
from schemas.lineage import Footer, PartitionKey, PartitionRef, RunManifest, by_name
from schemas.tables.items import Items
from schemas.tables.layers import GOLD, LAYERS, gold_layers
from schemas.tables.responses import Answers, Judgements, Responses
from tasks.judging.answers import gold_answers
from tasks.judging.contract import reparse_judgements
from tasks.judging.rubrics import load_rubric
from tasks.lake.lake import Lake
from tasks.metrics.item_score_job import ItemScoreJob, compute_item_scores
from tasks.scoring.benchmark import ScoreSettings, ScoreTables
from tasks.scoring.jobs import AggregateJob, GainsJob, LayerJob, compute_layers
from tasks.solvers.answers import restate_answers


class DamagedInputError(LakeError):
    """An input is not the run's, which is told of its own file."""


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run as the lake has it: its manifest, the blueprint in it, and the footers of those files that are intact, by path."""

    manifest: RunManifest
    blueprint: Blueprint
    lake: Lake
    footers: Mapping[str, Footer]

    @cached_property
    def by_identity(self) -> dict[str, PartitionRef]:
        """The run's partitions, by what those computed from them call them."""
        return by_name(self.manifest.partitions)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the manifest lists each partition, by path."""
        return {ref.path: index for index, ref in enumerate(self.manifest.partitions)}

    def parents(self, ref: PartitionRef) -> tuple[PartitionRef, ...]:
        """Return partitions that one was computed from, in the order of the manifest; LakeError if it does not list one."""
        if unknown := [parent for parent in ref.parents if parent not in self.by_identity]:
            raise LakeError(
                "a partition depends on one that is not in the manifest",
                where=ref.path,
                expected="all its inputs among the partitions of the run",
                got=f"none of fingerprint {unknown[0][:12]}",
            )
        wanted = {parent.path: parent for parent in (self.by_identity[identity] for identity in ref.parents)}
        return tuple(sorted(wanted.values(), key=lambda parent: self.places[parent.path]))

    def inputs(self, ref: PartitionRef) -> list[tuple[PartitionRef, ...]]:
        """Return what is read to compute a partition, by the parents in its layer's row; raise as `parents` and `intact` do."""
        parents = self.intact(self.parents(ref))
        return [of_layer(parents, *(gold_layers() if layer == GOLD else (layer,))) for layer in LAYERS[ref.layer].parents]

    def intact(self, refs: Sequence[PartitionRef]) -> Sequence[PartitionRef]:
        """Return partitions as they are; raise DamagedInputError if the file of one is not the run's."""
        if damaged := [ref.path for ref in refs if ref.path not in self.footers]:
            raise DamagedInputError("an input of a partition is damaged", where=damaged[0])
        return refs

    def items_behind(self, replies: PartitionRef) -> PartitionRef:
        """Return the items that replies are to; raise as `parents` and `intact` do."""
        (items,) = self.intact(of_layer(self.parents(replies), "items"))
        return items

    def settings(self, ref: PartitionRef) -> ScoreSettings:
        """Return the settings of scores, from their footer."""
        settings = self.footers[ref.path].settings
        return ScoreSettings(**{name: settings[name] for name in ScoreSettings.model_fields if name in settings})


def of_layer(refs: Sequence[PartitionRef], *layers: str) -> tuple[PartitionRef, ...]:
    """Return those of these layers."""
    return tuple(ref for ref in refs if ref.layer in layers)


def answers(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Take the answers from their replies again; gold replies from their items."""
    items, replies = stored.inputs(ref)
    if not replies:
        return gold_answers(stored.lake.read(items[0], Items))
    sampled = stored.lake.read(stored.items_behind(replies[0]), Items)
    return restate_answers(stored.lake.read(ref, Answers), stored.lake.read(replies[0], Responses), sampled)


def judgements(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Read the raw replies of the judge again, which the partition itself has; what people say is there as they said it."""
    if ref.by_people:
        return stored.lake.read(ref, Judgements)
    return reparse_judgements(stored.lake.read(ref, Judgements), load_rubric(ref.key("rubric"), stored.blueprint.own_rubrics))


def item_scores(stored: StoredRun, ref: PartitionRef, blueprint: Blueprint | None = None) -> pl.DataFrame:
    """Score the answers of an eval job again, with the methods that a blueprint, null = the run's, has for its dataset."""
    (answered,), rated, gold = stored.inputs(ref)
    (replies,) = stored.parents(answered)
    job = ItemScoreJob(
        methods=(blueprint or stored.blueprint).datasets[ref.key("dataset")].methods,
        items=stored.items_behind(replies),
        answers=answered,
        judgements=rated,
        key=PartitionKey(layer=ref.layer, place=ref.place, fingerprint=ref.fingerprint),
        gold=gold,
    )
    return compute_item_scores(job, stored.lake)


def aggregated(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Compute one of the layers from raw scores to totals, in one pass with the others."""
    return _score_all(stored, *stored.inputs(ref), stored.settings(ref).model_dump_json()).layer(ref.layer)


@lru_cache(maxsize=1)
def _score_all(stored: StoredRun, scored: tuple[PartitionRef, ...], settings: str) -> ScoreTables:
    return compute_layers(AggregateJob(stored.blueprint, ScoreSettings.model_validate_json(settings), scored), stored.lake)


def setting_gains(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Compute again what settings gain over `base`."""
    return GainsJob(AggregateJob(stored.blueprint, stored.settings(ref), *stored.inputs(ref))).compute(stored.lake)


def compared(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Compute a layer of comparisons again, as its row says."""
    job = LayerJob(ref.layer, ref.key("benchmark"), tuple(stored.inputs(ref)), stored.blueprint.own_rubrics)
    return job.compute(stored.lake)
