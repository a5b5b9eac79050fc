"""Infer: `items` -> `responses` and `judgements`."""

import asyncio

from flows.asking import ask_cell, stored, to_probe
from flows.dialects import ensure_probed
from flows.endpoints import check_endpoints, open_endpoints
from flows.orchestration import moodflow_flow
from flows.partitions import cells
from flows.progress import watch
from flows.resolution import resolve
from flows.usage import open_budget
from schemas.lineage import CallCounts, StageResult
from schemas.settings import Plan


@moodflow_flow("run-inference", "infer {plan.title}")
async def run_inference(plan: Plan) -> StageResult:
    """Ask every model the items of every dataset, then let the judge rate free-text answers.

    Reads `items`; writes `responses` and `judgements`. Replies are in the journal before they are used, so a repeated run pays
    only for calls that were never answered; if every partition is there, no server is started or spoken to. A model that was
    never probed is, before its first call that the journal does not answer: what it wants otherwise is remembered in the lake.

    Args:
        plan: what to evaluate.
    """
    resolution = resolve(plan)
    resolution.lake.require_writable()
    wanted = list(cells(resolution))
    found = [stored(resolution, cell) for cell in wanted]
    if all(found):
        return StageResult.of(ref for refs in found for ref in refs or [])
    await check_endpoints(resolution.plan)
    budget = open_budget(resolution.plan)
    if await ensure_probed(plan.lake, await to_probe(plan, resolution), budget):
        resolution = resolve(plan)
        wanted = list(cells(resolution))
    async with open_endpoints(resolution.plan, resolution.lake, budget) as endpoints, watch(plan.title) as watcher:
        outcomes = await asyncio.gather(*(ask_cell(resolution, cell, endpoints, watcher) for cell in wanted))
    calls = sum((endpoint.counts for endpoint in set(endpoints.values())), CallCounts())
    return StageResult.of((outcome for group in outcomes for outcome in group), calls)
