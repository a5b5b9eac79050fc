"""Where the partitions of a plan are: each stage finds its inputs in the lake by fingerprint, so each can run alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from flows.planning.resolve import ResolvedPlan, SelectedDataset
from schemas.chat import ModelEntry
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.vocabulary import LongTask, Setting, TooLong
from tasks.datasets.keys import items_key, long_items_keys
from tasks.judging.keys import judgements_key
from tasks.judging.rubrics import load_rubric
from tasks.metrics.keys import item_scores_key
from tasks.metrics.reference.keys import reference_scores_key
from tasks.retrieval.embedding import find_embedder
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.solvers.keys import responses_key
from tasks.solvers.longemotion.context import SolverOptions
from tasks.solvers.longemotion.longemotion_keys import chunks_key, long_key, long_settings, round_settings
from tasks.solvers.longemotion.longemotion_prompts import load_long_prompts
from tasks.solvers.longemotion.longemotion_steps import ChunkJob, LongKeys
from tasks.solvers.longemotion.parameters import Parameters, choose_parameters
from tasks.solvers.longemotion.solve import SOLVERS_VERSION
from tasks.solvers.option_order import Epochs
from tasks.solvers.prompts import load_prompts
from tasks.sources.locating import Locator, source_sha256

IN_SEGMENTS: frozenset[LongTask] = frozenset({"ed"})
"""Tasks whose contexts come in segments."""

SELF_WRITTEN: frozenset[LongTask] = frozenset({"ee"})
"""Tasks whose corpus is what the model wrote before."""


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


@dataclass(frozen=True)
class LongParts:
    """What one dataset, model and setting are asked with, and where its partitions are."""

    items: PartitionRef
    contexts: PartitionRef
    how: SolverOptions
    parameters: Parameters
    long_task: LongTask
    chunks: PartitionKey | None
    keys: LongKeys

    @classmethod
    def of(
        cls,
        plan: Plan,
        entry: ModelEntry,
        setting: Setting,
        long_task: LongTask,
        built: tuple[PartitionRef, PartitionRef],
        too_long: TooLong,
    ) -> Self:
        """Work out the parts of a cell.

        Args:
            plan: resolved.
            entry: the model under test.
            setting: how it is asked.
            long_task: of the dataset.
            built: items and contexts.
            too_long: what becomes of items longer than the model's context.
        """
        items, contexts = built
        how = SolverOptions(setting, plan.retrieval, plan.contexts.length_demand)
        parameters = choose_parameters(plan.retrieval, long_task, setting, entry.name)
        retrieves = parameters.retrieves
        embedder = find_embedder(plan.retrieval.embedder).identity if retrieves and plan.retrieval.ranking != "bm25" else None
        texts = {
            "prompts_sha256": load_long_prompts().sha256,
            "solvers_version": SOLVERS_VERSION,
            **({"ranking_version": RANKING_VERSION} if retrieves else {}),
        }
        settings = {
            **long_settings(how, helpers_of(plan, entry, setting), embedder, texts),
            **round_settings(plan.repeat, too_long),
        }

        def key(layer: str) -> PartitionKey:
            return long_key(layer, entry, setting, settings, built)

        own = long_task in SELF_WRITTEN
        size = None if long_task in IN_SEGMENTS else parameters.chunk_tokens
        return cls(
            items=items,
            contexts=contexts,
            how=how,
            parameters=parameters,
            long_task=long_task,
            chunks=chunks_key(items, size, plan.retrieval) if retrieves and not own else None,
            keys=LongKeys(
                responses=key("responses"),
                retrievals=key("retrievals") if retrieves else None,
                written=key("chunks") if retrieves and own else None,
            ),
        )

    @property
    def chunk_job(self) -> ChunkJob | None:
        """How the contexts are split; None if the setting does not retrieve from them."""
        if self.chunks is None:
            return None
        size = None if self.long_task in IN_SEGMENTS else self.parameters.chunk_tokens
        overlap = self.how.options.overlap_tokens
        return ChunkJob(self.items.key("dataset"), self.items, self.contexts, size, overlap, self.chunks)


def helpers_of(plan: Plan, entry: ModelEntry, setting: Setting) -> dict[str, ModelEntry]:
    """Models that take part besides the one under test, by role; where the plan names none, that one is asked itself."""
    if setting == "coem":
        return {"sage": plan.sage or entry}
    return {"critic": plan.critic or entry} if setting == "self_rag" else {}


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
