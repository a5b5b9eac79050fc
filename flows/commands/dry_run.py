"""Forecast a run on a terminal, without calling a model."""

from rich.console import RenderableType

from flows.build import build_datasets
from flows.commands.console import CommandResult, terminal_table
from flows.commands.run_view import missing_lines
from flows.planning.forecast import forecast_run
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import require_asked
from flows.runtime.prefect_server import on_server
from schemas.documents.forecast import RunForecast
from schemas.lineage import Missing
from schemas.table import Column, Table, Value
from schemas.usage import Expectation
from tasks.models.cost import check_budget
from tasks.text.number_format import count


async def run_dry(resolved: ResolvedPlan) -> CommandResult:
    """Build the items of a plan and forecast what asking them would take."""
    check_budget(resolved.stated)  # before anything is built
    document = await forecast_run(resolved, await build_first(resolved))
    return CommandResult(0, document, [*_forecast_view(document), *missing_lines(document.missing)])


async def build_first(resolved: ResolvedPlan) -> tuple[Missing, ...]:
    """Build what the jobs of a plan ask about unless that is there; return what is missing."""
    resolved.lake.require_writable()
    missing = resolved.missing
    if not all(resolved.find_built(selected) for selected in resolved.selected):
        missing = (await on_server(lambda: build_datasets(resolved))).missing
    require_asked(resolved)
    return missing


def _forecast_view(document: RunForecast) -> list[RenderableType]:
    """Return a dry run for a terminal."""
    amounts = ("To send", "In the journal", "In the lake", "Prompt tokens", "Reply tokens")
    names = (Column("Dataset"), Column("Model"), Column("Role"))
    columns = (*names, *(Column(title, "count") for title in amounts), Column("Cost", "money", currency=document.currency))
    rows = [
        *((row.dataset, row.model, row.role, *_amounts(row)) for row in document.datasets),
        *(("all", row.model, row.role, *_amounts(row)) for row in document.models),
        ("all", "all", "", *_amounts(document.total)),
    ]
    return [
        terminal_table(Table(columns, rows, "Dry run")),
        "Calls are counted, tokens and cost estimated.",
        *(f"{row.model} ({row.role}): {row.basis}" for row in document.models),
        *document.notes,
    ]


def _amounts(row: Expectation) -> tuple[Value, ...]:
    calls = f"≤ {count(row.calls)}" if row.upper_bound else row.calls
    return (calls, row.in_journal, row.stored, row.prompt_tokens, row.completion_tokens, row.cost)
