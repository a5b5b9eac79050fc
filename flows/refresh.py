"""Refresh: build, infer, score, report. The flow of `moodflow run` and of schedules."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import WrapValidator

from flows.build import build_datasets
from flows.infer import run_inference
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import name_run
from flows.report import report
from flows.runtime.batches import waiting_run
from flows.runtime.prefect_flows import begin_run, moodflow_flow, resolve_parameters
from flows.runtime.preparation import check_plan, prepare_models, warn
from flows.score import score
from schemas.documents.batches import WaitingRun
from schemas.lineage import RunManifest, StageResult
from schemas.plan import Plan, ReportRequest
from tasks.models.batches.waves import waiting_words
from tasks.models.cost import check_budget

# A user who starts a run states a plan; a command of ours gives it resolved.
if TYPE_CHECKING:
    StatedOrResolved = Plan | ResolvedPlan
else:
    StatedOrResolved = Annotated[
        Plan, WrapValidator(lambda value, validate: value if isinstance(value, ResolvedPlan) else validate(value))
    ]


@moodflow_flow("refresh", "refresh {plan.title}")
async def refresh(plan: StatedOrResolved) -> State[RunManifest | WaitingRun]:
    """Evaluate models from source files to report.

    Reads source files; writes every layer, a manifest and a report. Whatever exists with the same fingerprint is not computed
    again: a second run of the same plan makes no model call, and a run that was killed goes on where it stopped. Its state is
    that of the report, one of `RunState`; awaiting it gives the manifest of the run, or raises UnsuccessfulRun, which has it. If
    calls wait in batches, nothing is scored: its state is a success named `Waiting`, and awaiting it gives a WaitingRun.

    Args:
        plan: what to evaluate; a command resolves it before it starts the run.
    """
    started = datetime.now(UTC)
    resolved = resolve_parameters(plan) if isinstance(plan, Plan) else plan
    await begin_run(resolved)
    warn(await check_plan(resolved))
    check_budget(resolved.stated)  # a budget that cannot be kept is refused now, not after the build
    built: StageResult = await build_datasets(resolved)
    resolved, canaries, budget = await prepare_models(resolved)
    inferred: StageResult = await run_inference(resolved, budget)
    if inferred.calls.waiting:
        waiting = waiting_run(resolved, inferred)
        return Completed(name="Waiting", message=waiting_words(waiting), data=waiting)
    scored: StageResult = await score(resolved)
    request = ReportRequest(
        run=name_run(resolved.stated, started),
        started_at=started.isoformat(timespec="seconds"),
        calls=inferred.calls,
        missing=(*built.missing, *inferred.missing, *scored.missing),
        usage=inferred.usage,
        canaries=canaries,
    )
    ended: State[RunManifest] = await report(resolved, request, return_state=True)
    result = await ended.aresult(raise_on_failure=False)
    return State(type=ended.type, name=ended.name, message=ended.message, data=result)
