"""Tokens and cost of a run, as readers see them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.lineage import PartitionRef, RunManifest
from schemas.usage import Amounts, ModelUsage, Role, Usage, by_model, total
from tasks.analysis.number_format import NONE, count, counted, listed
from tasks.reporting.render.markup import cell, table

HEADS = (
    "Replies",
    "Sent",
    "From the journal",
    "Prompt tokens",
    "Reply tokens",
    "Cost",
    "Prompt tokens sent now",
    "Reply tokens received now",
    "Paid now",
)
_SPACE = "\u00a0"

_HELPED: Mapping[str, Role] = {"coem": "sage", "self_rag": "critic"}
"""Settings in which a helper is asked, whose tokens no layer keeps."""


@dataclass(frozen=True)
class Costs:
    """What a run took. `total` sums all models; `currency` is null if no price table was named."""

    currency: str | None
    models: tuple[ModelUsage, ...]
    datasets: tuple[Usage, ...]
    total: Amounts
    notes: tuple[str, ...]


def describe_costs(manifest: RunManifest) -> Costs | None:
    """Tokens and cost of a run; null in manifests that recorded none."""
    if not manifest.usage:
        return None
    return Costs(
        currency=manifest.currency,
        models=by_model(manifest.usage),
        datasets=manifest.usage,
        total=total(manifest.usage),
        notes=tuple(cost_notes(manifest.usage, manifest.partitions)),
    )


def cost_notes(rows: Sequence[Usage], refs: Iterable[PartitionRef] = ()) -> Iterator[str]:
    """What a reader of the numbers has to know: prices that are not known, tokens that were not counted, calls not made.

    Args:
        rows: usage of a run.
        refs: partitions of the run.
    """
    unpriced = [row.model for row in by_model(rows) if row.cost is None and row.prompt_tokens is not None]
    if unpriced:
        yield no_price(dict.fromkeys(unpriced))
    if uncounted := sum(row.uncounted for row in rows):
        yield (
            f"{counted(uncounted, 'answer')} came without token counts: the sums are lower bounds. "
            "A budget counts such answers by estimate."
        )
    if unsent := sum(row.unsent for row in rows):
        yield f"{counted(unsent, 'call')} not sent: the budget was spent. The same command with a larger budget goes on."
    yield from _unknown_helpers(rows, refs)


def _unknown_helpers(rows: Sequence[Usage], refs: Iterable[PartitionRef]) -> Iterator[str]:
    retrieved = [(ref.key("dataset"), ref.key("setting")) for ref in refs if ref.layer == "retrievals"]
    for setting, role in _HELPED.items():
        known = {row.dataset for row in rows if row.role == role}
        unknown = {dataset for dataset, asked in retrieved if asked == setting} - known
        if unknown:
            about = f"What the {role.capitalize()} used is left out for {counted(len(unknown), 'dataset')}"
            yield f"{about}: this run found its replies in the lake, and their tokens are told by the run that asked for them."


def no_price(models: Iterable[str]) -> str:
    """That costs are not known, and what to do about it."""
    return (
        f"No price is known of {listed(list(models))}, so neither is any cost with a share of it; --set prices=FILE names prices."
    )


def money(value: float | None, currency: str | None) -> str:
    """An amount of money, as many decimals as a small one needs."""
    if value is None:
        return NONE
    unit = f"{_SPACE}{currency}" if currency else ""
    if value == 0:
        return f"0{unit}"
    for least, digits in ((1, 2), (0.01, 4), (0.000001, 6)):
        if value >= least:
            return f"{value:,.{digits}f}{unit}"
    return f"under 0.000001{unit}"


def amount_cells(row: Amounts, currency: str | None) -> list[str]:
    """One row of amounts under HEADS; a lower bound says so."""
    least = "≥" + _SPACE if row.uncounted else ""
    prompt, completion, cost = count(row.prompt_tokens), count(row.completion_tokens), money(row.cost, currency)
    behind = [text if text == NONE else least + text for text in (prompt, completion, cost)]
    paid = [count(row.paid_prompt_tokens), count(row.paid_completion_tokens), money(row.paid_cost, currency)]
    return [count(row.calls), count(row.sent), count(row.from_journal), *behind, *paid]


def write_costs(costs: Costs | None) -> Iterator[str]:
    """Section of the markdown report: by model, of the run, and by dataset."""
    yield "## Tokens and cost"
    if costs is None:
        yield "The manifest of this run records none."
        return
    for note in costs.notes:
        yield cell(note)
    rows = [[cell(row.model), row.role, *amount_cells(row, costs.currency)] for row in costs.models]
    if len(rows) > 1:
        rows.append(["All models", "", *amount_cells(costs.total, costs.currency)])
    yield table(["Model", "Role", *HEADS], rows)
    parts = [[cell(row.dataset), cell(row.model), row.role, *amount_cells(row, costs.currency)] for row in costs.datasets]
    yield table(["Dataset", "Model", "Role", *HEADS], parts)
    yield "Replies are those behind the scores, whoever paid for them; sent, received and paid now is what this run added."
