"""Refresh: build, infer, score, report. The flow of `moodflow run` and of schedules."""

from datetime import UTC, datetime

from prefect.client.schemas.objects import State

from flows.build import build_datasets
from flows.infer import run_inference
from flows.planning.resolve import name_run
from flows.report import report
from flows.runtime.canary import with_canary
from flows.runtime.prefect_flows import begin_run, moodflow_flow
from flows.runtime.preflight import check_plan, warn
from flows.score import score
from schemas.lineage import RunManifest, StageResult
from schemas.plan import Plan, ReportRequest
from tasks.models.cost.pricing import check_budget


@moodflow_flow("refresh", "refresh {plan.title}")
async def refresh(plan: Plan) -> State[RunManifest]:
    """Evaluate models from source files to report.

    Reads source files; writes every layer, a manifest and a report. Whatever exists with the same fingerprint is not computed
    again: a second run of the same plan makes no model call, and a run that was killed goes on where it stopped. Its state is
    that of the report, one of `RunState`; awaiting it gives the manifest of the run, or raises UnsuccessfulRun, which has it.

    Args:
        plan: what to evaluate.
    """
    started = datetime.now(UTC)
    plan = with_canary(plan)
    warn(await check_plan(await begin_run(plan)))
    check_budget(plan)  # a budget that cannot be kept is refused now, not after the build
    built: StageResult = await build_datasets(plan)
    inferred: StageResult = await run_inference(plan)
    scored: StageResult = await score(plan)
    request = ReportRequest(
        plan=plan,
        run=name_run(plan, started),
        started_at=started.isoformat(timespec="seconds"),
        calls=inferred.calls,
        missing=(*built.missing, *inferred.missing, *scored.missing),
        usage=inferred.usage,
        canaries=inferred.canaries,
    )
    ended: State[RunManifest] = await report(request, return_state=True)
    result = await ended.aresult(raise_on_failure=False)
    return State(type=ended.type, name=ended.name, message=ended.message, data=result)
