"""A server that fails one call in five, in every way there is: nothing is lost, nothing is mixed up, nothing is counted wrong."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from schemas.chat import ChatReply, ModelEntry
from schemas.vocabulary import Failure
from tasks.models.http.client import CallRetryPolicy, HttpChat
from tasks.models.http.failures import RETRIES
from tasks.models.journal.journal import Journal, JournaledChat
from tests.model_server import FIXED, Fault, ModelServer
from tests.tasks.models.making_calls import Pauses, ask_once, entry, request

NAMED: Mapping[Fault, Failure] = {
    "close": "connect",
    "slow": "timeout_first_byte",
    "drip": "timeout_total",
    "truncated": "truncated_body",
    "401": "auth",
    "403": "auth",
    "429": "http_429",
    "500": "http_5xx",
    "context_too_long": "context_too_long",
    "content_filter": "content_filter",
    "not_json": "invalid_json",
    "no_choices": "missing_choices",
    "null_content": "empty_content",
    "length": "length",
    "wrong_model": "wrong_model",
}
"""What each fault is called.

Not provoked: `tls` (test_tls.py), `timeout_connect` (needs a network that swallows packets), `budget` (no server's doing).
"""

KINDS: tuple[Fault, ...] = (*NAMED, "late")


def one_in(every: int, kinds: Sequence[Fault], number: int) -> Fault | None:
    """The fault of a call: one kind after the other, between calls without any."""
    return kinds[number // every % len(kinds)] if number % every == every - 1 else None


def derived(question: str) -> str:
    return sha256(question.encode()).hexdigest()[:12]


def answer(messages: list[dict[str, str]]) -> str:
    return derived(messages[-1]["content"])


ITEMS = 300
MOST_RUNS = 12


QUICK = tuple(kind for kind in KINDS if kind not in {"slow", "drip"})
"""Faults that show at once; for the others, which only a time limit ends, see `test_client.py`."""


def one_in_five(number: int) -> Fault | None:
    return one_in(5, QUICK, number)


QUESTIONS = [f"Question {number}: how are you?" for number in range(ITEMS)]


class Run(NamedTuple):
    """Replies of one run in the order of the questions, and the faults each question met."""

    replies: list[ChatReply]
    faults: Mapping[str, list[Fault | None]]


async def run(server: ModelServer, journal: Path) -> Run:
    before = server.calls
    model = ModelEntry(name="listener", base_url=server.base_url, concurrency=32, require_same_model=True)
    impatient = CallRetryPolicy(sleep=Pauses(), draw=random.Random(0).random)
    async with Journal(journal) as kept, HttpChat(model, server.base_url, policy=impatient) as client:
        chat = JournaledChat(client, kept)
        replies = await asyncio.gather(*(chat(request(question, base_url="faults")) for question in QUESTIONS))
    met: dict[str, list[Fault | None]] = defaultdict(list)
    for number in range(before, server.calls):
        met[server.bodies[number]["messages"][-1]["content"]].append(server.fault(number))
    return Run(replies, met)


def check(ended: Run) -> None:
    """Every reply is the right one, or names what befell its last attempt."""
    for question, reply in zip(QUESTIONS, ended.replies, strict=True):
        if reply.failure is None:
            assert (reply.text, reply.error) == (derived(question), None)
            continue
        assert reply.text is None
        assert reply.error
        faults = ended.faults[question]
        assert reply.attempts == len(faults)
        last = faults[-1]
        assert last is not None
        assert reply.failure == NAMED[last]
        # Given up only after as many attempts as the table has for it.
        assert reply.attempts >= RETRIES[reply.failure].attempts


async def test_every_fault_ends_answered_or_is_asked_again(tmp_path: Path) -> None:
    with ModelServer(answer, fault=one_in_five) as server:
        first = await run(server, tmp_path / "faulty.sqlite")
        check(first)
        failed = {question for question, reply in zip(QUESTIONS, first.replies, strict=True) if reply.failure}
        # About one in five meets a fault, and about half of the faults are not tried again.
        assert 10 < len(failed) < ITEMS / 4
        assert len({reply.failure for reply in first.replies}) > 4
        ended = first
        for _ in range(MOST_RUNS):
            if not failed:
                break
            ended = await run(server, tmp_path / "faulty.sqlite")
            check(ended)
            # What was answered is never asked again.
            assert set(ended.faults) == failed
            failed = {question for question, reply in zip(QUESTIONS, ended.replies, strict=True) if reply.failure}
    with ModelServer(answer) as server:
        faultless = await run(server, tmp_path / "faultless.sqlite")
        assert server.calls == ITEMS
    assert failed == set()
    said = [(reply.text, reply.reasoning, reply.remark, reply.prompt_tokens) for reply in ended.replies]
    assert said == [(reply.text, reply.reasoning, reply.remark, reply.prompt_tokens) for reply in faultless.replies]


@pytest.mark.parametrize("fault", [fault for fault in QUICK if fault != "late"])
async def test_each_fault_has_its_name_and_its_attempts(fault: Fault) -> None:
    pauses = Pauses()
    with ModelServer(answer, fault=lambda _: fault) as server:
        reply = await ask_once(entry(server.base_url).model_copy(update={"require_same_model": True}), pauses)
    assert (reply.failure, reply.text) == (NAMED[fault], None)
    assert reply.attempts == server.calls == len(pauses.seconds) + 1 == RETRIES[NAMED[fault]].attempts
    statuses = {**{name: status for name, (status, _) in FIXED.items()}, "429": 429, "close": None}
    assert reply.http_status == statuses.get(fault, 200)
    assert reply.error
