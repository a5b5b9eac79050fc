"""Infer: `items` -> `responses`, `answers` and `judgements`."""

import asyncio

from flows.planning.capabilities import ensure_probed
from flows.planning.jobs import gold_baselines
from flows.planning.resolve import renew, require_asked
from flows.planning.usage import open_budget
from flows.runtime.canary import ask_canaries
from flows.runtime.endpoints import check_endpoints, count_calls, open_endpoints, require_answer
from flows.runtime.infer_jobs import InferResources, ask_and_judge, judge_gold, open_retriever, to_probe
from flows.runtime.prefect_flows import begin_run, moodflow_flow, share_resolved
from flows.runtime.preflight import cut_in_thought, warn
from flows.runtime.progress import show_calls
from schemas.lineage import StageResult
from schemas.plan import Plan
from schemas.tables.layers import LAYER_ROWS


@moodflow_flow("run-inference", "infer {plan.title}")
async def run_inference(plan: Plan) -> StageResult:
    """Ask every model the items of every dataset, then let the judges rate free-text answers.

    Reads `items` and `contexts`; writes `responses`, `answers` and `judgements`, and `chunks` and `retrievals` for settings that
    retrieve. Replies are in the journal before they are used, so a repeated run pays only for calls that were never answered; if
    every partition is there, no server is started or spoken to, but for the canary that the plan may have: a sample of what the
    journal answers is asked anew first, and of a model that changed everything, if the plan says so. A model that was never
    probed is, before its first call that the journal does not answer: what it wants otherwise is remembered in the lake.
    """
    resolved = await begin_run(plan)
    require_asked(resolved)
    budget = open_budget(resolved.plan)
    canaries = await ask_canaries(plan, budget)
    if any(found.anew for found in canaries):
        resolved = renew(resolved, plan)
        share_resolved(plan, resolved)
    found = [job.find(job.lake.find) for job in resolved.jobs]
    rated = [gold.find(resolved.lake.find) for gold in gold_baselines(resolved)]
    if all(one and one.is_complete for one in found) and all(rated):
        refs = (*(ref for one in found if one for ref in one.refs), *(ref for one in rated if one for ref in one))
        return StageResult.of((ref for ref in refs if LAYER_ROWS[ref.layer].written_by == "infer"), canaries=canaries)
    await check_endpoints(resolved.plan)
    if await ensure_probed(resolved.lake.state, await to_probe(plan, resolved), budget):
        resolved = renew(resolved, plan)
        share_resolved(plan, resolved)
        warn(cut_in_thought(resolved))
    async with (
        open_endpoints(resolved.plan, resolved.lake, budget) as endpoints,
        open_retriever(resolved) as retriever,
        show_calls(plan.title) as listener,
    ):
        resources = InferResources(endpoints, retriever, listener)
        asked = (ask_and_judge(job, resources) for job in resolved.jobs)
        outcomes = await asyncio.gather(*asked, *(judge_gold(gold, resources) for gold in gold_baselines(resolved)))
    calls = count_calls(endpoints)
    if not any(found):
        require_answer(endpoints, calls)
    return StageResult.of((outcome for group in outcomes for outcome in group), calls, canaries)
