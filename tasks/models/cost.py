"""Price tokens, estimate those of calls, and keep a run within its budget: a call that would exceed it is not sent.

Estimates are documented guesses at first, then what replies have shown: per model and script the ratio of counted to guessed
prompt tokens, and per model the mean length of its replies, those of a judge apart.

A call is estimated and reserved before it is sent; the server's counts replace the estimate when its reply is there. What is in
flight counts as reserved, so that the budget is overshot at most by what the estimates of the calls in flight are wrong.
What would exceed the budget waits for calls in flight, which may need less than was reserved for them.
Replies from the journal never come here: they are paid for.
"""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from schemas.chat import FILE_PREFIX, ChatReply, ChatRequest, ModelEntry
from schemas.errors import UsageError, summarize
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan
from schemas.provider import FREE, PriceTable, Rate
from schemas.usage import Usage
from schemas.vocabulary import PaidAs


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
            expected="currency and a list of prices, as moodflow docs cost shows",
            got=summarize(error),
            next_step="correct the file, or remove --set prices (MOODFLOW_PRICES)",
        ) from error


def find_rate(model: str, base_url: str | None, table: PriceTable | None, paid_as: PaidAs = "live") -> Rate | None:
    """Find what a model's tokens cost; null = the table does not say. The embedded model and files are free."""
    if base_url is None or base_url.startswith(FILE_PREFIX):
        return FREE
    price = table.find(model, base_url) if table else None
    return price.of(paid_as) if price else None


def check_budget(plan: Plan) -> PriceTable | None:
    """Return the plan's price table; UsageError, naming the models, if cost is limited and a model has no price."""
    table = load_prices(plan.prices)
    unknown = [entry.name for entry in plan.entries if find_rate(entry.name, entry.base_url, table, plan.paid_as) is None]
    if plan.budget is not None and unknown:
        raise UsageError(
            f"a budget needs a price for every model, and there is none for {', '.join(dict.fromkeys(unknown))}",
            where="--set budget",
            expected=f"an entry under `prices` for each model's name and server{', with a price of batches' * plan.batch}",
            got="no price table" if table is None else f"a table of {len(table.prices)} prices in {table.currency}",
            next_step="give a table with --set prices=FILE (format: moodflow docs cost), or limit tokens with --budget-tokens",
        )
    return table


def price_usage(rows: Iterable[Usage], plan: Plan, table: PriceTable | None) -> tuple[Usage, ...]:
    """Return the same rows with their costs; null where the price of a row's model, in its role for its dataset, is not known."""
    priced = []
    for row in rows:
        entries = plan.role_models(row.role, row.dataset) or plan.models
        entry = next((entry for entry in entries if entry.name == row.model), None)
        rate = find_rate(entry.name, entry.base_url, table, row.paid_as) if entry else None
        cost = _cost(rate, row.prompt_tokens, row.completion_tokens)
        paid = _cost(rate, row.paid_prompt_tokens, row.paid_completion_tokens)
        priced.append(row.model_copy(update={"cost": cost, "paid_cost": paid}))
    return tuple(priced)


def _cost(rate: Rate | None, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
    if rate is None or prompt_tokens is None or completion_tokens is None:
        return None
    return rate.cost(prompt_tokens, completion_tokens)


CHARACTERS_PER_TOKEN = 4.0
"""Of Latin and other alphabetic text, by guess."""

TOKENS_PER_CJK_CHARACTER = 1.0
"""Of Chinese, Japanese and Korean characters and their punctuation, by guess; vocabularies made for Chinese need fewer."""

TOKENS_PER_MESSAGE = 4.0
"""For the role and the marks around a message, by guess."""

FIRST_REPLY_SHARE = 0.25
"""Of `max_tokens`: length of a reply before one was seen, by guess."""

CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")

Script = Literal["cjk", "other"]


class Measure(NamedTuple):
    """What a call's estimate is learned under. `guessed` is the guess for its prompt, in tokens."""

    model: str
    judged: bool
    script: Script
    guessed: float


class Expected(NamedTuple):
    """Tokens a call will use as far as is known."""

    prompt_tokens: float
    completion_tokens: float
    measure: Measure


@dataclass
class _Sum:
    amount: float = 0.0
    parts: float = 0.0


@dataclass
class Estimator:
    """Estimate calls, and learn from replies."""

    _prompts: dict[tuple[str, Script], _Sum] = field(default_factory=dict)
    _replies: dict[tuple[str, bool], _Sum] = field(default_factory=dict)

    def expect(self, request: ChatRequest) -> Expected:
        """Estimate what a call will use; one that asks for a form of reply is a judge's.

        Of its prompt the guess, times how far guesses were off so far; of its reply the mean so far, before that a share of the
        most there can be.
        """
        texts = [message.content for message in request.messages]
        measure = measure_texts(request.model, texts, judged=request.json_schema is not None)
        prompts = self._prompts.get((measure.model, measure.script), _Sum(1.0, 1.0))
        replies = self._replies.get((measure.model, measure.judged), _Sum(FIRST_REPLY_SHARE * request.sampling.max_tokens, 1.0))
        return Expected(measure.guessed * (prompts.amount / prompts.parts), replies.amount / replies.parts, measure)

    def learn(self, measure: Measure, prompt_tokens: int, completion_tokens: int) -> None:
        """Take the server's counts of an answered call into account."""
        if measure.guessed:
            prompts = self._prompts.setdefault((measure.model, measure.script), _Sum())
            prompts.amount += prompt_tokens
            prompts.parts += measure.guessed
        replies = self._replies.setdefault((measure.model, measure.judged), _Sum())
        replies.amount += completion_tokens
        replies.parts += 1

    def count(self, expected: Expected, reply: ChatReply) -> tuple[float, float]:
        """Return the prompt and completion tokens that a call has used.

        The server's counts, nothing for a failure without them, else an estimate of what came.
        """
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            return reply.prompt_tokens, reply.completion_tokens
        if reply.failure is not None:
            return 0, 0
        return expected.prompt_tokens, guess_tokens((reply.reasoning or "") + (reply.text or ""))

    def seen(self, model: str, *, judged: bool) -> int:
        """Count the replies of a model that its estimates rest on; 0 = they are guesses."""
        replies = self._replies.get((model, judged))
        return int(replies.parts) if replies else 0


def measure_texts(model: str, texts: list[str], *, judged: bool) -> Measure:
    """Return what a call's tokens are learned under, by the texts of its conversation, one per message."""
    text = "".join(texts)
    guessed = guess_tokens(text)
    script: Script = "cjk" if len(CJK.findall(text)) * TOKENS_PER_CJK_CHARACTER > guessed / 2 else "other"
    return Measure(model, judged, script, guessed + TOKENS_PER_MESSAGE * len(texts))


def guess_tokens(text: str) -> float:
    """Guess the tokens of a text."""
    cjk = len(CJK.findall(text))
    return cjk * TOKENS_PER_CJK_CHARACTER + (len(text) - cjk) / CHARACTERS_PER_TOKEN


ROUNDING = 1e-9
"""Share of the budget that sums of fractions of a cent may be off."""


class Reservation(NamedTuple):
    """A call in flight: what it is expected to use, at which price, and how it is paid for."""

    expected: Expected
    rate: Rate | None
    paid_as: PaidAs = "live"

    @property
    def tokens(self) -> float:
        """Prompt and completion together."""
        return self.expected.prompt_tokens + self.expected.completion_tokens

    @property
    def cost(self) -> float:
        """Zero where no price is known; a cost limit is refused then."""
        return self.rate.cost(self.expected.prompt_tokens, self.expected.completion_tokens) if self.rate else 0.0


class Budget:
    """What a run may use, shared by all its endpoints, in one event loop; null = no limit.

    Every model must have a price if `cost` is limited (`pricing.check_budget`). The estimator learns from the replies of the run.

    Attributes:
        limits: of tokens and cost.
        used_tokens, used_cost: of calls that ended, and reserved by calls in flight.
        in_flight: live calls with a reservation; what a batch reserves is not waited for.
        settled: set for a moment whenever one of them has ended.
    """

    def __init__(
        self,
        tokens: int | None = None,
        cost: float | None = None,
        prices: PriceTable | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self.limits = (tokens, cost)
        self.prices = prices
        self.estimator = estimator or Estimator()
        self.used_tokens = self.used_cost = 0.0
        self.in_flight = 0
        self.settled = asyncio.Event()

    @property
    def share_used(self) -> float:
        """Return how much of it is used or reserved, 1 = all."""
        used = (self.used_tokens, self.used_cost)
        return max((amount / limit for amount, limit in zip(used, self.limits, strict=True) if limit is not None), default=0.0)

    def account(self, entry: ModelEntry, *, learns: bool = True) -> "BudgetAccount | None":
        """Return the account of one endpoint's client; null without any limit, since nothing is estimated then.

        It does not learn from calls unlike a run's, such as a probe's.
        """
        return None if self.limits == (None, None) else BudgetAccount(self, entry.base_url, learns)


@dataclass(frozen=True)
class BudgetAccount:
    """A budget as the client of one endpoint sees it."""

    budget: Budget
    base_url: str | None
    learns: bool

    def reserve(self, request: ChatRequest, paid_as: PaidAs = "live") -> Reservation | None:
        """Set aside what a call will probably use; null = that would exceed the budget, so it may not be sent."""
        budget = self.budget
        rate = find_rate(request.model, self.base_url, budget.prices, paid_as)
        wanted = Reservation(budget.estimator.expect(request), rate, paid_as)
        totals = (budget.used_tokens + wanted.tokens, budget.used_cost + wanted.cost)
        if any(limit is not None and used > limit * (1 + ROUNDING) for used, limit in zip(totals, budget.limits, strict=True)):
            return None
        budget.used_tokens, budget.used_cost = totals
        budget.in_flight += paid_as == "live"
        return wanted

    def settle(self, reserved: Reservation, reply: ChatReply) -> None:
        """Replace what was reserved for a call by what it has used; once for each.

        A failed call whose tokens the server did not count sets everything free that was reserved for it.
        """
        budget, rate = self.budget, reserved.rate
        prompt, completion = budget.estimator.count(reserved.expected, reply)
        budget.used_tokens += prompt + completion - reserved.tokens
        budget.used_cost += (rate.cost(prompt, completion) if rate else 0.0) - reserved.cost
        if self.learns and reply.failure is None and reply.prompt_tokens is not None and reply.completion_tokens is not None:
            budget.estimator.learn(reserved.expected.measure, reply.prompt_tokens, reply.completion_tokens)
        budget.in_flight -= reserved.paid_as == "live"
        budget.settled.set()
        budget.settled.clear()
