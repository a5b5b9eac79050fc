"""`moodflow run`, and each of its stages alone: `build`, `infer`, `score` and `report`."""

import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from flows.commands import options as opt
from flows.commands.plan_options import PlanCommand, read_plan
from flows.commands.process import may_name_server, require_prefect_settings
from flows.commands.vary import Settings, read_variants, require_differing, with_comparison
from flows.planning.names import require_names
from flows.runtime.local_server import start_early, temporary_server
from schemas.documents.comparison import SeveralRuns
from schemas.documents.run import RunDocument
from schemas.errors import UsageError
from schemas.plan import Plan
from tasks.scoring.blueprints import profiled_blueprint

if TYPE_CHECKING:
    from flows.commands.console import CommandResult
    from flows.planning.jobs import ResolvedPlan
    from tasks.interchange.replies import RepliesFile

STAGES = ("run", "build", "infer", "score", "report")

app = typer.Typer(add_completion=False)


def _stage_command(
    context: typer.Context,
    benchmark: opt.Planned = None,
    vary: opt.Vary = None,
    dry_run: opt.DryRun = False,
    fail_on_regression: opt.FailOnRegression = False,
    replies: opt.Replies = None,
    as_json: opt.AsJson = False,
) -> None:
    stage = context.info_name or "run"
    if fail_on_regression:
        _require_stage(stage, ("run", "report"), "--fail-on-regression", "compares with no earlier run, so nothing can regress")
    if dry_run:
        _require_stage(stage, ("run", "infer"), "--dry-run", "calls no model, so there is nothing to estimate")
    if vary:
        command = f"{stage} --dry-run" if dry_run else stage
        _require_stage(command, ("run",), "--vary", "yields no scores of variants to compare")
    variants = read_variants(benchmark, context.obj, vary) if vary else None
    file = None
    if replies:
        command = f"{stage} --dry-run" if dry_run else f"{stage} --vary" if vary else stage
        _require_stage(command, ("run",), "--replies", "does not read replies from a file")
        from flows.commands.replies import open_replies  # noqa: PLC0415  polars takes its time

        file, of_file = open_replies(replies, benchmark, context.obj)
        plans: Iterable[Plan] = [of_file]
    elif variants:
        plans = variants.values()
    else:
        plans = [read_plan(benchmark, context.obj, needs_model=stage != "build")]
    fails_if = {"unreadable", *(["Regressed"] if fail_on_regression else [])}
    execute("dry-run" if dry_run else stage, *plans, as_json=as_json, fails_if=fails_if, variants=variants, file=file)


def resolve_all(plans: Iterable[Plan], *, whole: bool = False) -> list["ResolvedPlan"]:
    """Look up what the plans of a command name, once; `whole`: for all stages of a run."""
    from flows.planning.resolve import resolve, with_canary  # noqa: PLC0415  polars takes its time

    return [resolve(with_canary(plan) if whole and plan.ask_changed else plan) for plan in plans]


def renewed(stage: str, *plans: "ResolvedPlan") -> "CommandResult | None":
    """Return the result of a run that is up to date, once it is written; null if Prefect is needed.

    Otherwise a server is started at once, if it may be needed, since it takes seconds as the imports of this process do.
    """
    if "prefect" not in sys.modules and not may_name_server():
        from flows.planning.stored import is_up_to_date  # noqa: PLC0415  polars takes its time

        if stage == "run" and len(plans) == 1 and is_up_to_date(plans[0]):
            from flows.commands.up_to_date import renew_run  # noqa: PLC0415  with the report, which takes its time

            if result := renew_run(plans[0]):
                return result
        start_early()
    return None


def start_for_new_lakes(plans: Iterable[Plan]) -> None:
    """Start a server before the plans are resolved, if it may be needed and their lakes have no run: none can be up to date."""
    from tasks.lake.manifest import list_runs  # noqa: PLC0415  --help needs none of it

    are_new = all(isinstance(plan.lake, Path) and not list_runs(plan.lake) for plan in plans)
    if are_new and "prefect" not in sys.modules and not may_name_server():
        start_early()


for _name in STAGES:
    app.command(_name, cls=PlanCommand)(_stage_command)


def _require_stage(stage: str, stages: tuple[str, ...], option: str, reason: str) -> None:
    if stage not in stages:
        raise UsageError(
            f"moodflow {stage} {reason}",
            where=option,
            expected=" or ".join(f"moodflow {name}" for name in stages),
            next_step=f"leave {option} out",
        )


def execute(
    stage: str,
    *plans: Plan,
    as_json: bool,
    fails_if: Set[str] = frozenset(),
    variants: Mapping[Settings, Plan] | None = None,
    file: "RepliesFile | None" = None,
) -> None:
    """Run a command of `flows.commands.run` for its plans, then print its result and end with its status.

    `fails_if` has the states of a run, and verdicts on its models, with which the status is 1; `variants` the plans by what is
    varied, whose runs are compared; `file` the replies of the models under test.
    """
    for plan in plans:  # a wrong name is told before Prefect and polars are imported
        require_names(plan, profiled_blueprint(plan.benchmark, plan.profile, plan.prompts))
    start_for_new_lakes(plans)
    resolved = resolve_all(plans, whole=stage == "run")
    if variants:
        require_differing(dict(zip(variants, resolved, strict=True)))
    result = renewed(stage, *resolved) if file is None else None
    if result is None:
        require_prefect_settings()
        temporary_server()
        from flows.commands.run import run_stage  # noqa: PLC0415  takes seconds that a misspelt option need not wait
        from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415

        result = run_to_end(run_stage(stage, *resolved, file=file))
    for document in result.document.runs if isinstance(result.document, RunDocument) else ():
        if fails_if & {document.state, *(row.verdict for row in document.models)}:
            result = replace(result, status=1)
    if variants and isinstance(result.document, SeveralRuns):
        result = with_comparison(result, result.document, variants)
    result.finish(as_json=as_json)
