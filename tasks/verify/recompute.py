"""Compute a stored run again: each partition after `responses`, from the partitions that it was computed from.

Each is computed from its stored inputs and not from recomputed ones, so that what differs is told where it differs and nowhere
else. If every partition follows from its inputs, the last follows from the replies. Nothing is asked and nothing is written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from schemas.blueprint import Blueprint
from schemas.errors import LakeError
from schemas.lineage import Footer, PartitionKey, PartitionRef, RunManifest, by_name
from schemas.tables.items import Items
from schemas.tables.layers import AGGREGATED, GOLD
from schemas.tables.responses import Answers, Judgements, Responses
from tasks.judging.contract import reparse_judgements
from tasks.judging.gold import gold_answers
from tasks.judging.rubrics import load_rubric
from tasks.judging.steps import AgreementJob
from tasks.lake.lake import Lake
from tasks.metrics.steps import ItemScoreJob, compute_item_scores
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.steps import AggregateJob, DimensionsJob, GainsJob, NeedlesJob, compute_layers
from tasks.scoring.uncertainty import Resampling
from tasks.solvers.answers import restate_answers

Group = tuple[PartitionRef, ...]
"""Partitions that are computed together."""


@dataclass(frozen=True)
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
        return {ref.path: place for place, ref in enumerate(self.manifest.partitions)}

    def parents(self, ref: PartitionRef) -> tuple[PartitionRef, ...]:
        """Return partitions that one was computed from, in the order of the manifest; LakeError if it does not list one."""
        if unknown := [parent for parent in ref.parents if parent not in self.by_identity]:
            raise LakeError(
                "a partition rests on another one that the manifest does not list",
                where=ref.path,
                expected="all its inputs among the partitions of the run",
                got=f"none of fingerprint {unknown[0][:12]}",
            )
        wanted = {parent.path: parent for parent in (self.by_identity[identity] for identity in ref.parents)}
        return tuple(sorted(wanted.values(), key=lambda parent: self.places[parent.path]))

    def inputs(self, group: Group) -> tuple[PartitionRef, ...]:
        """Return partitions that are read to compute a group; LakeError if the manifest does not list one."""
        ref = group[0]
        if ref.layer == "judgements":
            return (ref,)  # its raw replies are read again
        parents, replies = self.parents(ref), tuple[PartitionRef, ...]()
        if ref.layer == "answers":
            replies = of_layer(parents, "responses")
        elif ref.layer == "item_scores":
            answers = of_layer(parents, "answers")
            replies = tuple(reply for own in answers for reply in self.parents(own)) or of_layer(parents, "responses")
        return (*parents, *(items for reply in replies for items in of_layer(self.parents(reply), "items")))

    def settings(self, ref: PartitionRef) -> ScoreSettings:
        """Return seed and resamples of scores, from their footer."""
        settings = self.footers[ref.path].settings
        return ScoreSettings(**{name: settings[name] for name in ScoreSettings.model_fields if name in settings})


def of_layer(refs: Sequence[PartitionRef], *layers: str) -> tuple[PartitionRef, ...]:
    """Return those of these layers."""
    return tuple(ref for ref in refs if ref.layer in layers)


def groups(manifest: RunManifest) -> list[Group]:
    """Return the partitions that can be computed again, those together that one pass yields."""
    singles = [(ref,) for ref in manifest.partitions if ref.layer in COMPUTED]
    passes: dict[tuple[str, ...], list[PartitionRef]] = {}
    for ref in manifest.partitions:
        if ref.layer in AGGREGATED:
            passes.setdefault(ref.parents, []).append(ref)
    return [*singles, *(tuple(refs) for refs in passes.values())]


def recompute(stored: StoredRun, group: Group) -> dict[str, pl.DataFrame]:
    """Return rows of every partition of a group, by path; MoodflowError if an input cannot be read or fits the code no longer."""
    first = group[0]
    if first.layer in COMPUTED:
        return {first.path: COMPUTED[first.layer](stored, first)}
    tables = compute_layers(_aggregate_job(stored, first), stored.lake)
    return {ref.path: tables.layer(ref.layer) for ref in group}


def _aggregate_job(stored: StoredRun, ref: PartitionRef) -> AggregateJob:
    return AggregateJob(stored.blueprint, stored.settings(ref), of_layer(stored.parents(ref), "item_scores"))


def compute_scores(stored: StoredRun, ref: PartitionRef, blueprint: Blueprint) -> pl.DataFrame:
    """Compute item scores of an eval job of the run, with the methods that a blueprint has for its dataset."""
    inputs = stored.inputs((ref,))
    (answers,), (items,) = of_layer(inputs, "answers", "responses"), of_layer(inputs, "items")
    job = ItemScoreJob(
        methods=blueprint.datasets[ref.key("dataset")].methods,
        items=items,
        answers=answers,
        judgements=next(iter(of_layer(inputs, "judgements")), None),
        key=PartitionKey(layer=ref.layer, place=ref.place, fingerprint=ref.fingerprint),
        gold=of_layer(inputs, *GOLD),
    )
    return compute_item_scores(job, stored.lake)


def _answers(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    inputs = stored.inputs((ref,))
    (items,) = (stored.lake.read(parent, Items) for parent in of_layer(inputs, "items"))
    for replies in of_layer(inputs, "responses"):
        return restate_answers(stored.lake.read(ref, Answers), stored.lake.read(replies, Responses), items)
    return gold_answers(items)


def _needles(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    contexts, scores = (of_layer(stored.parents(ref), layer) for layer in ("contexts", "item_scores"))
    return NeedlesJob(ref.key("benchmark"), contexts, scores).compute(stored.lake)


def _dimensions(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    items, judged = (of_layer(stored.parents(ref), layer) for layer in ("items", "judgements"))
    settings = stored.footers[ref.path].settings
    resampling = Resampling(settings["resamples"], settings["seed"])
    return DimensionsJob(ref.key("benchmark"), resampling, items, judged).compute(stored.lake)


def _judgements(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    rubric = load_rubric(ref.key("rubric"), stored.blueprint.own_rubrics)
    return reparse_judgements(stored.lake.read(ref, Judgements), rubric)


def _agreements(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    parents = stored.parents(ref)
    answers, items, judged = (of_layer(parents, *names) for names in (("answers", "responses"), ("items",), ("judgements",)))
    own = stored.blueprint.own_rubrics
    return AgreementJob(ref.key("benchmark"), items, answers, judged, own, ref.layer).compute(stored.lake)


COMPUTED: Mapping[str, Callable[[StoredRun, PartitionRef], pl.DataFrame]] = {
    "answers": _answers,
    "judgements": _judgements,
    "item_scores": lambda stored, ref: compute_scores(stored, ref, stored.blueprint),
    "setting_gains": lambda stored, ref: GainsJob(_aggregate_job(stored, ref)).compute(stored.lake),
    "needle_scores": _needles,
    "dimension_scores": _dimensions,
    "agreements": _agreements,
    "simulation_faults": _agreements,
}
"""Layers of which each partition is computed by itself; those of AGGREGATED come out of one pass together."""
