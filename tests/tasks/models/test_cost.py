"""Prices are found, refused and applied; what would exceed the budget is not sent, and counts replace estimates."""

import asyncio
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL, ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.errors import UsageError
from schemas.plan import Plan
from schemas.provider import FREE, Price, PriceTable
from schemas.usage import Usage
from tasks.models.cost import (
    Budget,
    BudgetAccount,
    Estimator,
    check_budget,
    find_rate,
    guess_tokens,
    load_prices,
    price_usage,
)
from tasks.models.http.client import HttpChat
from tasks.models.journal.journal import Journal, JournaledChat
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import request

SERVER = "http://localhost/v1"
ENTRY = ModelEntry(name="listener", base_url=SERVER)
CALL = replace(request("x" * 384), sampling=Sampling(max_tokens=400))
"""Estimated at first: 384 / 4 + 4 = 100 prompt tokens, 400 / 4 = 100 of the reply."""

REPLY = ChatReply(text="B", prompt_tokens=50, completion_tokens=10)


def prices(sent: float = 2.0, received: float = 10.0) -> PriceTable:
    price = Price(model="listener", input_per_million=sent, output_per_million=received, as_of=date(2026, 1, 31), source="a test")
    return PriceTable(currency="USD", prices=(price,))


def spend(account: BudgetAccount | None, call: ChatRequest = CALL, reply: ChatReply = REPLY) -> bool:
    """Make one call if the budget allows it."""
    assert account is not None
    reserved = account.reserve(call)
    if reserved is None:
        return False
    account.settle(reserved, reply)
    return True


def test_what_is_in_flight_is_reserved() -> None:
    account = Budget(tokens=500).account(ENTRY)
    assert account is not None
    first, second = account.reserve(CALL), account.reserve(CALL)
    assert first is not None
    assert second is not None
    assert account.reserve(CALL) is None
    account.settle(first, REPLY)
    # 60 spent, 200 reserved by the second call, 60 expected of the next ones: 320, 380, 440, 500.
    assert [account.reserve(CALL) is not None for _ in range(5)] == [True] * 4 + [False]


def test_money_by_hand() -> None:
    # 50 x 2 + 10 x 10 = 200 millionths per call, estimated at first 100 x 2 + 100 x 10 = 1,200.
    budget = Budget(cost=0.0013, prices=prices())
    account = budget.account(ENTRY)
    assert [spend(account) for _ in range(8)] == [True] * 6 + [False] * 2
    assert budget.used_cost == pytest.approx(0.0012)


def test_sums_of_fractions_do_not_cost_a_call() -> None:
    # 10 calls of 0.1 x 3 = 0.3 millionths are exactly the budget, though floats add up to a little more.
    account = Budget(cost=3e-6, prices=prices(0.1, 0)).account(ENTRY)
    call, reply = request("x" * 40), ChatReply(text="B", prompt_tokens=3, completion_tokens=0)
    assert [spend(account, call, reply) for _ in range(11)] == [True] * 10 + [False]


def test_uncounted_failed_call_frees_its_reservation() -> None:
    budget = Budget(tokens=200)
    account = budget.account(ENTRY)
    assert all(spend(account, reply=ChatReply(failure="http_5xx")) for _ in range(5))
    assert budget.used_tokens == 0
    assert spend(account, reply=replace(REPLY, text=None, failure="empty_content"))
    assert budget.used_tokens == 60
    # An empty answer is no measure of the others: 60 + 200 are too many.
    assert not spend(account)


def test_server_that_counts_nothing_is_counted_by_estimate() -> None:
    budget = Budget(tokens=500)
    account = budget.account(ENTRY)
    # Each takes 100 for the prompt and (30 + 10) / 4 for the reply, and 200 are expected of the next one: 330 + 200 are too many.
    reply = ChatReply(text="x" * 30, reasoning="x" * 10)
    assert [spend(account, reply=reply) for _ in range(4)] == [True, True, True, False]
    assert budget.used_tokens == 330


def test_a_probe_is_paid_for_and_teaches_nothing() -> None:
    budget = Budget(tokens=259)
    assert spend(budget.account(ENTRY, learns=False))
    assert budget.used_tokens == 60
    # Still 200 are expected of a call of the run, which is 1 too many.
    assert not spend(budget.account(ENTRY))


async def test_calls_are_counted_and_journaled_ones_free(tmp_path: Path) -> None:
    # The server counts 11 + 2 tokens per call. Expected of the first: 18 characters make 4.5 + 4 tokens, the reply a quarter of
    # 16, 12.5 in all. Five calls use 65 of 70, a sixth would need 13 more.
    async def run(tokens: int) -> list[str | None]:
        budget = Budget(tokens=tokens)
        entry = ModelEntry(name="listener", base_url=server.base_url, concurrency=1)
        async with (
            Journal(tmp_path / "replies.sqlite") as journal,
            HttpChat(entry, server.base_url, budget=budget.account(entry)) as client,
        ):
            chat = JournaledChat(client, journal)
            calls = [request(f"How are you, no {number:02}?", base_url=server.base_url) for number in range(8)]
            return [reply.failure for reply in await asyncio.gather(*(chat(call) for call in calls))]

    with ModelServer(lambda _messages: "B") as server:
        assert (await run(70)).count("budget") == 3
        assert server.calls == 5
        # The five are free now; the other three need 39.
        assert await run(39) == [None] * 8
        assert (server.calls, server.repeated) == (8, 0)


LATIN = replace(request("x" * 400), sampling=Sampling(max_tokens=200))
CHINESE = replace(LATIN, messages=(ChatMessage(role="user", content="心" * 100),))


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcdefgh", 2), ("心情", 2), ("心情。abcd", 4), ("カナ한글", 4), ("𠀀", 1)]
)
def test_guesses_by_script(text: str, tokens: float) -> None:
    # 4 characters of other scripts are a token, and so is 1 of Chinese, Japanese or Korean.
    assert guess_tokens(text) == tokens


def test_replies_correct_guesses_of_model_and_script() -> None:
    estimator = Estimator()
    estimator.learn(estimator.expect(LATIN).measure, 52, 10)
    estimator.learn(estimator.expect(LATIN).measure, 104, 20)
    # 156 counted tokens where 208 were guessed: 0.75; mean reply 15.
    assert estimator.expect(LATIN)[:2] == (78, 15)
    # Nothing is known of Chinese prompts yet, but replies have their mean.
    assert estimator.expect(CHINESE)[:2] == (104, 15)
    assert estimator.expect(replace(LATIN, model="other"))[:2] == (104, 50)


def test_a_judge_has_replies_of_its_own() -> None:
    estimator = Estimator()
    estimator.learn(estimator.expect(LATIN).measure, 104, 2)
    judging = replace(LATIN, json_schema="{}")
    assert estimator.expect(judging)[:2] == (104, 50)
    estimator.learn(estimator.expect(judging).measure, 104, 40)
    assert [estimator.expect(call).completion_tokens for call in (LATIN, judging)] == [2, 40]
    assert (estimator.seen("listener", judged=False), estimator.seen("listener", judged=True)) == (1, 1)


async def test_call_waits_for_smaller_ones_in_flight() -> None:
    # 19 / 4 + 4 tokens of the prompt and 100 / 4 of the reply are expected of each at first, so 3 fit in 110. They take 11 + 2,
    # with which all 8 fit.
    entry = ModelEntry(name="listener", base_url=SERVER)
    call = replace(request("How are you, no 01?"), sampling=Sampling(max_tokens=100))
    with ModelServer(lambda _messages: "B") as server:
        budget = Budget(tokens=110)
        async with HttpChat(entry, server.base_url, budget=budget.account(entry)) as client:
            replies = await asyncio.gather(*(client(call) for _ in range(8)))
    assert [reply.failure for reply in replies] == [None] * 8


ROOT = Path(__file__).resolve().parents[3]
VENDOR = "https://api.example.org/v1"
TABLE = """
currency: USD
prices:
  - {model: "large-mini*", input_per_million: 0.5, output_per_million: 2, as_of: 2026-01-31, source: "https://example.org/a"}
  - {model: "large*", input_per_million: 2.5, output_per_million: 10, as_of: 2026-01-31, source: "https://example.org/a"}
  - {model: "*", base_url: "http://localhost:80", input_per_million: 0, output_per_million: 0, as_of: 2026-01-31, source: own}
"""


@pytest.fixture
def table(tmp_path: Path) -> PriceTable:
    path = tmp_path / "prices.yaml"
    path.write_text(TABLE, encoding="utf-8")
    table = load_prices(path)
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("large-mini-2", VENDOR, 2.0),
        ("large-2", VENDOR, 10.0),
        ("Large-2", VENDOR, None),
        ("small", VENDOR, None),
        ("small", "http://localhost:80/v1", 0.0),
        # Port 80 is not the beginning of port 8000.
        ("small", "http://localhost:8000/v1", None),
    ],
)
def test_the_first_price_that_fits_counts(table: PriceTable, model: str, base_url: str, expected: float | None) -> None:
    rate = find_rate(model, base_url, table)
    assert (rate and rate.output_per_million) == expected


def test_without_table_only_embedded_model_has_price() -> None:
    assert find_rate("large", VENDOR, None) is None
    assert find_rate("smollm2", None, None) == FREE


def test_usage_is_priced_by_model_and_role(table: PriceTable) -> None:
    row = Usage(dataset="d", model="large", role="tested", prompt_tokens=1000, completion_tokens=100, paid_prompt_tokens=400)
    judge = row.model_copy(update={"role": "judge", "model": "small"})
    uncounted = row.model_copy(update={"prompt_tokens": None, "completion_tokens": None})
    small, large = ({"name": name, "base_url": VENDOR} for name in ("small", "large"))
    asked = plan(None, "large", roles={"judge": small, "panel": [large]})
    assert price_usage([row.model_copy(update={"role": "panel"})], asked, table)[0].cost == pytest.approx(0.0035)
    costs = [(done.cost, done.paid_cost) for done in price_usage([row, judge, uncounted], asked, table)]
    # 1,000 x 2.5 + 100 x 10 = 3,500 millionths; of this paid now 400 x 2.5 = 1,000.
    assert costs == [(pytest.approx(0.0035), pytest.approx(0.001)), (None, None), (None, pytest.approx(0.001))]


def plan(prices: Path | None, *names: str, **helpers: Any) -> Plan:
    """A plan whose cost is limited."""
    models = [{"name": name, "base_url": None if name == EMBEDDED_MODEL else VENDOR} for name in names]
    return Plan.model_validate({"benchmark": "longemotion", "models": models, "budget": 1, "prices": prices, **helpers})


def test_a_budget_in_money_needs_every_price(table: PriceTable, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    assert check_budget(plan(prices, "large", EMBEDDED_MODEL)) == table
    with pytest.raises(UsageError, match="there is none for small") as caught:
        check_budget(plan(prices, "large", "small"))
    assert "3 prices in USD" in str(caught.value)
    with pytest.raises(UsageError, match="there is none for large, small"):
        check_budget(plan(None, "large", "small"))


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("role", ["judge", "panel", "sage", "critic"])
def test_budget_in_money_needs_price_of_every_helper(role: str, tmp_path: Path) -> None:
    helper = {"name": "helper", "base_url": VENDOR}
    with pytest.raises(UsageError, match="there is none for helper"):
        check_budget(plan(tmp_path / "prices.yaml", "large", roles={role: helper}))


def test_the_table_of_the_documentation(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    table = load_prices(path)
    found = table and table.find("my-model-2", "https://api.example.org/v1")
    assert (found and found.cost(1_000_000, 0)) == 2.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (TABLE.replace("2.5", "-1"), "prices.1.input_per_million"),
        (TABLE.replace("2.5", ".nan"), "a finite number"),
        (TABLE.replace("01-31", "02-30"), "day is out of range"),
        (TABLE.replace("model:", "modle:"), "prices.0.model"),
        ("- a list", "valid dictionary"),
        ("currency: USD", "prices"),
        ("a: [", "parsing"),
        (None, "No such file"),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = tmp_path / "prices.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="price table cannot be read") as caught:
        load_prices(path)
    assert str(path) in str(caught.value)
    assert complaint in f"{caught.value.got}"


def of_batches(**batch: float) -> Price:
    return prices().prices[0].model_copy(update=batch)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        # 50 x 2 + 10 x 10 = 200 millionths live; half of it; 50 x 0.5 + 10 x 4 = 65.
        ({"batch_factor": 0.5}, 100e-6),
        ({"batch_input_per_million": 0.5, "batch_output_per_million": 4}, 65e-6),
        ({}, None),
    ],
)
def test_batch_has_its_own_price(batch: dict[str, float], expected: float | None) -> None:
    table = PriceTable(currency="USD", prices=(of_batches(**batch),))
    amounts = {"dataset": "d", "model": "listener", "role": "tested", "calls": 1, "prompt_tokens": 50, "completion_tokens": 10}
    rows = [Usage.model_validate({**amounts, "paid_as": way}) for way in ("live", "batch", "file")]
    plan = Plan(benchmark="moodbench-mini", models=(ENTRY,))
    costs = [row.cost for row in price_usage(rows, plan, table)]
    assert costs == [pytest.approx(200e-6), expected if expected is None else pytest.approx(expected), None]


def test_a_budget_reserves_at_the_price_of_batches() -> None:
    # Expected 100 x 2 + 100 x 10 = 1,200 millionths, by batch 600: two fit into 1,300, by half the price; live one does.
    table = PriceTable(currency="USD", prices=(of_batches(batch_factor=0.5),))
    by_batch, live = (Budget(cost=0.0013, prices=table).account(ENTRY) for _ in range(2))
    assert by_batch is not None
    assert live is not None
    assert [by_batch.reserve(CALL, "batch") is not None for _ in range(3)] == [True, True, False]
    assert [live.reserve(CALL) is not None for _ in range(3)] == [True, False, False]
    # Nothing waits for a batch as for a call in flight.
    assert (by_batch.budget.in_flight, live.budget.in_flight) == (0, 1)


def test_a_call_is_settled_at_its_own_price() -> None:
    budget = Budget(cost=1, prices=PriceTable(currency="USD", prices=(of_batches(batch_factor=0.5),)))
    account = budget.account(ENTRY)
    assert spend(account, reply=replace(REPLY, paid_as="live"))
    assert budget.used_cost == pytest.approx(200e-6)
    assert account is not None
    reserved = account.reserve(CALL, "batch")
    assert reserved is not None
    account.settle(reserved, replace(REPLY, paid_as="batch"))
    assert budget.used_cost == pytest.approx(300e-6)
    assert budget.in_flight == 0


def test_a_budget_by_batch_needs_the_price_of_batches(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    entry = "{model: listener, input_per_million: 2, output_per_million: 10, as_of: 2026-01-31, source: a test}"
    path.write_text(f"currency: USD\nprices: [{entry}]\n", encoding="utf-8")
    plan = Plan(benchmark="moodbench-mini", models=(ENTRY,), prices=path, budget=1)
    assert check_budget(plan) == prices()
    with pytest.raises(UsageError, match="needs a price for every model, and there is none for listener") as refused:
        check_budget(plan.model_copy(update={"batch": True}))
    assert refused.value.expected == "an entry under `prices` for each model's name and server, with a price of batches"


@pytest.mark.parametrize("batch", [{"batch_input_per_million": 1}, {"batch_factor": 0.5, "batch_output_per_million": 1}])
def test_a_price_of_batches_is_whole_and_stated_once(batch: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give batch_factor, or batch_input_per_million and batch_output_per_million"):
        Price.model_validate(prices().prices[0].model_dump() | batch)


async def test_what_is_sent_is_paid_live() -> None:
    with ModelServer(lambda _messages: "B") as server:
        async with HttpChat(ModelEntry(name="listener", base_url=server.base_url), server.base_url) as chat:
            reply = await chat(request("Hello", base_url=server.base_url))
    assert (reply.failure, reply.paid_as) == (None, "live")
