"""Calls, tokens and cost behind the numbers of a run, and of what the run itself has sent."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from pydantic import Field

from schemas.base import Frozen
from schemas.vocabulary import PaidAs

Role = str
"""Part of a model in a run: `tested` is the model under test, `judge` and `panel` rate, any other one is a solver's helper."""

TESTED: Role = "tested"


class Amounts(Frozen):
    """Calls, tokens and cost.

    Token counts are the server's. An answer without them is in `uncounted` and in no sum: where `uncounted` is not 0, tokens and
    cost are lower bounds. Tokens are null where answers came and none was counted, costs where a price is not known.
    """

    calls: int = Field(default=0, ge=0, description="replies behind the numbers, from journal or server")
    from_journal: int = Field(default=0, ge=0, description="of the calls, found in the journal by this run")
    sent: int = Field(default=0, ge=0, description="of the calls, sent by this run")
    unsent: int = Field(default=0, ge=0, description="of the calls, not made because the budget was spent")
    failed: int = Field(default=0, ge=0, description="of the calls, made but not answered")
    prompt_tokens: int | None = Field(default=0, ge=0, description="of all replies behind the numbers")
    completion_tokens: int | None = Field(default=0, ge=0, description="of all replies behind the numbers")
    paid_prompt_tokens: int | None = Field(default=0, ge=0, description="of what this run sent")
    paid_completion_tokens: int | None = Field(default=0, ge=0, description="of what this run sent")
    uncounted: int = Field(default=0, ge=0, description="answers whose tokens the server did not count")
    cost: float | None = Field(default=None, ge=0, description="of all replies behind the numbers; null = price unknown")
    paid_cost: float | None = Field(default=None, ge=0, description="of what this run sent; null = price unknown")


class Usage(Amounts):
    """Usage of one model for one dataset, over all settings, of the calls that were paid in one way."""

    dataset: str
    model: str
    role: Role
    paid_as: PaidAs = Field(default="live", description="live, also where it is not known; by a batch, or by a file")


class ModelUsage(Amounts):
    """Usage of one model in a run, over all datasets."""

    model: str
    role: Role


class Expectation(Frozen):
    """Calls that remain to be sent: counts are exact, tokens and cost are estimates."""

    calls: int = Field(default=0, ge=0, description="to be sent")
    in_journal: int = Field(default=0, ge=0, description="answered by the journal; not paid again")
    stored: int = Field(default=0, ge=0, description="answered in the lake already")
    prompt_tokens: int = Field(default=0, ge=0, description="of the calls to be sent, estimated")
    completion_tokens: int = Field(default=0, ge=0, description="of the calls to be sent, estimated")
    cost: float | None = Field(default=0, ge=0, description="of the calls to be sent, estimated; null = price unknown")
    upper_bound: bool = Field(default=False, description="fewer calls may be needed")

    def __add__(self, other: "Expectation") -> "Expectation":
        counts = ("calls", "in_journal", "stored", "prompt_tokens", "completion_tokens")
        sums = {name: getattr(self, name) + getattr(other, name) for name in counts}
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Expectation(**sums, cost=cost, upper_bound=self.upper_bound or other.upper_bound)


COUNTS = ("calls", "from_journal", "sent", "unsent", "failed", "uncounted")
TOKENS = ("prompt_tokens", "completion_tokens", "paid_prompt_tokens", "paid_completion_tokens")
COSTS = {"cost": "prompt_tokens", "paid_cost": "paid_prompt_tokens"}
"""Each cost with the tokens that say whether there is anything to pay."""


_group = attrgetter("dataset", "model", "role", "paid_as")


def total(rows: Sequence[Amounts]) -> Amounts:
    """Sum amounts.

    Tokens are null if none were counted although there were answers. A cost is null as soon as tokens of one row have no price: a
    part of the cost is not the whole.
    """
    counts = {name: sum(getattr(row, name) for row in rows) for name in COUNTS}
    tokens = {name: _tokens([getattr(row, name) for row in rows]) for name in TOKENS}
    costs = {name: _cost(rows, name, of) for name, of in COSTS.items()}
    return Amounts.model_validate({**counts, **tokens, **costs})


def merge(rows: Iterable[Usage]) -> tuple[Usage, ...]:
    """Merge into one row per dataset, model, role and way of paying, sorted by these."""
    ordered = sorted(rows, key=_group)
    return tuple(
        Usage(dataset=dataset, model=model, role=role, paid_as=paid_as, **total(list(group)).model_dump())
        for (dataset, model, role, paid_as), group in groupby(ordered, key=_group)
    )


def by_model(rows: Iterable[Usage]) -> tuple[ModelUsage, ...]:
    """Merge into one row per model and role: tested models first, then the judge, then others by role."""
    ordered = sorted(rows, key=_model)
    return tuple(
        ModelUsage(model=model, role=role, **total(list(group)).model_dump())
        for (_, _, role, model), group in groupby(ordered, key=_model)
    )


def _model(row: Usage) -> tuple[bool, bool, Role, str]:
    return row.role != "tested", row.role != "judge", row.role, row.model


def _tokens(counts: Sequence[int | None]) -> int | None:
    counted = sum(count for count in counts if count is not None)
    return None if not counted and None in counts else counted


def _cost(rows: Sequence[Amounts], cost: str, tokens: str) -> float | None:
    counted = [getattr(row, cost) for row in rows if getattr(row, tokens) is not None]
    return None if not counted or None in counted else sum(counted)
