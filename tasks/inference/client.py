"""The one client of model servers: when a call starts, what is tried again, and what became of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import httpx
from pydantic import SecretStr

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from tasks.backoff import BUDGET_S
from tasks.inference.failures import read_error
from tasks.inference.limits import CircuitBreaker, RetryPolicy
from tasks.inference.pace import Pace
from tasks.inference.rate_limits import read_pause, read_wait
from tasks.inference.reading import read_completion
from tasks.inference.transport import Address, AioTransport, Answer, Transport, TransportError, require_sendable

LONGEST_ERROR = 400
CHARACTERS_PER_TOKEN = 4.0
"""Of English text; the difference to the server's count is booked once that is known."""

NEWEST = 0.05
"""Weight of the newest reply in the running mean of tokens per call."""

NO_MONEY = "not sent: the budget of this run is spent; run again with a larger one"


class Spending(Protocol):
    """Who pays for the calls."""

    def reserve(self, request: ChatRequest) -> float | None:
        """Set aside what a call may cost; None if that is more than is left."""
        ...

    def settle(self, reserved: float, reply: ChatReply) -> None:
        """Replace what was set aside by what the call did cost."""
        ...


class Attempt(NamedTuple):
    """What became of one attempt, and how long the server wants to be left alone before the next call of anybody."""

    reply: ChatReply
    retry_after_s: float | None = None


class HttpChat:
    """Answers requests from one endpoint; never raises for a failed call. Used as an async context manager.

    A call gives up its place while it waits for its next attempt; if the server names the time to wait, nobody starts a call
    before it is over.

    Args:
        entry: the model; its limits hold for all calls.
        base_url: server, up to and including `/v1`.
        key: sent as a bearer token and written nowhere else, not even where the server repeats it.
        policy: what is retried.
        spending: who pays; null = nobody counts.
        clock: seconds, monotonic.

    Raises:
        EndpointError: if the key cannot be sent.
    """

    def __init__(
        self,
        entry: ModelEntry,
        base_url: str,
        key: SecretStr | None = None,
        *,
        policy: RetryPolicy | None = None,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        require_sendable(entry, key)
        self._entry = entry
        self._address = Address(base_url, key)
        self._policy = policy or RetryPolicy()
        self._spending = spending
        self._clock = clock
        self._breaker = CircuitBreaker()
        self._pace = Pace(entry, clock, self._policy.sleep)
        self._mean_tokens = 0.0
        self._pausing: asyncio.Task[None] | None = None
        self._unkept: Exception | None = None
        self._transport: Transport = open_transport(entry, self._address)

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pausing:
            self._pausing.cancel()
        await self._transport.__aexit__(kind, error, trace)

    async def __call__(
        self, request: ChatRequest, keep: Callable[[ChatRequest, ChatReply], Awaitable[None]] | None = None
    ) -> ChatReply:
        """Send one request, again if the policy says so.

        Args:
            request: what to ask.
            keep: takes an answer into safety before the call gives up its place: a crash costs at most what was in flight.

        Raises:
            What `keep` raises; after that nothing more is sent, since it would be paid for and lost.
        """
        attempt, waited_s = 0, 0.0
        while True:
            attempt += 1
            reply, retry_after_s = await self._attempt(request, attempt, keep)
            delay_s = None
            if reply.failure is not None and not self._breaker.is_open:
                delay_s = self._policy.delay_s(reply.failure, attempt, retry_after_s, waited_s)
            if delay_s is None:
                self._breaker.report(reply)
                return reply
            async with nullcontext() if retry_after_s is None else self._pace.paused():
                await self._policy.sleep(delay_s)
            waited_s += delay_s

    async def _attempt(
        self, request: ChatRequest, attempt: int, keep: Callable[[ChatRequest, ChatReply], Awaitable[None]] | None
    ) -> Attempt:
        expected = self._expected_tokens(request)
        await self._pace.enter(expected, again=attempt > 1)
        try:
            if self._unkept is not None:
                raise self._unkept
            if self._breaker.is_open:
                text = f"not sent: no server was found at {self._address.place} by the calls before this one"
                return Attempt(ChatReply(failure="connect", error=text, attempts=attempt))
            reserved = self._spending.reserve(request) if self._spending else 0.0
            if reserved is None:
                return Attempt(ChatReply(failure="budget", error=NO_MONEY, attempts=attempt))
            reply = ChatReply(failure="connect", error="interrupted")
            try:
                reply, retry_after_s = await self._exchange(request, attempt)
            finally:
                if self._spending:
                    self._spending.settle(reserved, reply)
            self._learn(reply, expected)
            if keep is not None and reply.failure is None:
                try:
                    await keep(request, reply)
                except Exception as error:
                    self._unkept = error
                    raise
            return Attempt(reply, retry_after_s)
        finally:
            self._pace.leave()

    async def _exchange(self, request: ChatRequest, attempt: int) -> Attempt:
        started_s = self._clock()
        try:
            answer = await self._transport.post(request.body_json.encode())
        except TransportError as error:
            reply, retry_after_s = ChatReply(failure=error.failure, error=error.text, http_status=error.http_status), None
        else:
            reply = self._read(answer, request)
            retry_after_s = self._heed(answer, reply)
        told = None if reply.error is None else self._publishable(reply.error)
        latency_s = self._clock() - started_s
        return Attempt(replace(reply, error=told, latency_s=latency_s, attempts=attempt), retry_after_s)

    def _read(self, answer: Answer, request: ChatRequest) -> ChatReply:
        body = self._without_key(answer.body)
        if not httpx.codes.is_success(answer.status):
            return read_error(answer.status, body)
        return read_completion(body, answer.status, asked=request.model, require_same_model=self._entry.require_same_model)

    def _heed(self, answer: Answer, reply: ChatReply) -> float | None:
        """What the headers say of waiting: before this call is tried again, or before anybody's next call."""
        wait_s = read_wait(answer.headers) if reply.failure else None
        pause_s = read_pause(answer.headers, self._mean_tokens)
        if reply.failure:
            return pause_s if wait_s is None and reply.failure == "http_429" else wait_s
        if pause_s and pause_s <= BUDGET_S and (self._pausing is None or self._pausing.done()):
            self._pausing = asyncio.create_task(self._pause(pause_s))
        return None

    async def _pause(self, seconds: float) -> None:
        async with self._pace.paused():
            await self._policy.sleep(seconds)

    def _expected_tokens(self, request: ChatRequest) -> float:
        return max(self._mean_tokens, len(request.body_json) / CHARACTERS_PER_TOKEN)

    def _learn(self, reply: ChatReply, expected: float) -> None:
        if reply.failure is None:
            self._pace.note_answer(reply.latency_s)
        else:
            self._pace.window.note_failure(reply.failure)
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            used = reply.prompt_tokens + reply.completion_tokens
            self._mean_tokens += (used - self._mean_tokens) * (NEWEST if self._mean_tokens else 1.0)
            self._pace.settle(expected, used)

    def _without_key(self, body: bytes) -> bytes:
        """An answer that repeats the key, be it in the text: answers are stored, and a key never is."""
        key = self._address.key
        return body if key is None else body.replace(key.get_secret_value().encode(), b"[key]")

    def _publishable(self, text: str) -> str:
        if self._address.key is not None:
            text = text.replace(self._address.key.get_secret_value(), "[key]")
        return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}..."


def open_transport(entry: ModelEntry, address: Address) -> Transport:
    """Connections as the entry wants them."""
    if entry.http2:
        from tasks.inference.http2 import Http2Transport  # noqa: PLC0415  few need it

        return Http2Transport(entry, address)
    return AioTransport(entry, address)
