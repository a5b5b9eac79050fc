"""Read price tables, find a model's price, and price what was used."""

from collections.abc import Iterable
from pathlib import Path

from schemas.errors import UsageError, summarize
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan
from schemas.provider import FREE, PriceTable, Rate
from schemas.usage import Usage


def load_prices(path: Path | None) -> PriceTable | None:
    """Read a price table from a YAML file; null where none is named. One that breaks a rule is a UsageError."""
    if path is None:
        return None
    try:
        return PriceTable.model_validate(read_yaml(read_text(path)))
    except (OSError, ValueError) as error:
        raise UsageError(
            "the price table cannot be read",
            where=str(path),
            expected="currency and a list of prices, as docs/cost.md shows",
            got=summarize(error),
            next_step="correct the file, or leave --set prices (or MOODFLOW_PRICES) out",
        ) from error


def find_rate(model: str, base_url: str | None, table: PriceTable | None) -> Rate | None:
    """Find what a model's tokens cost; null if the table does not say. A model without a server is the embedded one and free."""
    if base_url is None:
        return FREE
    return table.find(model, base_url) if table else None


def check_budget(plan: Plan) -> PriceTable | None:
    """Return the plan's price table; UsageError, naming the models, if cost is limited and a model has no price."""
    table = load_prices(plan.prices)
    unknown = [entry.name for entry in plan.entries if find_rate(entry.name, entry.base_url, table) is None]
    if plan.budget is not None and unknown:
        raise UsageError(
            f"a budget needs a price for every model, and there is none for {', '.join(dict.fromkeys(unknown))}",
            where="--set budget",
            expected="an entry under `prices` that fits each model's name and server",
            got="no price table" if table is None else f"a table of {len(table.prices)} prices in {table.currency}",
            next_step="name a table with --set prices=FILE (docs/cost.md has the format), or limit tokens with --budget-tokens",
        )
    return table


def price_usage(rows: Iterable[Usage], plan: Plan, table: PriceTable | None) -> tuple[Usage, ...]:
    """Return the same rows with their costs; null where the price of a row's model, in its role for its dataset, is not known."""
    priced = []
    for row in rows:
        named = plan.role_models(row.role, row.dataset) or plan.models
        entry = next((entry for entry in named if entry.name == row.model), None)
        rate = find_rate(entry.name, entry.base_url, table) if entry else None
        cost = _cost(rate, row.prompt_tokens, row.completion_tokens)
        paid = _cost(rate, row.paid_prompt_tokens, row.paid_completion_tokens)
        priced.append(row.model_copy(update={"cost": cost, "paid_cost": paid}))
    return tuple(priced)


def _cost(rate: Rate | None, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
    if rate is None or prompt_tokens is None or completion_tokens is None:
        return None
    return rate.cost(prompt_tokens, completion_tokens)
