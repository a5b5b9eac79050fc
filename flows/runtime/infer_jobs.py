"""Run the jobs of the infer stage: split contexts, ask, then judge where the dataset needs it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from flows.planning.jobs import EvalJob, GoldBaseline, ResolvedPlan
from flows.planning.resolve import embeds
from flows.planning.usage import UsageCounter, usage_of
from flows.runtime.endpoints import Endpoint
from flows.runtime.prefect_flows import run_here
from schemas.chat import ModelEntry
from schemas.context import Retriever
from schemas.lineage import Missing, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.usage import Usage
from schemas.worker_pool import Job, ProgressListener, RunJobs
from tasks.judging.executor import Judge, judge_answers
from tasks.judging.jobs import JudgeJob
from tasks.judging.steps import judge_partition, write_gold
from tasks.lake.frames import frame_of_rows
from tasks.retrieval.embedding import find_embedder
from tasks.retrieval.engine import EMBEDDINGS, RetrievalEngine
from tasks.solvers.infer_job import InferJob
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import RoleModel, SolverResources
from tasks.solvers.steps import chunk_partition, infer_partition


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


def open_retriever(resolved: ResolvedPlan) -> AbstractAsyncContextManager[Retriever | None]:
    """Open what splits and ranks texts, if a setting retrieves; the model that embeds is loaded with the first text."""
    if not any(SOLVERS[setting].retrieves for setting in resolved.plan.settings):
        return nullcontext()
    options, folder = resolved.plan.retrieval, resolved.lake.state / EMBEDDINGS
    files = find_embedder(options.embedder) if embeds(resolved.plan) else None
    return RetrievalEngine(files, folder, legacy_bos=options.counts_bos)


async def ask_and_judge(job: EvalJob, resources: InferResources) -> Results:
    """Ask one job's items, retrieving where the setting does, and have every judge rate the answers if the dataset is judged."""
    infer = job.infer_job()
    if infer is None:
        return [job.missing("its items are not built", "moodflow build says why")]
    pool = resources.endpoints[job.entry].pool
    with pool.announce() as run_jobs:
        rating = partial(_run_and_rate, job, infer, resources, run_jobs)
        answers, others = await _ask(job, infer, resources, rating if pool.budget and job.raters else run_jobs)
    judge_jobs = job.judge_jobs(infer.items, answers)
    rated = await asyncio.gather(*(_judge(judge_job, job.resolved, resources) for judge_job in judge_jobs))
    return [answers, *others, *(result for results in rated for result in results)]


async def judge_gold(gold: GoldBaseline, resources: InferResources) -> Results:
    """Have the judge rate a dataset's gold replies."""
    answers: PartitionRef = await run_here(write_gold, gold.job, gold.resolved.lake)
    return [answers, *await _judge(gold.judge_job(answers), gold.resolved, resources)]


async def _run_and_rate(
    job: EvalJob, infer: InferJob, resources: InferResources, run_jobs: RunJobs, jobs: Sequence[Job]
) -> Iterable[Any]:
    """Have each item's answers rated with it, so that a budget pays for whole items; the steps of judging get these replies."""
    items = job.lake.read(infer.items, Items)

    async def do_and_rate(ask: Job) -> Any:
        solved = await ask.do()
        answers = Answers.cast(frame_of_rows(solved.answers, Answers.create_empty().schema))
        own = Items.cast(items.filter(item_id=answers["item_id"][0]))
        for judge, rubric in job.raters:
            chat, repeat = resources.endpoints[judge].chat.ask_ahead, job.resolved.plan.judge_repeat
            rating = Judge(judge, rubric, chat, repetitions=repeat)
            await judge_answers(own, answers, rating, lambda jobs: asyncio.gather(*(job.do() for job in jobs)))
        return solved

    return await run_jobs([ask._replace(do=partial(do_and_rate, ask)) for ask in jobs])


async def _ask(job: EvalJob, infer: InferJob, resources: InferResources, run_jobs: RunJobs) -> tuple[PartitionRef, Results]:
    """Return the answers, then the other partitions and what they took."""
    chunks: list[PartitionRef] = []
    if infer.chunk_job:
        # The jobs of all models and settings share them.
        async with resources.chunk_locks.setdefault(infer.chunk_job.key.fingerprint, asyncio.Lock()):
            chunks = [await run_here(chunk_partition, infer.chunk_job, job.lake, resources.retriever)]
    roles = {role: RoleModel(entry, resources.endpoints[entry].chat) for role, entry in infer.models.items()}
    counters = {role: UsageCounter(resources.listener) for role in roles}
    solver_resources = SolverResources(roles, resources.retriever)
    responses, answers, *others = await run_here(infer_partition, infer, job.lake, solver_resources, run_jobs, counters)
    took = [row for role, entry in infer.models.items() for row in counters[role].usage(job.dataset, entry.name, role)]
    return answers, [responses, *others, *chunks, *(took or usage_of(responses, job.lake, job.resolved.plan))]


async def _judge(job: JudgeJob, resolved: ResolvedPlan, resources: InferResources) -> Results:
    lake, plan, dataset, name = resolved.lake, resolved.plan, job.answers.key("dataset"), job.judge.name
    endpoint, counter = resources.endpoints[job.judge], UsageCounter(resources.listener)
    ref: PartitionRef = await run_here(judge_partition, job, lake, endpoint.chat, endpoint.pool.do_all, counter)
    if not counter.calls:
        return [ref, *usage_of(ref, lake, plan)]
    return [ref, *counter.usage(dataset, name, plan.rater_role(name, dataset))]
