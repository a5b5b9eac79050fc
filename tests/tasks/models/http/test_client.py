"""The client against a server that misbehaves on purpose."""

import asyncio
import gzip
import json
import random
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, count, repeat
from threading import Barrier, Lock
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from schemas.chat import ChatReply, ChatRequest
from schemas.errors import EndpointError
from schemas.vocabulary import Failure, PaidAs
from tasks.models.cost import Budget, BudgetAccount, Reservation
from tasks.models.http.adaptive_concurrency import FIRST
from tasks.models.http.client import CallRetryPolicy, CircuitBreaker, HttpChat
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.http.failures import LONGEST_ERROR
from tasks.text.backoff import BUDGET_S
from tests.loopback import Handler
from tests.model_server import Fault, ModelServer
from tests.probed_server import Answer, ProbedServer, completed, refused
from tests.tasks.models.making_calls import HANGS_S, Pauses, ask_once, client, entry, request


def only_first(fault: Fault) -> Callable[[int], Fault | None]:
    return lambda number: fault if number == 0 else None


WHOLE = json.dumps(completed({"model": "listener"}, "B").document).encode()
NOT_JSON = "not JSON that can be read (Expecting value: line 1 column 1 (char 0))"
CUT_SHORT = ("truncated_body", "the compressed answer is incomplete")


async def answered(
    body: bytes, headers: Mapping[str, str] = MappingProxyType({}), key: SecretStr | None = None, status: int = 200
) -> ChatReply:
    """What becomes of a call that is answered so."""
    with ProbedServer(lambda *_: Answer(status, body, headers=headers)) as server:
        return await ask_once(entry(server.base_url), Pauses(), key)


async def test_an_answer_is_read() -> None:
    with ModelServer(lambda messages: messages[0]["content"].upper()) as server:
        reply = await ask_once(entry(server.base_url), Pauses())
    assert (reply.text, reply.failure, reply.attempts, reply.http_status) == ("HOW ARE YOU?", None, 1, 200)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.from_journal) == (11, 2, False)
    assert (reply.latency_s or 0) > 0
    assert server.bodies == [request().body()]
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("fault", "limits", "failure", "error"),
    [
        ("slow", {"timeout_s": 0.2}, "timeout_total", "the answer was not complete within 0.2 s"),
        ("slow", {"first_byte_timeout_s": 0.2}, "timeout_first_byte", "the answer did not begin within 0.2 s"),
        # Every single byte comes sooner than that.
        ("drip", {"timeout_s": 0.5}, "timeout_total", "the answer was not complete within 0.5 s"),
        (
            "drip",
            {"timeout_s": 0.5, "first_byte_timeout_s": HANGS_S},
            "timeout_total",
            "the answer was not complete within 0.5 s",
        ),
    ],
)
async def test_late_begin_and_late_end_differ(fault: Fault, limits: dict[str, float], failure: Failure, error: str) -> None:
    with ModelServer(lambda _: "B", fault=lambda _: fault) as server:
        reply = await ask_once(entry(server.base_url, timeout_s=HANGS_S).model_copy(update=limits), Pauses())
    assert (reply.failure, reply.error, reply.attempts, reply.http_status) == (failure, error, 2, None)


@pytest.mark.parametrize(
    ("encoding", "packed", "outcome"),
    [
        ("gzip", gzip.compress, (None, "B")),
        ("gzip", lambda _: b"", ("invalid_json", f"{NOT_JSON}: an empty body")),
        ("gzip", lambda body: gzip.compress(body)[:-9], CUT_SHORT),
        ("gzip", lambda body: body, ("truncated_body", "the answer is incomplete, or not compressed as its header says")),
        ("gzip", lambda body: b"".join(gzip.compress(body[place : place + 9]) for place in range(0, len(body), 9)), (None, "B")),
        ("GZip", lambda body: gzip.compress(body) + gzip.compress(b"  "), (None, "B")),
        ("gzip", lambda body: gzip.compress(body) + bytes(512), (None, "B")),
        ("utf-8", lambda body: body, (None, "B")),
        ("gzip, identity", gzip.compress, (None, "B")),
        ("gzip, gzip", lambda body: body, ("invalid_json", "the answer is encoded as gzip, gzip, which was not requested")),
        ("gzip", lambda body: gzip.compress(body) + gzip.compress(b" ")[:-9], CUT_SHORT),
        ("zstd", lambda body: body, ("invalid_json", "the answer is encoded as zstd, which was not requested")),
        ("gzip", lambda body: gzip.compress(body + b" " * 2**25), ("truncated_body", "the answer is larger than 16 MiB")),
        ("identity", lambda body: body + b" " * 2**25, ("truncated_body", "the answer is larger than 16 MiB")),
    ],
)
async def test_an_answer_is_unpacked_within_bounds(encoding: str, packed: Callable[[bytes], bytes], outcome: Any) -> None:
    reply = await answered(packed(WHOLE), {"Content-Encoding": encoding})
    assert (reply.failure, reply.error or reply.text) == outcome


@pytest.mark.parametrize(
    ("length", "outcome"),
    [
        (60_000, (None, "B")),
        (70_000, ("invalid_json", "not HTTP, too many, or one is larger than 64 KiB")),
    ],
)
async def test_long_headers_are_read_or_named(length: int, outcome: tuple[Failure | None, str]) -> None:
    reply = await answered(WHOLE, {"X-Trace": "x" * length})
    assert reply.failure == outcome[0]
    assert outcome[1] in str(reply.error or reply.text)


async def test_each_kind_of_failure_has_its_own_attempts() -> None:
    # Two refusals for being too fast do not use up the three attempts of an answer that is no JSON.
    faults: dict[int, Fault] = {0: "429", 1: "429", 2: "not_json", 3: "429", 4: "not_json", 5: "not_json"}
    with ModelServer(lambda _: "B", fault=faults.get) as server:
        reply = await ask_once(entry(server.base_url), Pauses())
    assert (reply.failure, reply.attempts, server.calls) == ("invalid_json", 6, 6)


async def test_server_that_loads_is_waited_for_within_limits() -> None:
    statuses = chain(repeat(503, 12), repeat(200))

    def script(body: dict[str, Any], _: str) -> Answer:
        return refused("Loading model", 503) if next(statuses) == 503 else completed(body, "B")

    pauses = Pauses()
    with ProbedServer(script) as server:
        reply = await ask_once(entry(server.base_url), pauses)
    assert (reply.text, reply.attempts) == ("B", 13)
    # Five other failures of the server would have ended it after four pauses.
    assert 60 < sum(pauses.seconds) <= BUDGET_S


@pytest.mark.parametrize(
    ("retry_after", "shortest_s", "longest_s"),
    [
        # Never sooner, and up to half of the table's delay of 1 s later.
        ("17", 17, 17.5),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30, 30.5),
        # What cannot be read leaves it to the table: 1 s, by a factor from 0.5 to 1.
        *((unreadable, 0.5, 1) for unreadable in ("soon", "-5", "1e9", "2026-01-01", "")),
    ],
)
async def test_retry_after_is_honoured(
    monkeypatch: pytest.MonkeyPatch, retry_after: str, shortest_s: float, longest_s: float
) -> None:
    monkeypatch.setattr(Handler, "date_time_string", lambda *_: "Thu, 01 Jan 2026 12:00:00 GMT")
    pauses = Pauses()
    with ModelServer(lambda _: "B", fault=only_first("429"), retry_after=retry_after) as server:
        reply = await ask_once(entry(server.base_url), pauses)
    assert (reply.text, reply.attempts, len(pauses.seconds)) == ("B", 2, 1)
    assert shortest_s <= pauses.seconds[0] <= longest_s


async def test_forbidden_model_closes_no_other() -> None:
    with ModelServer(
        lambda _: "B", fault=lambda number: "403" if server.bodies[number]["model"] == "listener" else None
    ) as server:
        async with client(entry(server.base_url), Pauses()) as chat:
            refused = [await chat(request(f"call {number}")) for number in range(20)]
            other = await chat(replace(request(), model="other"))
        assert server.calls == 16 + 1
    assert ([reply.failure for reply in refused], other.text) == (["auth"] * 20, "B")
    assert refused[-1].error == f"not sent: the calls before this one failed at {server.url}: HTTP 403: not your model"


@pytest.mark.parametrize("value", ["sk-one\nsk-two", "sk-schlüssel", "sk-\x00", "sk-one sk-two"])
def test_unsendable_key_is_refused_unprinted(value: str) -> None:
    model = entry("http://localhost/v1").model_copy(update={"api_key_env": "LISTENER_KEY"})
    with pytest.raises(EndpointError) as caught:
        resolve_keys(model, {"LISTENER_KEY": value})
    assert "sk-" not in str(caught.value)
    assert caught.value.where == "environment variable LISTENER_KEY"
    assert caught.value.next_step == "set the variable to just the key"


async def test_a_long_error_is_shortened() -> None:
    # An answer that is no completion is quoted in the error.
    reply = await answered(b"x" * 9000)
    assert reply.failure == "invalid_json"
    assert len(str(reply.error)) == LONGEST_ERROR + len("...")


@pytest.mark.parametrize(("first", "concurrency"), [(3, 3), (FIRST, 10)])
async def test_calls_in_flight_reach_limit_exactly(first: int, concurrency: int) -> None:
    # None is answered before as many are there: at first, and after each answer has added its slots.
    meetings = {size: Barrier(size, timeout=HANGS_S) for size in (first, concurrency)}
    numbers, lock, levels, running = count(), Lock(), list[int](), 0

    def answer(_: list[dict[str, str]]) -> str:
        nonlocal running
        with lock:
            running += 1
            levels.append(running)
            meeting = meetings[first if next(numbers) < first else concurrency]
        meeting.wait()
        with lock:
            running -= 1
        return "B"

    calls = first + 3 * concurrency
    with ModelServer(answer) as server:
        async with client(entry(server.base_url, concurrency=concurrency, timeout_s=HANGS_S), Pauses()) as chat:
            replies = await asyncio.gather(*(chat(request(f"call {number}")) for number in range(calls)))
    assert [reply.text for reply in replies] == ["B"] * calls
    assert max(levels) == concurrency


class OneCall(BudgetAccount):
    """An account for one call, which gives nothing back."""

    def reserve(self, request: ChatRequest, paid_as: PaidAs = "live") -> Reservation | None:  # noqa: ARG002
        self.budget.used_tokens += 1
        return Reservation(self.budget.estimator.expect(request), None) if self.budget.used_tokens == 1 else None

    def settle(self, _: Reservation, __: ChatReply) -> None:
        """Nothing is given back."""


async def test_unsent_calls_do_not_wait() -> None:
    policy = CallRetryPolicy(sleep=(pauses := Pauses()))
    with ModelServer(lambda _: "B") as server:
        model = entry(server.base_url).model_copy(update={"requests_per_minute": 1})
        async with HttpChat(model, server.base_url, policy=policy, budget=OneCall(Budget(), None, learns=True)) as chat:
            replies = await asyncio.gather(*(chat(request(f"call {number}")) for number in range(60)))
    assert [reply.failure for reply in replies].count("budget") == 59
    assert pauses.seconds == []


async def test_spent_budget_keeps_first_failures_reason() -> None:
    policy = CallRetryPolicy(sleep=Pauses())
    with ModelServer(lambda _: "B", fault=lambda _: "500") as server:
        model = entry(server.base_url)
        async with HttpChat(model, server.base_url, policy=policy, budget=OneCall(Budget(), None, learns=True)) as chat:
            reply = await chat(request())
    assert (reply.failure, reply.attempts, server.calls) == ("http_5xx", 1, 1)


async def test_a_pause_beyond_the_budget_stops_every_call() -> None:
    pauses = Pauses()
    with ModelServer(lambda _: "B", fault=only_first("429"), retry_after="3600") as server:
        async with client(entry(server.base_url, concurrency=1), pauses) as chat:
            replies = [await chat(request(f"call {number}")) for number in range(5)]
    assert [(reply.failure, reply.attempts) for reply in replies] == [("http_429", 1)] * 5
    assert (server.calls, [pause for pause in pauses.seconds if pause]) == (1, [])
    assert "not sent: the server asked for no calls for another 3600 s" in str(replies[-1].error)


async def test_pause_outlives_call_that_caused_it() -> None:
    over = asyncio.Event()
    told = asyncio.Event()

    async def wait(_: float) -> None:
        told.set()
        await over.wait()

    with ModelServer(lambda _: "B", fault=only_first("429"), retry_after="17") as server:
        async with client(entry(server.base_url), wait) as chat:
            first = asyncio.ensure_future(chat(request("first")))
            await told.wait()
            first.cancel()
            second = asyncio.ensure_future(chat(request("second")))
            await asyncio.sleep(0.1)
            assert server.calls == 1
            over.set()
            assert (await second).text == "B"


SIGNS = b"sk-SECRET/abc+def=="
FORMS = (
    b64encode(SIGNS).decode(),
    urlsafe_b64encode(SIGNS).decode(),
    b64encode(b"abc" + SIGNS).decode().removeprefix("YWJj"),
    quote(b64encode(SIGNS), safe=""),
    quote(SIGNS, safe=""),
    quote(quote(SIGNS, safe=""), safe=""),
    SIGNS.hex(),
    SIGNS.hex(" ").upper(),
    "".join(f"&#{sign};" for sign in SIGNS),
    "".join(f"&#x{sign:X};" for sign in SIGNS),
    r"sk-SEC\nRET/abc\r\n +def==",
    b64encode(SIGNS).decode().replace("V", r"V\n"),
)
"""Ways to write a key, and in which they stand in JSON."""


@pytest.mark.parametrize(
    ("key", "said", "kept"),
    [
        ("sk-SECRET/abc+def==", r"your key is sk-SECRET\/abc\u002bdef==", "your key is [key]"),
        ("sk-SECRET/abc+def==", "your key is sk-SECRET/abc+def==", "your key is [key]"),
        *(("sk-SECRET/abc+def==", f"your key is {form}", "your key is [key]") for form in FORMS),
        # No secret but a word that local servers are given.
        ("x", "The capital is x", "The capital is x"),
        ("null", "null and void", "null and void"),
    ],
)
async def test_key_alone_is_removed_from_answer(key: str, said: str, kept: str) -> None:
    message = f'{{"content": "{said}", "reasoning_content": "{said}"}}'
    body = f'{{"model": "listener", "choices": [{{"message": {message}}}]}}'
    reply = await answered(body.encode(), key=SecretStr(key))
    assert (reply.text, reply.reasoning, reply.failure) == (kept, kept, None)


@pytest.mark.parametrize("before", range(180, 200, 5))
async def test_shortened_answer_leaves_no_key_part(before: int) -> None:
    key = "sk-SECRET-0123456789"
    lines = f'{{"message": "{"x" * (before - 13)}{key}"}}\n{{"done": true}}\n'
    of_lines = await answered(lines.encode(), key=SecretStr(key))
    packed = await answered(WHOLE, {"Content-Encoding": f"br; {'x' * (before - 124)}{key}"}, SecretStr(key))
    assert "sk-S" not in str(of_lines.error)
    assert "[key]" in str(of_lines.error)
    assert packed.error == "the answer is encoded as br, which was not requested"


PLAIN = CallRetryPolicy(draw=lambda: 0.0)
"""Takes nothing off, so that delays can be worked out by hand."""


def test_delays_double_up_to_the_longest() -> None:
    # 1, 2, 4, 8, 16, 32 and then 64, which is cut to 60; the eighth attempt is the last one.
    delays = [PLAIN.delay_s("http_429", attempt, None, 0) for attempt in range(1, 9)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, None]


def test_jitter_takes_at_most_half() -> None:
    state, policy = random.getstate(), CallRetryPolicy()
    delays = [policy.delay_s("http_5xx", 1, None, 0) for _ in range(200)]
    # A factor drawn from 0.5 to 1 on a first delay of 1 s.
    assert all(delay is not None and 0.5 <= delay <= 1 for delay in delays)
    assert len(set(delays)) > 100
    assert random.getstate() == state


@pytest.mark.parametrize(
    ("asked_s", "waited_s", "delay_s"),
    [
        (7.5, 0, 7.5),
        (0.25, 0, 0.25),
        (BUDGET_S, 0, 300),
        (BUDGET_S, 1, None),
        (300.5, 0, None),
        (None, 299, 1),
        (None, 299.5, None),
    ],
)
def test_what_server_asks_for_is_honoured_within_budget(asked_s: float | None, waited_s: float, delay_s: float | None) -> None:
    assert PLAIN.delay_s("http_429", 1, asked_s, waited_s) == delay_s


@pytest.mark.parametrize(
    ("ends", "is_open", "hopeless"),
    [
        # Three in a row found no server.
        (["connect"] * 2, False, True),
        (["timeout_connect"] * 3, True, True),
        (["connect", "connect", "http_5xx", "connect"], False, False),
        ([None, "connect", "connect", "connect", None], True, False),
        # The first sixteen failed, none for what it asked.
        (["auth"] * 15, False, True),
        (["tls", "quota", "invalid_json", "auth"] * 4, True, True),
        ([404] * 16, True, True),
        ([400] * 16, False, False),
        (["auth"] * 15 + [None], False, False),
        ([None] + ["auth"] * 40, False, False),
    ],
)
def test_breaker_opens_where_no_call_can_succeed(ends: list[Failure | int | None], *, is_open: bool, hopeless: bool) -> None:
    breaker = CircuitBreaker()
    for end in ends:
        refused = {"failure": "http_4xx", "http_status": end} if isinstance(end, int) else {"failure": end}
        breaker.report(ChatReply(**refused))
    assert (breaker.is_open, breaker.hopeless is not None) == (is_open, hopeless)


async def test_a_redirect_is_told_with_where_it_leads() -> None:
    reply = await answered(b"", {"Location": "https://ada:pass@elsewhere.example/v1?token=secret"}, status=307)
    assert reply.error == (
        "HTTP 307: a redirect, which is not followed: an empty body; it leads to https://...@elsewhere.example/v1?..."
    )
