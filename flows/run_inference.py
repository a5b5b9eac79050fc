"""Infer: `items` -> `responses` and `judgements`."""

import asyncio

from flows.asking import ask_cell, stored
from flows.endpoints import check_endpoints, open_chats
from flows.orchestration import moodflow_flow
from flows.partitions import cells
from flows.progress import watch
from flows.resolution import resolve
from schemas.lineage import CallCounts, StageResult
from schemas.settings import Plan


@moodflow_flow("run-inference", "infer {plan.title}")
async def run_inference(plan: Plan) -> StageResult:
    """Ask every model the items of every dataset, then let the judge rate free-text answers.

    Reads `items`; writes `responses` and `judgements`. Replies are in the journal before they are used, so a repeated run pays
    only for calls that were never answered; if every partition is there, no server is started or spoken to.

    Args:
        plan: what to evaluate.
    """
    resolution = resolve(plan)
    resolution.lake.require_writable()
    wanted = list(cells(resolution))
    found = [stored(resolution, cell) for cell in wanted]
    if all(found):
        return StageResult.of(ref for refs in found for ref in refs or [])
    await check_endpoints(plan)
    async with open_chats(plan, resolution.lake) as chats, watch(plan.title) as watcher:
        outcomes = await asyncio.gather(*(ask_cell(resolution, cell, chats, watcher) for cell in wanted))
    calls = sum((chat.counts for chat in set(chats.values())), CallCounts())
    return StageResult.of((outcome for group in outcomes for outcome in group), calls)
