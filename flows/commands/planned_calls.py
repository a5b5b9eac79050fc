"""The calls of a plan that this process does not send: forecast, written for others to answer, and taken in with replies."""

from pathlib import Path

from rich.console import RenderableType

from flows.build import build_datasets
from flows.commands.console import CommandResult, terminal_table
from flows.commands.run_notes import missing_lines
from flows.planning.forecast import forecast_run
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import require_asked
from flows.runtime.prefect_server import on_server
from schemas.chat import ChatReply
from schemas.documents.lake import WrittenRequests
from schemas.documents.plan import RunForecast
from schemas.lineage import Missing
from schemas.table import Column, Table, Value, columns
from schemas.usage import Expectation
from tasks.models.cost import check_budget
from tasks.models.journal.files import ImportedReplies, add_replies
from tasks.models.journal.request_files import write_requests
from tasks.models.journal.table import JOURNAL, journal_row
from tasks.runs.sections import EXCHANGES
from tasks.solvers.forecast import place_replies, plan_wave
from tasks.solvers.registry import SOLVERS
from tasks.text.number_format import count


async def run_dry(resolved: ResolvedPlan) -> CommandResult:
    """Build the items of a plan and forecast what asking them would take."""
    check_budget(resolved.stated)  # before anything is built
    document = await forecast_run(resolved, await build_first(resolved))
    return CommandResult(0, document, [*forecast_view(document), *missing_lines(document.missing)])


async def build_first(resolved: ResolvedPlan) -> tuple[Missing, ...]:
    """Build what the jobs of a plan ask about unless that is there; return what is missing."""
    resolved.lake.require_writable()
    missing = resolved.missing
    if not all(resolved.find_built(selected) for selected in resolved.selected):
        missing = (await on_server(lambda: build_datasets(resolved))).missing
    require_asked(resolved)
    return missing


THERE = ("In the journal", "In the lake")
"""Columns of calls that need not be sent."""


def forecast_view(document: RunForecast) -> list[RenderableType]:
    """Return a forecast for a terminal."""
    names = (Column("Dataset"), Column("Model", "name"), Column("Role", "name"))
    amounts = columns("count", "To send", *THERE, "Prompt tokens", "Reply tokens")
    priced = (Column("Cost", "money", currency=document.currency),) if document.currency else ()
    heads = (*names, *amounts, *priced)
    rows = [(row.dataset, row.model, row.role, *_amounts(row)) for row in document.datasets]
    rows += [("all", row.model, row.role, *_amounts(row)) for row in document.models]
    if len(document.models) != 1:
        rows.append(("all", "all", "", *_amounts(document.total)))
    table = Table(heads, [row[: len(heads)] for row in rows], "Dry run")
    return [
        terminal_table(table.without_empty(*THERE).without_constant("Model", "Role")),
        "",
        "Calls are counted, tokens and cost estimated.",
        *(f"{row.model} ({row.role}): {row.basis}" for row in document.models),
        *document.notes,
    ]


def _amounts(row: Expectation) -> tuple[Value, ...]:
    calls = f"≤ {count(row.calls)}" if row.upper_bound else row.calls
    return (calls, row.in_journal or "", row.stored or "", row.prompt_tokens, row.completion_tokens, row.cost)


async def write_wave(resolved: ResolvedPlan, folder: Path) -> WrittenRequests:
    """Write the calls that a run of a plan would make now, and return what was written."""
    missing = await build_first(resolved)
    jobs = [infer for job in resolved.jobs if (infer := job.infer_job()) and not infer.keys.find_all(resolved.lake)]
    calls = {call.request.key: call for infer in jobs for call in await plan_wave(infer, resolved.lake)}
    settings = {infer.options.setting for infer in jobs}
    return WrittenRequests(
        folder=str(folder),
        calls=len(calls),
        several_messages=sum(len(call.request.messages) > 1 for call in calls.values()),
        files=write_requests(calls.values(), folder / f"{resolved.blueprint.name}.jsonl", with_tasks=True),
        not_known=tuple(sorted(setting for setting in settings if SOLVERS[setting].retrieves)),
        missing=missing,
    )


async def import_results(resolved: ResolvedPlan, folder: Path) -> ImportedReplies:
    """Keep the replies of result files in the journal, as those to the calls of a plan.

    Refused is a reply to what the plan does not ask, or another file answers already.
    """
    of_plan = [exchange for setting, exchange in EXCHANGES.items() if setting in resolved.plan.settings]
    files = [file for exchange in of_plan or EXCHANGES.values() for file in exchange.read(folder)]
    await build_first(resolved)
    taken, placed = ImportedReplies(), set[tuple[int, tuple[str, str]]]()
    for infer in filter(None, (job.infer_job() for job in resolved.jobs)):
        of_job = [(number, file.replies) for number, file in enumerate(files) if file.is_asked(infer)]
        file_of = {step: number for number, replies in reversed(of_job) for step in replies}
        texts = {step: files[number].replies[step] for step, number in file_of.items()}
        calls = await place_replies(infer, resolved.lake, texts)
        placed |= {(file_of[step], step) for step in calls}
        rows = {call.key: journal_row(call, ChatReply(text=text, latency_s=None)) for call, text in calls.values()}
        add_replies([*rows.values()], folder, resolved.lake.state / JOURNAL, taken)
    if left := sum(len(file.replies) for file in files) - len(placed):
        taken.refuse("plan_asks_it_once", left)
    return taken
