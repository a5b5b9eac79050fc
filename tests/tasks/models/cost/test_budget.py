"""The budget: what would exceed it is not sent, what is in flight is reserved, counts replace estimates."""

import asyncio
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.provider import Price, PriceTable
from tasks.models.cost.budget import Budget, BudgetAccount, Estimator, guess_tokens, measure_call
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
    estimator.learn(measure_call(LATIN), 52, 10)
    estimator.learn(measure_call(LATIN), 104, 20)
    # 156 counted tokens where 208 were guessed: 0.75; mean reply 15.
    assert estimator.expect(LATIN)[:2] == (78, 15)
    # Nothing is known of Chinese prompts yet, but replies have their mean.
    assert estimator.expect(CHINESE)[:2] == (104, 15)
    assert estimator.expect(replace(LATIN, model="other"))[:2] == (104, 50)


def test_a_judge_has_replies_of_its_own() -> None:
    estimator = Estimator()
    estimator.learn(measure_call(LATIN), 104, 2)
    judging = replace(LATIN, json_schema="{}")
    assert estimator.expect(judging)[:2] == (104, 50)
    estimator.learn(measure_call(judging), 104, 40)
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
