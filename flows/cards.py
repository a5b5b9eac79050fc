"""Cards: posts, dialogues or role cards -> `role_cards`, a partition per step."""

import asyncio
from pathlib import Path

from flows.planning.capabilities import unprobed, with_capabilities
from flows.planning.resolve import open_lake
from flows.planning.usage import UsageCounter, open_budget
from flows.runtime.endpoints import check_endpoints, count_calls, open_endpoints, require_answer
from flows.runtime.prefect_flows import moodflow_flow, run_here
from flows.runtime.probing import ensure_probed
from flows.runtime.progress import show_calls
from schemas.lineage import PartitionRef, StageResult
from schemas.plan import Plan
from schemas.roles import JUDGES
from schemas.tables.role_cards import CARD_STEPS, CardStep, RoleCards
from tasks.judging.cards import ANNOTATORS, EXTRACTOR, CardJob, find_pipeline
from tasks.judging.steps import write_cards
from tasks.solvers.run import with_listeners
from tasks.solvers.state import RoleModel, SolverResources


@moodflow_flow("build-cards", "cards {plan.title}")
async def build_cards(plan: Plan, first: CardStep, pipeline_name: str | None = None, people: Path | None = None) -> StageResult:
    """Take posts, or cards that exist, through the steps of building role cards.

    Reads source files; writes `role_cards`. Replies are in the journal before they are used, so that a run that was killed goes
    on where it stopped, and a repeated one pays for nothing that was answered. The plan's benchmark is the file or dataset that
    is read. Its model extracts and filters; judge, then panel annotate, and the first of them takes the part of those that are
    not named. Posts enter the step `extract`, cards that exist `annotate`. Where a file has what people say, no model is asked.
    """
    lake, budget = open_lake(plan), open_budget(plan)
    lake.require_writable()
    pipeline = find_pipeline(pipeline_name)
    cards = pipeline.read(first, plan)
    entering = pipeline.annotate(people, cards) if people else cards
    await check_endpoints(plan)
    await ensure_probed(lake.state, unprobed(plan), budget)
    plan = with_capabilities(plan)
    name, refs = Path(plan.benchmark).stem, list[PartitionRef]()
    judges = [entry for role in JUDGES for entry in plan.role_models(role, name)] or [*plan.models]
    annotators = (*judges, *judges[:1], *judges[:1])
    models = dict(zip((EXTRACTOR, *ANNOTATORS), (*plan.models, *annotators), strict=False))
    async with open_endpoints(plan, lake, budget) as endpoints, show_calls(plan.title) as listener:
        counters = {role: UsageCounter(listener) for role in models}
        played = {role: RoleModel(entry, endpoints[entry].chat) for role, entry in models.items()}
        resources = with_listeners(SolverResources(played), counters)
        run_jobs = endpoints[plan.models[0]].pool.do_all if models else lambda jobs: asyncio.gather(*(job.do() for job in jobs))
        for step in CARD_STEPS[CARD_STEPS.index(first) :]:
            job = CardJob(pipeline, name, step, models, tuple(entering), refs[-1] if refs else None)
            refs.append(await run_here(write_cards, job, lake, resources, run_jobs))
            rows = lake.read(refs[-1], RoleCards)
            entering = rows.filter(rows["status"] == "kept").to_dicts()
    calls = count_calls(endpoints)
    require_answer(endpoints, calls)
    usage = [row for role, counter in counters.items() for row in counter.usage(name, models[role].name, role)]
    return StageResult.of([*refs, *usage], calls)
