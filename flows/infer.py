"""Infer: `items` -> `responses` and `judgements`."""

import asyncio

from flows.planning.capabilities import ensure_probed
from flows.planning.jobs import EvalJob, eval_jobs
from flows.planning.resolve import ResolvedPlan, resolve
from flows.planning.usage import open_budget
from flows.runtime.asking import InferResources, find_stored, infer_job, to_probe
from flows.runtime.endpoints import check_endpoints, open_endpoints
from flows.runtime.long_asking import infer_long_job, open_retriever
from flows.runtime.prefect_flows import begin_run, moodflow_flow
from flows.runtime.progress import watch
from schemas.lineage import CallCounts, Missing, PartitionRef, StageResult
from schemas.plan import Plan
from schemas.usage import Usage


@moodflow_flow("run-inference", "infer {plan.title}")
async def run_inference(plan: Plan) -> StageResult:
    """Ask every model the items of every dataset, then let the judges rate free-text answers.

    Reads `items` and `contexts`; writes `responses` and `judgements`, and `chunks` and `retrievals` for settings that retrieve.
    Replies are in the journal before they are used, so a repeated run pays
    only for calls that were never answered; if every partition is there, no server is started or spoken to. A model that was
    never probed is, before its first call that the journal does not answer: what it wants otherwise is remembered in the lake.

    Args:
        plan: what to evaluate.
    """
    await begin_run(plan)
    resolution = resolve(plan)
    resolution.lake.require_writable()
    wanted = list(eval_jobs(resolution))
    found = [find_stored(resolution, cell) for cell in wanted]
    if all(found):
        return StageResult.of(ref for refs in found for ref in refs or [])
    await check_endpoints(resolution.plan)
    budget = open_budget(resolution.plan)
    if await ensure_probed(resolution.lake.state, await to_probe(plan, resolution), budget):
        resolution = resolve(plan)
        wanted = list(eval_jobs(resolution))
    async with (
        open_endpoints(resolution.plan, resolution.lake, budget) as endpoints,
        open_retriever(resolution) as retriever,
        watch(plan.title) as watcher,
    ):
        company = InferResources(endpoints, retriever, watcher)
        outcomes = await asyncio.gather(*(_ask(resolution, cell, company) for cell in wanted))
    calls = sum((endpoint.counts for endpoint in set(endpoints.values())), CallCounts())
    return StageResult.of((outcome for group in outcomes for outcome in group), calls)


async def _ask(resolution: ResolvedPlan, cell: EvalJob, company: InferResources) -> list[PartitionRef | Missing | Usage]:
    ask = infer_long_job if cell.selected.is_long else infer_job
    return await ask(resolution, cell, company)
