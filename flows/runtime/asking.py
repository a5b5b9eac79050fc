"""One cell of a run through the infer stage: ask, then judge where the dataset needs it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from flows.planning.capabilities import unprobed
from flows.planning.jobs import (
    EvalJob,
    epochs_of,
    eval_jobs,
    find_items,
    judgements_partition,
    long_parts,
    responses_partition,
    too_long_of,
)
from flows.planning.resolve import ResolvedPlan
from flows.planning.usage import UsageCounter, usage_of
from schemas.chat import ModelEntry
from schemas.lineage import Missing, PartitionRef
from schemas.plan import Plan
from schemas.progress import ProgressListener
from schemas.retrieval import Retriever
from schemas.tables.items import Items
from schemas.usage import Usage
from schemas.worker_pool import RunJobs
from tasks.judging.steps import JudgeJob, judge_partition
from tasks.models.http.worker_pool import Job, WorkerPool
from tasks.models.journal.table import JOURNAL
from tasks.solvers.forecast import find_journaled, plan_requests
from tasks.solvers.run import Endpoint
from tasks.solvers.steps import InferJob, infer_partition
from tasks.steps import outcome

ResultT = TypeVar("ResultT")


def find_stored(resolution: ResolvedPlan, cell: EvalJob) -> list[PartitionRef] | None:
    """The cell's complete partitions; None if something is left to ask."""
    asked = _stored_long(resolution, cell) if cell.selected.is_long else _stored_short(resolution, cell)
    if asked is None:
        return None
    keys = [judgements_partition(resolution, cell, asked[0], judge) for judge in resolution.plan.judges]
    judgements = [resolution.lake.find(key) for key in keys if key]
    found = [ref for ref in judgements if ref]
    return [*asked, *found] if len(found) == len(judgements) else None


def _stored_short(resolution: ResolvedPlan, cell: EvalJob) -> list[PartitionRef] | None:
    key = responses_partition(resolution, cell)
    responses = resolution.lake.find(key) if key else None
    return [responses] if responses else None


def _stored_long(resolution: ResolvedPlan, cell: EvalJob) -> list[PartitionRef] | None:
    parts = long_parts(resolution, cell)
    keys = [*parts.keys.present(), *([parts.chunks] if parts.chunks else [])] if parts else []
    found = [ref for key in keys if (ref := resolution.lake.find(key))]
    return found if found and len(found) == len(keys) else None


async def to_probe(plan: Plan, resolution: ResolvedPlan) -> list[ModelEntry]:
    """Models of a plan to be probed before their first call: those of which something is left to ask.

    A tested model whose every question, asked as it would be now, is answered by the journal needs no probe. A judge, Sage
    or critic is always left, and so is a model that is asked about what was retrieved: what these are asked is not known before.

    Args:
        plan: as the user made it.
        resolution: the same plan, with what is known of its models now.

    Raises:
        LakeError: if the journal or what was found about a model cannot be read.
    """
    return [entry for entry in unprobed(plan) if _is_helper(entry, plan) or not await _is_answered(entry, resolution)]


def _is_helper(entry: ModelEntry, plan: Plan) -> bool:
    return _who(entry) in {_who(helper) for helper in (*plan.judges, plan.sage, plan.critic) if helper is not None}


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def _is_answered(entry: ModelEntry, resolution: ResolvedPlan) -> bool:
    for cell in eval_jobs(resolution):
        items, key = find_items(resolution, cell.selected), responses_partition(resolution, cell)
        if _who(cell.entry) != _who(entry) or items is None or key is None or resolution.lake.find(key):
            continue
        if cell.selected.is_long:
            return False
        rows = resolution.lake.read(items, Items)
        calls = {request.key for request in await plan_requests(rows, cell.entry, epochs_of(resolution.plan))}
        if len(find_journaled(resolution.lake.state / JOURNAL, list(calls))) < len(calls):
            return False
    return True


@dataclass(frozen=True)
class InferResources:
    """Who works on a run: model servers, who splits and ranks texts, who is told of replies."""

    endpoints: Mapping[ModelEntry, Endpoint]
    retriever: Retriever | None
    watcher: ProgressListener
    splitting: dict[str, asyncio.Lock] = field(default_factory=dict)
    """Held while contexts are split, by fingerprint of the chunks."""


Results = list[PartitionRef | Missing | Usage]
"""Of one cell: partitions, or why there are none, and what they took."""


async def infer_job(resolution: ResolvedPlan, cell: EvalJob, company: InferResources) -> Results:
    """Responses of one cell and, where its dataset is judged, the ratings of them; and what each of them took."""
    items = find_items(resolution, cell.selected)
    key = responses_partition(resolution, cell)
    if items is None or key is None:
        return [cell.missing("its items are not built", "moodflow build says why")]
    lake, asked = resolution.lake, UsageCounter(company.watcher)
    rounds, too_long = epochs_of(resolution.plan), too_long_of(resolution)
    infer = InferJob(cell.dataset, cell.setting, cell.entry, items, key, rounds, too_long)
    responses: PartitionRef = await outcome(infer_partition(infer, lake, company.endpoints[cell.entry], asked))
    judged = await judge_job(resolution, cell, (items, responses), company)
    return [responses, usage_of(responses, lake, asked), *judged]


async def judge_job(
    resolution: ResolvedPlan,
    cell: EvalJob,
    asked: tuple[PartitionRef, PartitionRef],
    company: InferResources,
) -> Results:
    """Ratings of a cell's replies by every judge, if its dataset is judged, and what they took; `asked`: items, responses."""
    judges = resolution.plan.judges
    rated = await asyncio.gather(*(_judge(resolution, cell, asked, judge, company) for judge in judges))
    return [result for results in rated for result in results]


async def _judge(
    resolution: ResolvedPlan,
    cell: EvalJob,
    asked: tuple[PartitionRef, PartitionRef],
    judge: ModelEntry,
    company: InferResources,
) -> Results:
    (items, responses), endpoint, meter = asked, company.endpoints[judge], UsageCounter(company.watcher)
    key = judgements_partition(resolution, cell, responses, judge)
    if key is None:
        return []
    repeat = resolution.plan.judge_repeat
    job = JudgeJob(cell.dataset, cell.entry.name, cell.selected.rubric or "", judge, items, responses, key, repeat)
    ref: PartitionRef = await outcome(judge_partition(job, resolution.lake, endpoint.chat, in_worker_pool(endpoint.crew), meter))
    return [ref, usage_of(ref, resolution.lake, meter)]


def in_worker_pool(crew: WorkerPool) -> RunJobs:
    """The crew as stages know it that do not know the infer stage."""

    async def do_all(works: Sequence[tuple[float, Callable[[], Awaitable[ResultT]]]]) -> list[ResultT]:
        return await crew.do_all([Job(length, do) for length, do in works])

    return do_all
