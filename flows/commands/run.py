"""Run one stage, or all of them, and turn what came of it into the result of the command."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType

from flows.ablate import ablate, read_variants
from flows.build import build_datasets
from flows.commands.console import CommandResult
from flows.commands.run_view import (
    ablation_document,
    ablation_table,
    leaderboard_table,
    lowers_coverage,
    run_document,
    usage_document,
    usage_view,
)
from flows.infer import run_inference
from flows.planning.resolve import name_run, resolve
from flows.planning.usage import complete_usage, priced, read_prices
from flows.refresh import refresh
from flows.report import report
from flows.runtime.artifacts import ABLATION_KEYS, RUN_KEYS, addresses_of, state_message
from flows.runtime.clusters import require_runner
from flows.runtime.prefect_flows import log, on_server, run_to_end
from flows.runtime.preflight import check_plan, warn
from flows.score import score
from schemas.ablation import AblationRequest
from schemas.lineage import RunManifest, StageResult
from schemas.plan import Plan
from schemas.reporting import ReportRequest
from tasks.lake.changes import read_changes
from tasks.lake.lake import Lake
from tasks.steps import ledger

STAGE_FLOWS = {"build": build_datasets, "infer": run_inference, "score": score}


def run_stage(stage: str, plan: Plan, *more: Plan) -> CommandResult:
    """Run `run`, `build`, `infer`, `score` or `report` to its end, for one plan after the other.

    Returns:
        The result of the first plan; documents of the others are in its `more`, the status is the highest.

    Raises:
        MoodflowError: if something the user can mend is wrong.
    """
    return run_to_end(_run_all(stage, (plan, *more)))


async def _run_all(stage: str, plans: Sequence[Plan]) -> CommandResult:
    for plan in plans:
        if stage in {"run", "infer"}:
            warnings = await check_plan(plan)  # before a server is waited for: a wrong option is told at once
            warn(warnings if stage == "infer" else ())  # the flow of a whole run warns itself, which schedules start too
        else:
            resolve(plan).lake.require_writable()
            require_runner(plan)
    first, *others = await on_server(lambda: _run_each(stage, plans))
    if not others:
        return first
    document = {**first.document, "more": [other.document for other in others]}
    view = [line for result in (first, *others) for line in result.view]
    return CommandResult(max(result.status for result in (first, *others)), document, view)


def run_ablation(request: AblationRequest) -> CommandResult:
    """Run an ablation to its end.

    Raises:
        MoodflowError: if something the user can mend is wrong.
    """
    return run_to_end(_run_ablation(request))


async def _run_ablation(request: AblationRequest) -> CommandResult:
    for _, plan in read_variants(request):
        await check_plan(plan)  # before a server is waited for: a wrong option is told at once
    manifest: RunManifest = await on_server(lambda: ablate(request))
    lake = resolve(request.plan).lake
    document = ablation_document(manifest, lake)
    view: list[RenderableType] = [ablation_table(document), *usage_view(document), f"Report: {document['report']}"]
    view += [f"Prefect UI: {address}" for address in pages(ABLATION_KEYS)]
    view += [f"Missing: {gap.dataset} {gap.reason}; {gap.next_step}" for gap in manifest.missing]
    failed = manifest.missing or any(row["n_scored"] < row["n_total"] for row in document["rows"])
    return CommandResult(int(bool(failed)), document, view)


async def _run_each(stage: str, plans: Sequence[Plan]) -> list[CommandResult]:
    return [await _run_flows(stage, plan) for plan in plans]


async def _run_flows(stage: str, plan: Plan) -> CommandResult:
    if stage in STAGE_FLOWS:
        result: StageResult = await STAGE_FLOWS[stage](plan)
        return stage_result(stage, result, plan)
    whole = stage == "run"
    manifest: RunManifest = await (refresh(plan) if whole else report(_report_request(plan)))
    warn_of_regressions(resolve(plan).lake, manifest.run)
    return run_result(manifest, plan)


def _report_request(plan: Plan) -> ReportRequest:
    now = datetime.now(UTC)
    return ReportRequest(
        plan=plan,
        run=name_run(plan, now),
        started_at=now.isoformat(timespec="seconds"),
        missing=resolve(plan).missing,
    )


def stage_result(stage: str, result: StageResult, plan: Plan) -> CommandResult:
    """Return the result of `moodflow build`, `infer` and `score`."""
    layers = list(dict.fromkeys(ref.layer for ref in result.refs))
    document = {
        "stage": stage,
        "partitions": [ref.model_dump() for ref in result.refs],
        "missing": [gap.model_dump() for gap in result.missing],
        "calls": result.calls.model_dump(),
        **(_spent(result, plan) if stage == "infer" else {}),
    }
    view: list[RenderableType] = [f"{layer}: {sum(ref.layer == layer for ref in result.refs)} partitions" for layer in layers]
    view += [f"missing: {gap.dataset} {gap.reason}; {gap.next_step}" for gap in result.missing]
    view += usage_view(document) if stage == "infer" else []
    failed = bool(result.missing) or not all(ref.complete for ref in result.refs)
    return CommandResult(int(failed), document, view)


def _spent(result: StageResult, plan: Plan) -> dict[str, Any]:
    table = read_prices(plan)
    rows = priced(complete_usage(result.usage, result.refs, resolve(plan).lake), plan, table)
    return usage_document(rows, table.currency if table else None, result.refs)


def run_result(manifest: RunManifest, plan: Plan) -> CommandResult:
    """Return the result of `moodflow run` and `report`."""
    lake = resolve(plan).lake
    document = run_document(manifest, lake)
    calls = manifest.calls
    view: list[RenderableType] = [
        leaderboard_table(manifest.benchmark, document["models"]),
        f"Calls: {calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed",
        *usage_view(document),
        *(f"Missing: {gap.dataset} {gap.reason}; {gap.next_step}" for gap in manifest.missing),
        f"Run: {manifest.run}",
        f"Report: {document['report']}",
    ]
    if changes := read_changes(lake.root, manifest.run):
        view.append(f"State: {changes.state}, {state_message(changes)}")
    view += [f"Prefect UI: {address}" for address in pages(RUN_KEYS)]
    return CommandResult(int(lowers_coverage(manifest, lake)), document, view)


def pages(keys: Sequence[str]) -> list[str]:
    """Return the pages of the UI to open after the run that just ended."""
    return addresses_of(keys, ledger.ended[-1] if ledger.ended else None)


def warn_of_regressions(lake: Lake, run: str) -> None:
    """Print on standard error what regressed, each finding on a line of its own."""
    changes = read_changes(lake.root, run)
    for system in changes.regressed if changes else ():
        findings = "".join(f"\n  {finding.message}" for finding in system.findings)
        log(f"{system.model} ({system.setting}) regressed against {system.previous}:{findings}")
