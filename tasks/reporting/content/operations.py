"""Describe the calls, failures, tokens, cost and latency of a run."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from schemas.lineage import PartitionRef
from schemas.table import Cell, Column, Table, Value, columns
from schemas.usage import TESTED, Amounts, ModelUsage, Usage, by_model, total
from tasks.models.http.failures import FAILURE_KINDS
from tasks.runs.failures import NOT_SENT
from tasks.runs.run_tables import ReportData, System
from tasks.solvers.registry import setting_title
from tasks.text.number_format import count, counted, shorten

MOST_NAMES = 3


def failures_table(data: ReportData) -> Table:
    """Return failed calls by system, whoever was asked for it, and kind, the most frequent first within each system."""
    grouped = (
        data.responses.filter(pl.col("status") == "failed", pl.col("failure") != NOT_SENT)
        .group_by("model", "setting", "role", "asked_model", "failure")
        .agg(calls=pl.len(), datasets=pl.col("dataset").n_unique(), example=pl.col("error").drop_nulls().sort().first())
        .with_columns(pl.col("failure").cast(pl.String))
        .sort(["model", "setting", "role", "calls", "failure"], descending=[False, False, False, True, False])
    )
    rows = []
    for model, setting, role, asked_model, failure, calls, datasets, example in grouped.iter_rows():
        label = System(model, setting).label
        name = label if role == TESTED else f"{asked_model} as {role} of {label}"
        error = None if example is None else shorten(example, 160)
        rows.append((name, failure, calls, datasets, error, FAILURE_KINDS[failure].remedy))
    heads = (Column("Model", "name"), Column("Kind", "code"), *columns("count", "Calls", "Datasets"))
    return Table((*heads, *columns("text", "One of the errors", "What to do")), rows, "Failed calls by kind")


def judge_failures_table(data: ReportData) -> Table:
    """Return items without a usable judgement, by system and dataset."""
    grouped = (
        data.item_scores.filter(pl.col("status") == "judge_failed")
        .group_by("model", "setting", "dataset")
        .agg(pl.struct("item_id", "repetition").n_unique())
        .sort("model", "setting", "dataset")
    )
    rows = [(System(model, setting).label, data.title_of(dataset), n) for model, setting, dataset, n in grouped.iter_rows()]
    return Table((*columns("name", "Model", "Dataset"), Column("Items", "count")), rows, "Missing ratings")


def latency_table(data: ReportData) -> Table:
    """Return calls, tokens and latency of answered calls, of the model under test of each system.

    Token sums are null if the server never counted them; answers that it did not count are in none of them.
    """
    answered = pl.col("status") == "answered"
    counted = answered & pl.col("prompt_tokens").is_not_null() & pl.col("completion_tokens").is_not_null()
    latency = pl.col("latency_s").filter(answered)
    amounts = {
        "Replies asked": pl.len(),
        "Answered": answered.sum(),
        "Failed": (~answered).sum(),
        "Cut off": (answered & (pl.col("finish_reason") == "length")).sum(),
        "Prompt tokens": pl.when(counted.any()).then(pl.col("prompt_tokens").filter(counted).sum()),
        "Reply tokens": pl.when(counted.any()).then(pl.col("completion_tokens").filter(counted).sum()),
        "Not counted": (answered & ~counted).sum(),
        "Median latency": latency.quantile(0.5, "linear"),
        "95th percentile": latency.quantile(0.95, "linear"),
    }
    *counts, median, most = amounts
    of_tested = data.responses.filter(pl.col("role") == TESTED)
    rows = [(system.label, *system.of(of_tested).select(**amounts).row(0)) for system in data.systems]
    heads = (Column("Model", "name"), *columns("count", *counts), *columns("time", median, most))
    return Table(heads, rows, "Tokens and latency")


def missing_table(data: ReportData) -> Table:
    """Return datasets that have no score, or not over all their rows."""
    heads = (*columns("name", "Dataset", "Model", "Setting"), *columns("text", "Reason", "Next step"))
    rows = [
        (data.title_of(gap.dataset), gap.model or "all", setting_title(gap.setting or "all"), gap.reason, gap.next_step)
        for gap in data.manifest.missing
    ]
    return Table(heads, rows, "Datasets without a score, or not over all their rows")


def amount_columns(currency: str | None) -> tuple[Column, ...]:
    """Return the columns of `amount_values`."""
    behind = columns("count", "Replies", "Sent", "From the journal", "Prompt tokens", "Reply tokens")
    now = columns("count", "Prompt tokens sent now", "Reply tokens received now")
    return (*behind, Column("Cost", "money", currency=currency), *now, Column("Paid now", "money", currency=currency))


def amount_values(row: Amounts) -> tuple[Value, ...]:
    """Return the values of one row of amounts; a lower bound says so."""
    least = "or more" if row.uncounted else ""
    behind = (Cell(value, least if value is not None else "") for value in (row.prompt_tokens, row.completion_tokens, row.cost))
    paid = (row.paid_prompt_tokens, row.paid_completion_tokens, row.paid_cost)
    return (row.calls, row.sent, row.from_journal, *behind, *paid)


def model_costs_table(models: Sequence[ModelUsage], currency: str | None) -> Table:
    """Return tokens and cost by model, and of all."""
    rows = [(row.model, row.role, *amount_values(row)) for row in models]
    sums = [("All models", "", *amount_values(total(models)))] if len(rows) > 1 else []
    return Table((*columns("name", "Model", "Role"), *amount_columns(currency)), [*rows, *sums], "Tokens and cost by model")


def dataset_costs_table(data: ReportData) -> Table:
    """Return tokens and cost by dataset, model and role."""
    rows = [(data.title_of(row.dataset), row.model, row.role, row.paid_as, *amount_values(row)) for row in data.manifest.usage]
    heads = columns("name", "Dataset", "Model", "Role", "Paid")
    table = Table((*heads, *amount_columns(data.manifest.currency)), rows, "Tokens and cost by dataset")
    return table if {row.paid_as for row in data.manifest.usage} - {"live"} else table.without_constant("Paid")


def cost_notes(rows: Sequence[Usage], refs: Iterable[PartitionRef] = ()) -> Iterator[str]:
    """Return what a reader of a run's usage has to know: prices not known, tokens not counted, calls not made."""
    unpriced = [row.model for row in by_model(rows) if row.cost is None and row.prompt_tokens is not None]
    if unpriced:
        yield no_price(dict.fromkeys(unpriced))
    for way, words in (("batch", "paid at the price of batches"), ("file", "replies from a file, whose cost is not known")):
        if calls := sum(row.calls for row in rows if row.paid_as == way):
            yield f"{counted(calls, 'call')} of {count(sum(row.calls for row in rows))}: {words}."
    if uncounted := sum(row.uncounted for row in rows):
        yield (
            f"{counted(uncounted, 'answer')} came without token counts: the sums are lower bounds. "
            "A budget counts such answers by estimate."
        )
        if any(ref.layer == "contexts" for ref in refs):
            yield "Without token counts it cannot be seen whether a server cut a long prompt; moodflow models check tries one."
    if unsent := sum(row.unsent for row in rows):
        of = f"{count(unsent)} of {counted(sum(row.calls for row in rows), 'call')}"
        yield f"{of} not sent: the budget was spent. The same command with a larger budget continues."


def no_price(models: Iterable[str]) -> str:
    """Say that costs are not known, and what to do about it."""
    names = [*models]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Cost unknown: no prices for {', '.join(names[:MOST_NAMES])}{more}. Add them with --set prices=FILE."
