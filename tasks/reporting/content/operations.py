"""Describe the calls, failures, tokens, cost and latency of a run."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from schemas.lineage import PartitionRef
from schemas.usage import TESTED, Amounts, Usage, by_model
from tasks.models.http.failures import FAILURE_KINDS
from tasks.runs.failures import NOT_SENT
from tasks.runs.run_tables import ReportData, Row, System
from tasks.text.number_format import NONE, count, counted, listed, money


def failure_rows(data: ReportData) -> list[Row]:
    """Return failed calls by system, whoever was asked for it, and kind, the most frequent first within each system.

    A row has system, failure, calls, datasets, example (the error of one of them) and remedy.
    """
    grouped = (
        data.responses.filter(pl.col("status") == "failed", pl.col("failure") != NOT_SENT)
        .group_by("model", "setting", "role", "asked_model", "failure")
        .agg(calls=pl.len(), datasets=pl.col("dataset").n_unique(), example=pl.col("error").drop_nulls().sort().first())
        .with_columns(pl.col("failure").cast(pl.String))
        .sort(["model", "setting", "role", "calls", "failure"], descending=[False, False, False, True, False])
    )
    return [
        {**row, "system": _whose(row), "remedy": FAILURE_KINDS[row["failure"]].remedy} for row in grouped.iter_rows(named=True)
    ]


def _whose(row: Row) -> str:
    label = System(row["model"], row["setting"]).label
    return label if row["role"] == TESTED else f"{row['asked_model']} as {row['role']} of {label}"


def judge_failure_rows(data: ReportData) -> list[Row]:
    """Return items without a usable judgement, by system and dataset: rows with system, dataset and n_items."""
    grouped = (
        data.item_scores.filter(pl.col("status") == "judge_failed")
        .group_by("model", "setting", "dataset")
        .agg(n_items=pl.struct("item_id", "repetition").n_unique())
        .sort("model", "setting", "dataset")
    )
    return [{**row, "system": System(row["model"], row["setting"]).label} for row in grouped.iter_rows(named=True)]


def usage_rows(data: ReportData) -> list[Row]:
    """Return calls, tokens and latency of answered calls, of the model under test of each system.

    Token sums are null if the server never counted them; `uncounted` answers are in none of them.
    """
    answered = pl.col("status") == "answered"
    counted = answered & pl.col("prompt_tokens").is_not_null() & pl.col("completion_tokens").is_not_null()
    latency = pl.col("latency_s").filter(answered)
    amounts = {
        "calls": pl.len(),
        "answered": answered.sum(),
        "failed": (~answered).sum(),
        "cut_off": (answered & (pl.col("finish_reason") == "length")).sum(),
        **{
            name: pl.when(counted.any()).then(pl.col(name).filter(counted).sum())
            for name in ("prompt_tokens", "completion_tokens")
        },
        "uncounted": (answered & ~counted).sum(),
        "latency_median_s": latency.quantile(0.5, "linear"),
        "latency_p95_s": latency.quantile(0.95, "linear"),
    }
    of_tested = data.responses.filter(pl.col("role") == TESTED)
    return [{"system": system.label, **system.of(of_tested).select(**amounts).row(0, named=True)} for system in data.systems]


HEADS = (
    *("Replies", "Sent", "From the journal", "Prompt tokens", "Reply tokens", "Cost"),
    *("Prompt tokens sent now", "Reply tokens received now", "Paid now"),
)
_SPACE = "\u00a0"


def cost_notes(rows: Sequence[Usage], refs: Iterable[PartitionRef] = ()) -> Iterator[str]:
    """Return what a reader of a run's usage has to know: prices not known, tokens not counted, calls not made."""
    unpriced = [row.model for row in by_model(rows) if row.cost is None and row.prompt_tokens is not None]
    if unpriced:
        yield no_price(dict.fromkeys(unpriced))
    if uncounted := sum(row.uncounted for row in rows):
        yield (
            f"{counted(uncounted, 'answer')} came without token counts: the sums are lower bounds. "
            "A budget counts such answers by estimate."
        )
        if any(ref.layer == "contexts" for ref in refs):
            yield "Without token counts it cannot be seen whether a server cut a long prompt; moodflow models check tries one."
    if unsent := sum(row.unsent for row in rows):
        of = f"{count(unsent)} of {counted(sum(row.calls for row in rows), 'call')}"
        yield f"{of} not sent: the budget was spent. The same command with a larger budget goes on."


def no_price(models: Iterable[str]) -> str:
    """Say that costs are not known, and what to do about it."""
    return (
        f"No price is known of {listed(list(models))}, so neither is any cost with a share of it; --set prices=FILE names prices."
    )


def amount_cells(row: Amounts, currency: str | None) -> list[str]:
    """Return one row of amounts under HEADS; a lower bound says so."""
    least = "≥" + _SPACE if row.uncounted else ""
    prompt, completion, cost = count(row.prompt_tokens), count(row.completion_tokens), money(row.cost, currency)
    behind = [text if text == NONE else least + text for text in (prompt, completion, cost)]
    paid = [count(row.paid_prompt_tokens), count(row.paid_completion_tokens), money(row.paid_cost, currency)]
    return [count(row.calls), count(row.sent), count(row.from_journal), *behind, *paid]
