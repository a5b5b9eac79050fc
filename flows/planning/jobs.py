"""List the jobs of a plan and the keys of their partitions; each stage finds its inputs in the lake by fingerprint."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flows.planning.resolve import ResolvedPlan, SelectedDataset
from schemas.chat import ChatRequest, ModelEntry
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.roles import JUDGE
from schemas.tables.items import Items
from schemas.usage import Role
from schemas.vocabulary import Setting, TooLong
from tasks.datasets.keys import ItemsKeys, items_keys
from tasks.judging.executor import judgements_key
from tasks.judging.rubrics import load_rubric
from tasks.metrics.item_scores import item_scores_key
from tasks.metrics.reference.scoring import reference_scores_key
from tasks.retrieval.embedding import find_embedder
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.solvers.chunk_rows import ChunkJob
from tasks.solvers.forecast import plan_requests
from tasks.solvers.keys import answers_key, chunks_key, long_key, long_settings, responses_key
from tasks.solvers.longemotion.parameters import choose_parameters
from tasks.solvers.longemotion.prompts import load_long_prompts
from tasks.solvers.longemotion.solve import SOLVERS_VERSION
from tasks.solvers.option_order import Epochs
from tasks.solvers.prompts import load_prompts
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import SolverOptions
from tasks.solvers.steps import InferKeys, read_contexts
from tasks.solvers.truncation import truncation_settings
from tasks.sources.locating import Locator, source_sha256


class EvalJob(NamedTuple):
    """One dataset, model and setting: a partition in most layers."""

    selected: SelectedDataset
    entry: ModelEntry
    setting: Setting

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.selected.spec.id

    def missing(self, reason: str, next_step: str) -> Missing:
        """Record that this job yields no score."""
        return Missing(dataset=self.dataset, model=self.entry.name, setting=self.setting, reason=reason, next_step=next_step)


def eval_jobs(resolved: ResolvedPlan) -> Iterator[EvalJob]:
    """Yield every dataset x model x setting of the run.

    Raises:
        UsageError: the plan names no model.
    """
    resolved.plan.require_models()
    for selected in resolved.selected:
        for entry in resolved.plan.models:
            for setting in resolved.plan.settings:
                yield EvalJob(selected, entry, setting)


def built_partitions(resolved: ResolvedPlan, selected: SelectedDataset) -> ItemsKeys:
    """Return where a dataset's sampled items are, and what is known of contexts built for them.

    Raises:
        SourceMissingError: a file that no hash pins, or a user's own, is not here.
    """
    plan = resolved.plan
    hashes = source_sha256(selected.spec.files, Locator.for_mirror(plan.mirror))
    return items_keys(selected.spec, hashes, plan.sample, plan.seed, plan.contexts)


def find_items(resolved: ResolvedPlan, selected: SelectedDataset) -> PartitionRef | None:
    """Find a dataset's sampled items; None if they are not built, or a file is not here without which their key is not known."""
    try:
        return resolved.lake.find(built_partitions(resolved, selected).items)
    except SourceMissingError:
        return None


class AskedParts(NamedTuple):
    """What one dataset, model and setting are asked with, and where its partitions are."""

    items: PartitionRef
    contexts: PartitionRef | None
    """What is known of contexts built for the items; null = none are."""
    options: SolverOptions
    chunk_job: ChunkJob | None
    """How the contexts are split; null = the setting does not retrieve from them."""
    keys: InferKeys


def asked_parts(resolved: ResolvedPlan, job: EvalJob) -> AskedParts | None:
    """Find what a job reads and writes; None if its items are not built."""
    items, plan = find_items(resolved, job.selected), resolved.plan
    if items is None:
        return None
    options = SolverOptions(job.setting, plan.retrieval, plan.contexts.length_demand, too_long_of(resolved))
    key_of_contexts = built_partitions(resolved, job.selected).contexts
    if key_of_contexts is None:
        prompts, epochs = load_prompts().sha256, epochs_of(plan)
        responses = responses_key(items, models_of(plan, job), job.setting, prompts, epochs, options.too_long)
        return AskedParts(items, None, options, None, InferKeys(responses))
    contexts = resolved.lake.find(key_of_contexts)
    if contexts is None:
        return None
    return AskedParts(items, contexts, options, *_keys_with_contexts(resolved, job, options, (items, contexts)))


def _keys_with_contexts(
    resolved: ResolvedPlan, job: EvalJob, options: SolverOptions, built: tuple[PartitionRef, PartitionRef]
) -> tuple[ChunkJob | None, InferKeys]:
    """Return how contexts are split, and where replies and what was retrieved for them are."""
    plan, retrieval, setting, task = resolved.plan, resolved.plan.retrieval, job.setting, job.selected.spec.task
    if task is None:
        raise AssertionError(f"{job.dataset} has contexts and no task")
    parameters = choose_parameters(retrieval, task, setting, job.entry.name)
    retrieves, written = parameters.retrieves, parameters.corpus == "written"
    embedder = find_embedder(retrieval.embedder).identity if retrieves and retrieval.ranking != "bm25" else None
    texts = {
        "prompts_sha256": load_long_prompts().sha256,
        "solvers_version": SOLVERS_VERSION,
        **({"ranking_version": RANKING_VERSION} if retrieves else {}),
    }
    settings = {
        **long_settings(options, models_of(plan, job), embedder, texts),
        **Epochs(repeat=plan.repeat).settings,
        **truncation_settings(options.too_long),
    }

    def key(layer: str) -> PartitionKey:
        return long_key(layer, job.entry, setting, settings, built)

    chunk_job = None
    if retrieves and not written:
        size = None if parameters.corpus == "segments" else parameters.chunk_tokens
        chunks = chunks_key(built[0], size, retrieval)
        chunk_job = ChunkJob(built[0].key("dataset"), *built, size, retrieval.overlap_tokens, chunks)
    return chunk_job, InferKeys(
        responses=key("responses"),
        retrievals=key("retrievals") if retrieves else None,
        written=key("chunks") if retrieves and written else None,
    )


def models_of(plan: Plan, job: EvalJob) -> dict[Role, ModelEntry]:
    """Return the model under test and its helpers, by role; where the plan names no helper, that model itself."""
    helpers = {role: plan.role_model(role, job.dataset) or job.entry for role in SOLVERS[job.setting].roles}
    return {"tested": job.entry, **helpers}


async def planned_requests(resolved: ResolvedPlan, job: EvalJob, parts: AskedParts) -> dict[Role, list[ChatRequest]]:
    """Return the calls about a job's items, by role, as far as they are known beforehand; none is sent."""
    entries = models_of(resolved.plan, job)
    items, contexts = resolved.lake.read(parts.items, Items), read_contexts(resolved.lake, parts.contexts)
    return await plan_requests(items, contexts, parts.chunk_job, entries, (parts.options, epochs_of(resolved.plan)))


def epochs_of(plan: Plan) -> Epochs:
    """Return how often the plan asks each item."""
    return Epochs(plan.permute, plan.seed, plan.repeat)


def too_long_of(resolved: ResolvedPlan) -> TooLong:
    """Return what becomes of items longer than a model's context: as the plan says, else as the benchmark does."""
    return resolved.plan.too_long or resolved.blueprint.too_long or "missing"


def judgements_partition(
    resolved: ResolvedPlan, job: EvalJob, answers: PartitionRef, judge: ModelEntry | None = None
) -> PartitionKey | None:
    """Return the key of a judge's ratings of a job's answers, by default of the first one; None if nothing there is judged."""
    judge, rubric = judge or resolved.plan.role_model(JUDGE, job.dataset), job.selected.rubric
    if judge is None or rubric is None:
        return None
    return judgements_key(answers, judge, rubric, load_rubric(rubric).sha256, resolved.plan.judge_repeat)


class ScorableJob(NamedTuple):
    """A job whose answers (and ratings, where it needs any) are in the lake."""

    job: EvalJob
    items: PartitionRef
    answers: PartitionRef
    judgements: PartitionRef | None
    item_scores: PartitionKey
    others: tuple[PartitionRef, ...] = ()
    """Replies, contexts, chunks and retrievals behind the answers, and ratings by the panel, as far as they are there."""


def find_ready(resolved: ResolvedPlan, job: EvalJob) -> ScorableJob | None:
    """Find the job's inputs of the score stage; None if answers or ratings are not there."""
    parts = asked_parts(resolved, job)
    responses = resolved.lake.find_latest(parts.keys.responses) if parts else None
    answers = resolved.lake.find_latest(answers_key(responses)) if responses else None
    if parts is None or responses is None or answers is None:
        return None
    judged = judgements_partition(resolved, job, answers)
    judgements = resolved.lake.find_latest(judged) if judged else None
    if judged is not None and judgements is None:
        return None
    if resolved.plan.profile == "reference":
        scores = reference_scores_key(answers, job.selected.methods)
    else:
        scores = item_scores_key(answers, [judgements] if judgements else [], job.selected.methods)
    others = (*_contexts_behind(resolved, parts), responses, *_further_ratings(resolved, job, answers))
    return ScorableJob(job, parts.items, answers, judgements, scores, others)


def unrated(resolved: ResolvedPlan, ready: Sequence[ScorableJob]) -> list[Missing]:
    """List jobs that a judge of the panel has not rated: the agreement of judges is then computed without it."""
    gaps = []
    for found in ready:
        for judge in resolved.plan.judges(found.job.dataset)[1:]:
            key = judgements_partition(resolved, found.job, found.answers, judge)
            if key is not None and resolved.lake.find_latest(key) is None:
                gaps.append(found.job.missing(f"was not rated by {judge.name} of the panel", "moodflow infer asks it"))
    return gaps


def _contexts_behind(resolved: ResolvedPlan, parts: AskedParts) -> list[PartitionRef]:
    keys = [parts.chunk_job.key if parts.chunk_job else None, parts.keys.retrievals, parts.keys.written]
    found = [parts.contexts, *(resolved.lake.find_latest(key) for key in keys if key)]
    return [ref for ref in found if ref]


def _further_ratings(resolved: ResolvedPlan, job: EvalJob, answers: PartitionRef) -> list[PartitionRef]:
    keys = [judgements_partition(resolved, job, answers, judge) for judge in resolved.plan.judges(job.dataset)[1:]]
    return [ref for key in keys if key and (ref := resolved.lake.find_latest(key))]
