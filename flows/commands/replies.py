"""`moodflow replies` and `run --replies`: write the file of replies to fill in, and evaluate the replies of a file."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, first_lines
from flows.commands.plan_options import PlanCommand, PlanOptions, read_plan
from flows.commands.process import require_prefect_settings
from flows.commands.stages import resolve_all
from schemas.chat import FILE_PREFIX, ChatReply
from schemas.documents.lake import WrittenTemplate
from schemas.documents.run import RefusedReply, RepliesRead, RunDocument
from schemas.errors import UsageError, unknown_name
from schemas.plan import Plan
from tasks.interchange.replies import CONTRACT, RepliesFile, place_rows, read_replies
from tasks.interchange.template import template_rows, write_template

if TYPE_CHECKING:
    from flows.planning.jobs import ResolvedPlan

OF_A_SERVER = ("provider", "base_url", "api_key_env", "temperature", "max_tokens", "concurrency", "canary")

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def replies() -> None:
    """Score replies that exist; `moodflow docs replies-by-file` says how."""


@app.command("template", cls=PlanCommand)
def write_file(
    context: typer.Context,
    benchmark: opt.Planned = None,
    to: Annotated[Path, opt.option("new file that ends in .jsonl, .csv or .parquet", opt.OUTPUT, "FILE")] = Path("replies.jsonl"),
    as_json: opt.AsJson = False,
) -> None:
    """Write the file of replies to fill in: a row for each call that a run with these options makes. No model is called.

    A call whose prompt rests on a reply, as in a dialogue, has no row.
    """
    options: PlanOptions = context.obj
    if not options.model:
        raise UsageError("the replies need the name of a model", where="--model", next_step="add --model NAME")
    plan = _plan_of_file(benchmark, options, "template", options.model)
    require_prefect_settings()
    from flows.commands.planned_calls import build_first  # noqa: PLC0415
    from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415

    (resolved,) = resolve_all([plan])

    async def write() -> WrittenTemplate:
        missing = await build_first(resolved)
        jobs = [infer for job in resolved.jobs if (infer := job.infer_job())]
        rows = [row for job in jobs for row in await template_rows(job, resolved.lake)]
        return WrittenTemplate(file=str(to), rows=write_template(rows, to), missing=missing)

    document = run_to_end(write())
    told = [f"{document.rows:,} rows written to {to}; fill in reply, then run the same options with --replies {to}"]
    CommandResult(int(bool(document.missing)), document, told).finish(as_json=as_json)


def _plan_of_file(benchmark: str | None, options: PlanOptions, digest: str, models: list[str]) -> Plan:
    """Return a plan whose models' replies come from a file; UsageError: an option is about a server."""
    if unfit := [name for name in OF_A_SERVER if name in options.given]:
        raise UsageError(
            "replies from a file have no server", where=f"--{unfit[0].replace('_', '-')}", next_step="leave the option out"
        )
    entries = [{"name": name, "base_url": f"{FILE_PREFIX}{digest}"} for name in models]
    return read_plan(benchmark, options, by_path={"models": entries})


def open_replies(path: Path, benchmark: str | None, options: PlanOptions) -> tuple[RepliesFile, Plan]:
    """Read a file of replies; return it, and the plan that scores its models. --model names that of rows which name none."""
    named = options.model or []
    file = read_replies(path, named[0] if len(named) == 1 else None)
    if not file.models:
        rules = ", ".join(f"{rule}: {rows}" for rule, rows in Counter(file.broken.values()).items())
        raise UsageError("no row of the file can be used", where=str(path), got=rules, next_step=CONTRACT)
    for name in named:
        if name not in file.models:
            raise unknown_name("model", name, file.models, str(path), "leave --model out")
    return file, _plan_of_file(benchmark, options, file.sha256, named or [*file.models])


async def run_on_file(
    resolved: "ResolvedPlan", file: RepliesFile, run: "Callable[[ResolvedPlan], Awaitable[CommandResult]]"
) -> CommandResult:
    """Build the items, place the rows of a file on the calls about them, and run; the status is 1 if a row was refused."""
    from flows.build import build_datasets  # noqa: PLC0415

    await build_datasets(resolved)
    answers: dict[str, ChatReply] = {}
    for job in resolved.jobs:
        if infer := job.infer_job():
            answers |= await place_rows(infer, resolved.lake, file, draws_options=job.selected.spec.draws_options)
        else:
            file.broken.update(dict.fromkeys(file.about(job.dataset, job.entry.name, job.setting), "dataset_is_built"))
    asked = {job.dataset for job in resolved.jobs}
    for line, row in file.rows.items():
        if row.dataset not in asked:
            file.broken[line] = "dataset_is_known"
        elif row.setting not in resolved.plan.settings:
            file.broken[line] = "setting_is_asked"
        elif row.model not in {entry.name for entry in resolved.plan.models}:
            file.broken[line] = "model_is_chosen"
    read = _describe(file)
    result = await run(resolved.model_copy(update={"replies": answers}))
    document = result.document
    if isinstance(document, RunDocument):
        document = document.model_copy(update={"replies": read})
    view = [
        f"Replies from {file.path}: {read.placed:,} of {read.read:,} rows used, {read.refused:,} refused",
        *first_lines([f"Refused: line {row.line}, {row.rule}" for row in read.rows]),
        *result.view,
    ]
    return replace(result, status=max(result.status, int(read.refused > 0)), document=document, view=view)


def _describe(file: RepliesFile) -> RepliesRead:
    read, refused = len(file.rows.keys() | file.broken.keys()), len(file.broken)
    return RepliesRead(
        file=str(file.path),
        sha256=file.sha256,
        read=read,
        placed=read - refused,
        refused=refused,
        rules=dict(Counter(file.broken.values())),
        rows=tuple(RefusedReply(line=line, rule=rule) for line, rule in sorted(file.broken.items())),
    )
