"""Keep a run within its budget of tokens and cost: a call that would exceed it is not sent.

A call is estimated and reserved before it is sent; the server's counts replace the estimate when its reply is there. What is in
flight counts as reserved, so that the budget is overshot at most by what the estimates of the calls in flight are wrong.
Replies from the journal never come here: they are paid for.
"""

from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.pricing import PriceTable, Rate
from tasks.models.cost.estimate import Estimator, Expected
from tasks.models.cost.pricing import find_rate

ROUNDING = 1e-9
"""Share of the budget that sums of fractions of a cent may be off."""


class Reservation(NamedTuple):
    """A call in flight: what it is expected to use, at which price, and whether estimates learn from its reply."""

    expected: Expected
    rate: Rate | None
    learns: bool

    @property
    def tokens(self) -> float:
        """Prompt and completion together."""
        return self.expected.prompt_tokens + self.expected.completion_tokens

    @property
    def cost(self) -> float:
        """Zero where no price is known; a cost limit is refused then."""
        return self.rate.cost(self.expected.prompt_tokens, self.expected.completion_tokens) if self.rate else 0.0


class Budget:
    """What a run may use, shared by all its endpoints, in one event loop.

    Args:
        tokens: most tokens, prompts and replies together; null = no limit.
        cost: highest cost, in the currency of the prices; null = no limit.
        prices: price table; every model must have a price if `cost` is limited (`pricing.require_rates`).
        estimator: with what is known of the models; it learns from the replies of the run. Null = nothing is known.
    """

    def __init__(
        self,
        tokens: int | None = None,
        cost: float | None = None,
        prices: PriceTable | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self._limits = (tokens, cost)
        self._prices = prices
        self._estimator = estimator or Estimator()
        self._reserved: dict[float, Reservation] = {}
        self._numbers = count(1)
        self._in_flight = [0.0, 0.0]
        self.spent_tokens = 0.0
        self.spent_cost = 0.0
        self.refused = 0
        self.uncounted = 0

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit; without one nothing is estimated."""
        return self._limits != (None, None)

    def account(self, entry: ModelEntry, *, learns: bool = True) -> "BudgetAccount":
        """Return the account of one endpoint's client; `learns` is false for calls unlike a run's, such as a probe's."""
        return BudgetAccount(self, entry.base_url, self._prices, learns)

    def reserve(self, request: ChatRequest, rate: Rate | None, *, learns: bool = True) -> float | None:
        """Set aside what a call will probably use.

        Args:
            request: the call.
            rate: its price; null = not known.
            learns: whether estimates of later calls follow its reply.

        Returns:
            Number of the reservation, for `settle`; null if the call would exceed the budget.
        """
        if not self.is_limited:
            return 0
        wanted = Reservation(self._estimator.expect(request), rate, learns)
        if self._exceeds(wanted):
            self.refused += 1
            return None
        number = next(self._numbers)
        self._reserved[number] = wanted
        self._in_flight = [self._in_flight[0] + wanted.tokens, self._in_flight[1] + wanted.cost]
        return number

    def settle(self, reserved: float, reply: ChatReply) -> None:
        """Replace a reservation by what its call has used.

        A failed call whose tokens the server did not count sets everything free that was reserved for it.
        """
        if not self.is_limited:
            return
        was = self._reserved.pop(reserved)
        # Without calls in flight exactly zero: sums of floats would leave a rest.
        rest = [self._in_flight[0] - was.tokens, self._in_flight[1] - was.cost]
        self._in_flight = rest if self._reserved else [0.0, 0.0]
        used = self._estimator.count(was.expected, reply)
        self.spent_tokens += used.prompt + used.completion
        self.spent_cost += was.rate.cost(used.prompt, used.completion) if was.rate else 0.0
        self.uncounted += not used.counted
        if was.learns and reply.failure is None and reply.prompt_tokens is not None and reply.completion_tokens is not None:
            self._estimator.learn(was.expected.measure, reply.prompt_tokens, reply.completion_tokens)

    def _exceeds(self, wanted: Reservation) -> bool:
        totals = (
            self.spent_tokens + self._in_flight[0] + wanted.tokens,
            self.spent_cost + self._in_flight[1] + wanted.cost,
        )
        return any(limit is not None and used > limit * (1 + ROUNDING) for used, limit in zip(totals, self._limits, strict=True))


@dataclass(frozen=True)
class BudgetAccount:
    """A budget as the client of one endpoint sees it."""

    budget: Budget
    base_url: str | None
    prices: PriceTable | None
    learns: bool

    def reserve(self, request: ChatRequest) -> float | None:
        """Ask whether a call may be sent; null = it would exceed the budget."""
        return self.budget.reserve(request, find_rate(request.model, self.base_url, self.prices), learns=self.learns)

    def settle(self, reserved: float, reply: ChatReply) -> None:
        """Tell what became of a call that was allowed; once for each."""
        self.budget.settle(reserved, reply)
