"""Run the jobs of the infer stage: split and retrieve for long items, ask, then judge where the dataset needs it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from flows.planning.capabilities import unprobed
from flows.planning.jobs import (
    EvalJob,
    epochs_of,
    eval_jobs,
    find_items,
    helpers_of,
    judgements_partition,
    long_parts,
    responses_partition,
    too_long_of,
)
from flows.planning.resolve import ResolvedPlan, embeds
from flows.planning.usage import UsageCounter, usage_of
from flows.runtime.prefect_flows import run_here
from schemas.chat import ModelEntry
from schemas.lineage import Missing, PartitionRef
from schemas.plan import Plan
from schemas.retrieval import Retriever
from schemas.tables.items import Items
from schemas.usage import Role, Usage
from schemas.worker_pool import ProgressListener
from tasks.judging.steps import JudgeJob, judge_partition
from tasks.lake.lake import Lake
from tasks.models.journal.table import JOURNAL
from tasks.retrieval.embedding import BUNDLED, find_embedder
from tasks.retrieval.engine import RetrievalEngine
from tasks.retrieval.store import EMBEDDINGS
from tasks.solvers.forecast import find_journaled, plan_requests
from tasks.solvers.longemotion.state import RoleModel, SolverResources
from tasks.solvers.longemotion.steps import ChunkJob, LongJob, chunk_partition, infer_long_partition
from tasks.solvers.run import Endpoint
from tasks.solvers.steps import InferJob, infer_partition


def find_stored(resolved: ResolvedPlan, job: EvalJob) -> list[PartitionRef] | None:
    """Find the job's complete partitions; None if something is left to ask."""
    asked = _stored_long(resolved, job) if job.selected.is_long else _stored_short(resolved, job)
    if asked is None:
        return None
    keys = [judgements_partition(resolved, job, asked[0], judge) for judge in resolved.plan.judges]
    judgements = [resolved.lake.find(key) for key in keys if key]
    found = [ref for ref in judgements if ref]
    return [*asked, *found] if len(found) == len(judgements) else None


def _stored_short(resolved: ResolvedPlan, job: EvalJob) -> list[PartitionRef] | None:
    key = responses_partition(resolved, job)
    responses = resolved.lake.find(key) if key else None
    return [responses] if responses else None


def _stored_long(resolved: ResolvedPlan, job: EvalJob) -> list[PartitionRef] | None:
    parts = long_parts(resolved, job)
    keys = [*parts.keys.present(), *([parts.chunks] if parts.chunks else [])] if parts else []
    found = [ref for key in keys if (ref := resolved.lake.find(key))]
    return found if found and len(found) == len(keys) else None


async def to_probe(plan: Plan, resolved: ResolvedPlan) -> list[ModelEntry]:
    """Return models of a plan to be probed before their first call: those of which something is left to ask.

    A tested model whose every question, asked as it would be now, is answered by the journal needs no probe. A judge, Sage
    or critic is always left, and so is a model that is asked about what was retrieved: what these are asked is not known before.

    Raises:
        LakeError: if the journal or what was found about a model cannot be read.
    """
    return [entry for entry in unprobed(plan) if _is_helper(entry, plan) or not await _is_answered(entry, resolved)]


def _is_helper(entry: ModelEntry, plan: Plan) -> bool:
    return _who(entry) in {_who(helper) for helper in (*plan.judges, plan.sage, plan.critic) if helper is not None}


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def _is_answered(entry: ModelEntry, resolved: ResolvedPlan) -> bool:
    for job in eval_jobs(resolved):
        items, key = find_items(resolved, job.selected), responses_partition(resolved, job)
        if _who(job.entry) != _who(entry) or items is None or key is None or resolved.lake.find(key):
            continue
        if job.selected.is_long:
            return False
        rows = resolved.lake.read(items, Items)
        calls = {request.key for request in await plan_requests(rows, job.entry, epochs_of(resolved.plan))}
        if len(find_journaled(resolved.lake.state / JOURNAL, list(calls))) < len(calls):
            return False
    return True


@dataclass(frozen=True)
class InferResources:
    """What the jobs of a run share: model servers, retriever, listener."""

    endpoints: Mapping[ModelEntry, Endpoint]
    retriever: Retriever | None
    listener: ProgressListener
    chunk_locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    """Held while contexts are split, by fingerprint of the chunks."""


Results = list[PartitionRef | Missing | Usage]
"""Of one job: partitions, or why there are none, and what they took."""


async def infer_job(resolved: ResolvedPlan, job: EvalJob, resources: InferResources) -> Results:
    """Ask one job's items and, where its dataset is judged, have the replies rated.

    Args:
        resolved: the plan, its lake and datasets.
        job: dataset, model and setting.
        resources: of the run.

    Returns:
        The partitions, or why there are none, and what they took.
    """
    items = find_items(resolved, job.selected)
    key = responses_partition(resolved, job)
    if items is None or key is None:
        return [job.missing("its items are not built", "moodflow build says why")]
    lake, counter = resolved.lake, UsageCounter(resources.listener)
    epochs, too_long = epochs_of(resolved.plan), too_long_of(resolved)
    infer = InferJob(job.dataset, job.setting, job.entry, items, key, epochs, too_long)
    responses: PartitionRef = await run_here(infer_partition, infer, lake, resources.endpoints[job.entry], counter)
    judged = await judge_job(resolved, job, (items, responses), resources)
    return [responses, usage_of(responses, lake, counter), *judged]


async def judge_job(
    resolved: ResolvedPlan,
    job: EvalJob,
    asked: tuple[PartitionRef, PartitionRef],
    resources: InferResources,
) -> Results:
    """Have every judge rate a job's replies, if its dataset is judged.

    Args:
        resolved: the plan, its lake and datasets.
        job: dataset, model and setting.
        asked: items and responses.
        resources: of the run.

    Returns:
        The partitions of ratings and what they took.
    """
    judges = resolved.plan.judges
    rated = await asyncio.gather(*(_judge(resolved, job, asked, judge, resources) for judge in judges))
    return [result for results in rated for result in results]


async def _judge(
    resolved: ResolvedPlan,
    job: EvalJob,
    asked: tuple[PartitionRef, PartitionRef],
    judge: ModelEntry,
    resources: InferResources,
) -> Results:
    (items, responses), endpoint, counter = asked, resources.endpoints[judge], UsageCounter(resources.listener)
    key = judgements_partition(resolved, job, responses, judge)
    if key is None:
        return []
    repeat = resolved.plan.judge_repeat
    rating = JudgeJob(job.dataset, job.entry.name, job.selected.rubric or "", judge, items, responses, key, repeat)
    ref: PartitionRef = await run_here(judge_partition, rating, resolved.lake, endpoint.chat, endpoint.pool.do_all, counter)
    return [ref, usage_of(ref, resolved.lake, counter)]


@asynccontextmanager
async def open_retriever(resolved: ResolvedPlan) -> AsyncIterator[Retriever | None]:
    """Open what splits and ranks texts, if any are long; the model that embeds them is loaded when the first text is embedded.

    Raises:
        UsageError: the embedding model is not on this machine.
    """
    if not any(selected.is_long for selected in resolved.selected):
        yield None
        return
    options, folder = resolved.plan.retrieval, resolved.lake.state / EMBEDDINGS
    # Where nothing is embedded, the model that was named need not be here.
    files = find_embedder(options.embedder if embeds(resolved.plan) else BUNDLED)
    async with RetrievalEngine(files, folder, legacy_bos=options.counts_bos) as engine:
        yield engine


async def infer_long_job(resolved: ResolvedPlan, job: EvalJob, resources: InferResources) -> Results:
    """Retrieve for and ask one job's long items and, where its dataset is judged, have the replies rated; as `infer_job`."""
    parts, retriever = long_parts(resolved, job), resources.retriever
    if parts is None or retriever is None:
        return [job.missing("its items are not built", "moodflow build says why")]
    lake, plan = resolved.lake, resolved.plan
    chunks = await split_once(parts.chunk_job, lake, retriever, resources.chunk_locks) if parts.chunk_job else None
    partition_job = LongJob(
        dataset=job.dataset,
        entry=job.entry,
        options=parts.options,
        items=parts.items,
        contexts=parts.contexts,
        chunks=chunks,
        keys=parts.keys,
        repeat=plan.repeat,
        too_long=too_long_of(resolved),
    )
    helpers = helpers_of(plan, job.entry, job.setting)
    entries: dict[Role, ModelEntry] = {"tested": job.entry, **helpers}
    roles = {role: RoleModel(entry, resources.endpoints[entry].chat) for role, entry in entries.items()}
    counters = {role: UsageCounter(resources.listener) for role in roles}
    pool = resources.endpoints[job.entry].pool
    refs: list[PartitionRef] = await run_here(
        infer_long_partition, partition_job, lake, SolverResources(roles, retriever), pool, counters
    )
    helped = [counters[role].usage(job.dataset, helper.name, role) for role, helper in helpers.items() if counters[role].calls]
    judged = await judge_job(resolved, job, (parts.items, refs[0]), resources)
    return [*refs, *([chunks] if chunks else []), usage_of(refs[0], lake, counters["tested"]), *helped, *judged]


async def split_once(job: ChunkJob, lake: Lake, retriever: Retriever, locks: dict[str, asyncio.Lock]) -> PartitionRef:
    """Split a dataset's contexts, whose chunks the jobs of all models and settings share; `locks` by fingerprint."""
    async with locks.setdefault(job.key.fingerprint, asyncio.Lock()):
        ref: PartitionRef = await run_here(chunk_partition, job, lake, retriever)
    return ref
