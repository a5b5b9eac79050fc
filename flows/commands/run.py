"""Run one stage, or all of them, and turn what came of it into the result of the command."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import fastapi.encoders  # noqa: F401  Prefect imports it with the first flow run, when the server is up and waits for us
from rich.console import RenderableType

from flows.build import build_datasets
from flows.commands.batches import WAITING, waiting_result
from flows.commands.console import CommandResult
from flows.commands.planned_calls import run_dry
from flows.commands.replies import run_on_file
from flows.commands.run_notes import missing_lines, usage_view
from flows.commands.run_result import run_result
from flows.commands.vary import within_budget
from flows.infer import run_inference
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import name_run, open_lake, with_plan
from flows.planning.usage import complete_usage
from flows.refresh import refresh
from flows.report import UnsuccessfulRun, report
from flows.runtime.artifacts import RUN_KEYS, addresses_of
from flows.runtime.batches import waiting_run
from flows.runtime.clusters import require_runner
from flows.runtime.prefect_server import on_server
from flows.runtime.preparation import check_plan, prepare_models, warn
from flows.score import score
from schemas.documents.batches import WaitingRun
from schemas.documents.comparison import SeveralRuns
from schemas.documents.run import InferDocument, RunDocument, StageDocument
from schemas.lineage import RunManifest, StageResult
from schemas.plan import ReportRequest
from tasks.interchange.replies import RepliesFile
from tasks.models.cost import load_prices, price_usage
from tasks.reporting.run_document import describe_cost
from tasks.steps import ledger
from tasks.text.number_format import counted


async def run_stage(stage: str, *plans: ResolvedPlan, file: RepliesFile | None = None) -> CommandResult:
    """Run a stage for one plan after the other, or estimate what the calls of a plan would take (`dry-run`).

    Returned is the result of the first plan; documents of the others are in its `more`, the status is the highest.
    """
    if stage == "dry-run":
        return await run_dry(*plans)
    for resolved in plans:
        if stage in {"run", "infer"}:
            warnings = await check_plan(resolved)  # before a server is waited for: a wrong option is told at once
            warn(warnings if stage == "infer" else ())  # the flow of a whole run warns itself, which schedules start too
        else:
            resolved.lake.require_writable()
            require_runner(resolved.plan)

    async def run_each() -> list[CommandResult]:
        results: list[CommandResult] = []
        if file:
            return [await run_on_file(plans[0], file, lambda placed: _run_flow(stage, placed, is_last=True))]
        for resolved in plans:
            spent = [document.cost.total for document in _runs(results)]
            left = with_plan(resolved, within_budget(resolved.stated, spent)) if spent else resolved
            results.append(await _run_flow(stage, left, is_last=resolved is plans[-1]))
        return results

    first, *others = await on_server(run_each)
    waiting = next((result for result in (first, *others) if result.status == WAITING), None)
    if waiting or not others:
        return waiting or first
    run, *more = _runs((first, *others))
    document = SeveralRuns(**dict(run), more=tuple(more))
    view = [line for result in (first, *others) for line in result.view]
    return CommandResult(max(result.status for result in (first, *others)), document, view)


def _runs(results: Sequence[CommandResult]) -> list[RunDocument]:
    return [result.document for result in results if isinstance(result.document, RunDocument)]


async def _infer(resolved: ResolvedPlan) -> StageResult:
    resolved, _, budget = await prepare_models(resolved)
    result: StageResult = await run_inference(resolved, budget)
    return result


STAGES = {"build": build_datasets, "infer": _infer, "score": score}


async def _run_flow(stage: str, resolved: ResolvedPlan, *, is_last: bool) -> CommandResult:
    if stage in STAGES:
        return _stage_result(stage, await STAGES[stage](resolved), resolved)
    now = datetime.now(UTC)
    started = now.isoformat(timespec="seconds")
    try:
        if stage == "run":
            manifest: RunManifest | WaitingRun = await refresh(resolved)
        else:
            scored = await score(resolved) if stage == "rate" else StageResult()
            missing = (*resolved.missing, *scored.missing)
            name = name_run(resolved.stated, now)
            manifest = await report(resolved, ReportRequest(run=name, started_at=started, missing=missing))
    except UnsuccessfulRun as ended:
        manifest = ended.manifest
    if isinstance(manifest, WaitingRun):
        return waiting_result(manifest)
    pages = addresses_of(RUN_KEYS, ledger.ended[-1] if ledger.ended else None)
    return run_result(manifest, resolved.lake, *pages, is_last=is_last)


def _stage_result(stage: str, result: StageResult, resolved: ResolvedPlan) -> CommandResult:
    if result.calls.waiting:
        return waiting_result(waiting_run(resolved, result))
    plan = resolved.stated
    document = StageDocument(stage=stage, partitions=result.refs, missing=result.missing, calls=result.calls)
    layers = Counter(ref.layer for ref in result.refs)
    view: list[RenderableType] = [f"{layer}: {counted(count, 'partition')}" for layer, count in layers.items()]
    view += missing_lines(result.missing)
    if stage == "infer":
        table = load_prices(plan.prices)
        rows = price_usage(complete_usage(result.usage, result.refs, open_lake(plan), plan), plan, table)
        cost = describe_cost(rows, table.currency if table else None, result.refs)
        document = InferDocument(**dict(document), usage=rows, cost=cost)
        view += usage_view(cost)
    failed = bool(result.missing) or result.calls.unknown_ids > 0 or not all(ref.complete for ref in result.refs)
    return CommandResult(int(failed), document, view)
