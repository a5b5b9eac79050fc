"""Infer: `items` -> `responses`, `answers` and `judgements`."""

import asyncio

from flows.planning.jobs import ResolvedPlan
from flows.planning.stored import stored_outcomes
from flows.runtime.batches import Waves
from flows.runtime.endpoints import count_calls, open_endpoints, require_answer
from flows.runtime.infer_jobs import InferResources, ask_and_judge, judge_gold, open_retriever
from flows.runtime.prefect_flows import begin_run, moodflow_flow
from flows.runtime.progress import show_calls
from schemas.lineage import CallCounts, StageResult
from tasks.models.batches.desk import open_desk
from tasks.models.cost import Budget
from tasks.models.journal.table import JOURNAL


@moodflow_flow("run-inference", "infer {resolved.title}")
async def run_inference(resolved: ResolvedPlan, budget: Budget) -> StageResult:
    """Ask every model the items of every dataset, then let the judges rate free-text answers.

    Reads `items` and `contexts`; writes `responses`, `answers` and `judgements`, and `chunks` and `retrievals` for settings that
    retrieve. Replies are in the journal before they are used, so a repeated run pays only for calls that were never answered; if
    every partition is there, no server is started or spoken to. Partitions with calls that wait in a batch are incomplete.

    The models of `resolved` are prepared (`flows.runtime.preparation`), and `budget` has what the calls for that used.
    """
    await begin_run(resolved)
    stored = stored_outcomes(resolved)
    if stored.is_complete:
        return StageResult.of(stored.refs)
    with open_desk(resolved.lake.state / JOURNAL) as desk:
        async with (
            open_endpoints(resolved.plan, resolved.lake, budget, resolved.replies) as endpoints,
            open_retriever(resolved) as retriever,
            show_calls(resolved.title) as listener,
        ):
            resources = InferResources(endpoints, retriever, listener)
            waves = Waves(resolved.plan, endpoints, desk)
            await waves.collect()
            is_done = False
            while not is_done:
                asking = (ask_and_judge(job, resources) for job in resolved.jobs)
                outcomes = await asyncio.gather(*asking, *(judge_gold(gold, resources) for gold in resolved.golds))
                is_done = await waves.settle()
    calls = count_calls(endpoints) + CallCounts(unknown_ids=waves.rules["unknown_id"])
    if not stored.has_answers:
        require_answer(endpoints, calls)
    result = StageResult.of((outcome for group in outcomes for outcome in group), calls)
    return result.model_copy(update={"request_files": tuple(waves.files)})
