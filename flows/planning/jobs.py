"""Where the partitions of a plan are: each stage finds its inputs in the lake by fingerprint, so each can run alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flows.planning.long_parts import LongParts
from flows.planning.resolve import ResolvedPlan, SelectedDataset
from schemas.chat import ModelEntry
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.vocabulary import Setting, TooLong
from tasks.datasets.keys import items_key, long_items_keys
from tasks.judging.keys import judgements_key
from tasks.judging.rubrics import load_rubric
from tasks.metrics.keys import item_scores_key
from tasks.metrics.reference.keys import reference_scores_key
from tasks.solvers.keys import responses_key
from tasks.solvers.option_order import Epochs
from tasks.solvers.prompts import load_prompts
from tasks.sources.locating import Locator, source_sha256


class EvalJob(NamedTuple):
    """One dataset, model and setting: a partition in most layers."""

    chosen: SelectedDataset
    entry: ModelEntry
    setting: Setting

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.chosen.spec.id

    def missing(self, reason: str, next_step: str) -> Missing:
        """Record that this cell yields no score."""
        return Missing(dataset=self.dataset, model=self.entry.name, setting=self.setting, reason=reason, next_step=next_step)


def eval_jobs(resolution: ResolvedPlan) -> Iterator[EvalJob]:
    """Yield every dataset x model x setting of the run.

    Raises:
        UsageError: the plan names no model.
    """
    resolution.plan.require_models()
    for chosen in resolution.chosen:
        for entry in resolution.plan.models:
            for setting in resolution.plan.settings:
                yield EvalJob(chosen, entry, setting)


def items_partition(resolution: ResolvedPlan, chosen: SelectedDataset) -> PartitionKey:
    """Key of a dataset's sampled items.

    Raises:
        SourceMissingError: a file that no hash pins, or a user's own, is not here.
    """
    plan = resolution.plan
    hashes = source_sha256(chosen.spec.files, Locator.for_mirror(plan.mirror))
    if chosen.is_long:
        return long_items_keys(chosen.spec, hashes, plan.sample, plan.seed, plan.contexts)[0]
    return items_key(chosen.spec, hashes, plan.sample, plan.seed)


def contexts_partition(resolution: ResolvedPlan, chosen: SelectedDataset) -> PartitionKey:
    """Key of what is known of a dataset's long contexts.

    Raises:
        SourceMissingError: a file that no hash pins, or a user's own, is not here.
    """
    plan = resolution.plan
    hashes = source_sha256(chosen.spec.files, Locator.for_mirror(plan.mirror))
    return long_items_keys(chosen.spec, hashes, plan.sample, plan.seed, plan.contexts)[1]


def find_items(resolution: ResolvedPlan, chosen: SelectedDataset) -> PartitionRef | None:
    """A dataset's sampled items; None if they are not built, or a file is not here without which their key is not known."""
    try:
        return resolution.lake.find(items_partition(resolution, chosen))
    except SourceMissingError:
        return None


def find_contexts(resolution: ResolvedPlan, chosen: SelectedDataset) -> PartitionRef | None:
    """What is known of a dataset's long contexts; None if they are not built."""
    try:
        return resolution.lake.find(contexts_partition(resolution, chosen))
    except SourceMissingError:
        return None


def long_parts(resolution: ResolvedPlan, cell: EvalJob) -> LongParts | None:
    """Where everything is that asking a cell of long items reads and writes; None if its items are not long or not built."""
    items, contexts = find_items(resolution, cell.chosen), find_contexts(resolution, cell.chosen)
    task = cell.chosen.spec.long_task
    if task is None or items is None or contexts is None:
        return None
    return LongParts.of(resolution.plan, cell.entry, cell.setting, task, (items, contexts), too_long_of(resolution))


def responses_partition(resolution: ResolvedPlan, cell: EvalJob) -> PartitionKey | None:
    """Key of a cell's replies; None if its items are not built."""
    items = find_items(resolution, cell.chosen)
    if items is None:
        return None
    if cell.chosen.is_long:
        parts = long_parts(resolution, cell)
        return parts.keys.responses if parts else None
    rounds, too_long = epochs_of(resolution.plan), too_long_of(resolution)
    return responses_key(items, cell.entry, cell.setting, load_prompts().sha256, rounds, too_long)


def epochs_of(plan: Plan) -> Epochs:
    """How often the plan asks each item."""
    return Epochs(plan.permute, plan.seed, plan.repeat)


def too_long_of(resolution: ResolvedPlan) -> TooLong:
    """What becomes of items longer than a model's context: as the plan says, else as the benchmark does."""
    return resolution.plan.too_long or resolution.blueprint.too_long or "missing"


def judgements_partition(
    resolution: ResolvedPlan, cell: EvalJob, responses: PartitionRef, judge: ModelEntry | None = None
) -> PartitionKey | None:
    """Key of a judge's ratings of a cell's replies, by default of the one that counts; None if nothing there is judged."""
    judge, rubric = judge or resolution.plan.judge, cell.chosen.rubric
    if judge is None or rubric is None:
        return None
    return judgements_key(responses, judge, rubric, load_rubric(rubric).sha256, resolution.plan.judge_repeat)


class ScorableJob(NamedTuple):
    """A cell whose replies (and ratings, where it needs any) are in the lake."""

    cell: EvalJob
    items: PartitionRef
    responses: PartitionRef
    judgements: PartitionRef | None
    item_scores: PartitionKey
    others: tuple[PartitionRef, ...] = ()
    """Contexts, chunks and retrievals behind the replies, and ratings by the panel, as far as they are there."""


def find_ready(resolution: ResolvedPlan, cell: EvalJob) -> ScorableJob | None:
    """The cell's inputs of the score stage; None if replies or ratings are not there."""
    items = find_items(resolution, cell.chosen)
    key = responses_partition(resolution, cell)
    responses = resolution.lake.find_latest(key) if key else None
    if items is None or responses is None:
        return None
    judged = judgements_partition(resolution, cell, responses)
    judgements = resolution.lake.find_latest(judged) if judged else None
    if judged is not None and judgements is None:
        return None
    if resolution.plan.profile == "reference":
        scores = reference_scores_key(responses, cell.chosen.methods)
    else:
        scores = item_scores_key(responses, [judgements] if judgements else [], cell.chosen.methods)
    return ScorableJob(cell, items, responses, judgements, scores, _others(resolution, cell, responses))


def unrated(resolution: ResolvedPlan, ready: Sequence[ScorableJob]) -> list[Missing]:
    """Cells that a member of the panel has not rated: the agreement of judges is then computed without it."""
    gaps = []
    for found in ready:
        for judge in resolution.plan.judges[1:]:
            key = judgements_partition(resolution, found.cell, found.responses, judge)
            if key is not None and resolution.lake.find_latest(key) is None:
                gaps.append(found.cell.missing(f"was not rated by {judge.name} of the panel", "moodflow infer asks it"))
    return gaps


def _others(resolution: ResolvedPlan, cell: EvalJob, responses: PartitionRef) -> tuple[PartitionRef, ...]:
    keys = [judgements_partition(resolution, cell, responses, judge) for judge in resolution.plan.judges[1:]]
    parts = long_parts(resolution, cell) if cell.chosen.is_long else None
    if parts:
        keys += [parts.chunks, parts.keys.retrievals, parts.keys.written]
    found = [resolution.lake.find_latest(key) for key in keys if key]
    return (*([parts.contexts] if parts else []), *(ref for ref in found if ref))
