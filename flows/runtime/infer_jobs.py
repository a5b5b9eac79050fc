"""Run the jobs of the infer stage: split and retrieve for long items, ask, then judge where the dataset needs it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from flows.planning.capabilities import unprobed
from flows.planning.jobs import (
    EvalJob,
    asked_parts,
    epochs_of,
    eval_jobs,
    find_items,
    judgements_partition,
    models_of,
    planned_requests,
)
from flows.planning.resolve import ResolvedPlan, embeds
from flows.planning.usage import UsageCounter, usage_of
from flows.runtime.prefect_flows import run_here
from schemas.chat import ModelEntry
from schemas.lineage import Missing, PartitionRef
from schemas.plan import Plan
from schemas.retrieval import Retriever
from schemas.usage import Usage
from schemas.worker_pool import ProgressListener
from tasks.judging.steps import JudgeJob, judge_partition
from tasks.models.journal.table import JOURNAL
from tasks.retrieval.embedding import BUNDLED, find_embedder
from tasks.retrieval.engine import RetrievalEngine
from tasks.retrieval.store import EMBEDDINGS
from tasks.solvers.forecast import find_journaled
from tasks.solvers.registry import SOLVERS
from tasks.solvers.run import Endpoint
from tasks.solvers.state import RoleModel, SolverResources
from tasks.solvers.steps import InferJob, chunk_partition, infer_partition


def find_stored(resolved: ResolvedPlan, job: EvalJob) -> list[PartitionRef] | None:
    """Find the job's complete partitions; None if something is left to ask."""
    parts = asked_parts(resolved, job)
    asked = parts.keys.find_all(resolved.lake) if parts else None
    if parts is None or asked is None:
        return None
    judged = (judgements_partition(resolved, job, asked[1], judge) for judge in resolved.plan.judges(job.dataset))
    keys = [key for key in (parts.chunk_job.key if parts.chunk_job else None, *judged) if key]
    found = [ref for key in keys if (ref := resolved.lake.find(key))]
    return [*asked, *found] if len(found) == len(keys) else None


async def to_probe(plan: Plan, resolved: ResolvedPlan) -> list[ModelEntry]:
    """Return models of a plan to be probed before their first call: those of which something is left to ask.

    A tested model whose every question, asked as it would be now, is answered by the journal needs no probe. A model in a role
    is always left, and so is one that is asked about what was retrieved: what these are asked is not known before.

    Raises:
        LakeError: if the journal or what was found about a model cannot be read.
    """
    helpers = {_who(helper) for helper in plan.named()}
    return [entry for entry in unprobed(plan) if _who(entry) in helpers or not await _is_answered(entry, resolved)]


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def _is_answered(entry: ModelEntry, resolved: ResolvedPlan) -> bool:
    for job in eval_jobs(resolved):
        parts = asked_parts(resolved, job)
        if _who(job.entry) != _who(entry) or parts is None or resolved.lake.find(parts.keys.responses):
            continue
        if parts.contexts is not None:
            return False
        calls = {request.key for requests in (await planned_requests(resolved, job, parts)).values() for request in requests}
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


@asynccontextmanager
async def open_retriever(resolved: ResolvedPlan) -> AsyncIterator[Retriever | None]:
    """Open what splits and ranks texts, if a setting retrieves; the model that embeds is loaded with the first text.

    Raises:
        UsageError: the embedding model is not on this machine.
    """
    if not any(SOLVERS[setting].retrieves for setting in resolved.plan.settings):
        yield None
        return
    options, folder = resolved.plan.retrieval, resolved.lake.state / EMBEDDINGS
    # Where nothing is embedded, the model that was named need not be here.
    files = find_embedder(options.embedder if embeds(resolved.plan) else BUNDLED)
    async with RetrievalEngine(files, folder, legacy_bos=options.counts_bos) as engine:
        yield engine


async def infer_job(resolved: ResolvedPlan, job: EvalJob, resources: InferResources) -> Results:
    """Ask one job's items, retrieving where the setting does, and have every judge rate the replies where the dataset is judged.

    Args:
        resolved: the plan, its lake and datasets.
        job: dataset, model and setting.
        resources: of the run.

    Returns:
        The partitions, or why there are none, and what they took.
    """
    items = find_items(resolved, job.selected)
    asked = await _ask(resolved, job, resources)
    if items is None or asked is None:
        return [job.missing("its items are not built", "moodflow build says why")]
    answers, others = asked
    judges = resolved.plan.judges(job.dataset)
    rated = await asyncio.gather(*(_judge(resolved, job, (items, answers), judge, resources) for judge in judges))
    return [answers, *others, *(result for results in rated for result in results)]


Asked = tuple[PartitionRef, Results] | None
"""Answers, then the other partitions and what they took; None without items."""


async def _ask(resolved: ResolvedPlan, job: EvalJob, resources: InferResources) -> Asked:
    parts, retriever = asked_parts(resolved, job), resources.retriever
    if parts is None:
        return None
    lake, plan = resolved.lake, resolved.plan
    chunks: PartitionRef | None = None
    if parts.chunk_job:
        # The jobs of all models and settings share them.
        async with resources.chunk_locks.setdefault(parts.chunk_job.key.fingerprint, asyncio.Lock()):
            chunks = await run_here(chunk_partition, parts.chunk_job, lake, retriever)
    infer = InferJob(
        dataset=job.dataset,
        entry=job.entry,
        options=parts.options,
        items=parts.items,
        contexts=parts.contexts,
        chunks=chunks,
        keys=parts.keys,
        epochs=epochs_of(plan),
    )
    entries = models_of(plan, job)
    roles = {role: RoleModel(entry, resources.endpoints[entry].chat) for role, entry in entries.items()}
    counters = {role: UsageCounter(resources.listener) for role in roles}
    pool, solver_resources = resources.endpoints[job.entry].pool, SolverResources(roles, retriever)
    responses, answers, *others = await run_here(infer_partition, infer, lake, solver_resources, pool, counters)
    took = [counters[role].usage(job.dataset, entry.name, role) for role, entry in entries.items() if counters[role].calls]
    return answers, [responses, *others, *([chunks] if chunks else []), *(took or usage_of(responses, lake))]


async def _judge(
    resolved: ResolvedPlan,
    job: EvalJob,
    asked: tuple[PartitionRef, PartitionRef],
    judge: ModelEntry,
    resources: InferResources,
) -> Results:
    (items, answers), endpoint, counter = asked, resources.endpoints[judge], UsageCounter(resources.listener)
    key = judgements_partition(resolved, job, answers, judge)
    if key is None:
        return []
    repeat = resolved.plan.judge_repeat
    rating = JudgeJob(job.dataset, job.entry.name, job.selected.rubric or "", judge, items, answers, key, repeat)
    ref: PartitionRef = await run_here(judge_partition, rating, resolved.lake, endpoint.chat, endpoint.pool.do_all, counter)
    took = [counter.usage(job.dataset, judge.name, "judge")] if counter.calls else usage_of(ref, resolved.lake)
    return [ref, *took]
