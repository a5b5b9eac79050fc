"""Refresh: build, infer, score, report. The flow behind `moodflow run` and behind schedules."""

from datetime import UTC, datetime

from flows.build_datasets import build_datasets
from flows.naming import name_run
from flows.orchestration import moodflow_flow
from flows.preflight import check_plan
from flows.report import report
from flows.run_inference import run_inference
from flows.score import score
from schemas.lineage import RunManifest, StageResult
from schemas.reporting import ReportRequest
from schemas.settings import Plan
from tasks.inference.money.pricing import check_budget


@moodflow_flow("refresh", "refresh {plan.title}")
async def refresh(plan: Plan, *, redact: bool = False) -> RunManifest:
    """Evaluate models from source files to report.

    Reads source files; writes every layer, a manifest and a report. Whatever exists with the same fingerprint is not computed
    again: a second run of the same plan makes no model call, and a run that was killed goes on where it stopped.

    Args:
        plan: what to evaluate.
        redact: keep texts whose licence forbids passing them on out of the report.
    """
    started = datetime.now(UTC)
    await check_plan(plan)
    check_budget(plan)  # to be told now, not after the build, that it cannot be kept
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
        redact=redact,
    )
    manifest: RunManifest = await report(request)
    return manifest
