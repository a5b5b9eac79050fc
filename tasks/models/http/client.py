"""Send calls to a model server: wait for a slot, retry failures, stop at the budget, and read the reply."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple, Self

import httpx
from pydantic import SecretStr

from schemas.addresses import hide_credentials
from schemas.chat import ChatReply, ChatRequest, Keep, ModelEntry
from schemas.vocabulary import Failure
from tasks.models.cost import BudgetAccount
from tasks.models.http.adaptive_concurrency import USUAL
from tasks.models.http.failures import BUDGET_SPENT, LONGEST_ERROR, RETRIES, read_error
from tasks.models.http.parse_reply import read_completion
from tasks.models.http.rate_limiter import RateLimiter, read_pause, read_wait
from tasks.models.http.transport import HttpAnswer, Transport, TransportError, join_events
from tasks.text.backoff import BUDGET_S, Backoff, Retry
from tasks.text.scrub_keys import Scrubber

DEAD_AFTER_CALLS = 3
HOPELESS_AFTER_CALLS = 16
"""Twice the calls that are in flight at first: more than fail together in one moment of a server that starts or of a gateway
that tries several keys, and few enough to take seconds."""

NOT_FOUND: tuple[Failure, ...] = ("connect", "timeout_connect", "loading")
NO_QUESTION_CAUSES: tuple[Failure, ...] = (*NOT_FOUND, "tls", "auth", "quota", "invalid_json")
WRONG_ADDRESS = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})


@dataclass(frozen=True)
class CallRetryPolicy(Backoff[Failure]):
    """Decide on the next attempt of a call; `sleep` waits for a number of seconds."""

    retries: Mapping[Failure, Retry] = field(default_factory=lambda: RETRIES)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class CircuitBreaker:
    """Opens for good when more calls would only fail too, so that a dead server costs seconds and not hours.

    It does after DEAD_AFTER_CALLS calls in a row that found no server, or one without its model, and after HOPELESS_AFTER_CALLS
    if all calls from the first on ended in ways that no question causes: no server, no right to it, not its address. It counts
    calls, not attempts: each has been retried for some seconds, so a server that restarts quickly is not given up.
    """

    def __init__(self) -> None:
        self._in_a_row = self._ended = 0
        self._heard = False
        self.last: ChatReply | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once, without being sent."""
        return self._in_a_row >= DEAD_AFTER_CALLS or (self.hopeless is not None and self._ended >= HOPELESS_AFTER_CALLS)

    @property
    def hopeless(self) -> ChatReply | None:
        """The last of the calls, if no question caused the failure of any; null if one ended otherwise, or none has ended."""
        return None if self._heard else self.last

    def report(self, reply: ChatReply) -> None:
        """Count how a call ended."""
        if not self.is_open:
            self._in_a_row = self._in_a_row + 1 if reply.failure in NOT_FOUND else 0
            self._ended += 1
            self.last = reply
            self._heard |= reply.failure not in NO_QUESTION_CAUSES and reply.http_status not in WRONG_ADDRESS


KEPT_SHARE = 12
"""A limit above the usual one has a twelfth of the rest in replies that are being kept and have left their slots: writing them
takes some milliseconds, in which the server has nothing to do with them. Up to the usual limit a call keeps its slot until its
reply is on disk, so that a crash costs no more than what the server was at work on."""


class Attempt(NamedTuple):
    """The outcome of one attempt, how long the server wants no call, and whether anything was sent."""

    reply: ChatReply
    retry_after_s: float | None = None
    sent: bool = True


class HttpChat:
    """Answers requests from one endpoint; never raises for a failed call. Used as an async context manager.

    A call gives up its slot while it waits for its next attempt; if the server names the time to wait, no call starts before it
    is over. `keys` are those that `resolve_keys` reads; they are sent and written nowhere else, not even where the server repeats
    them. `breakers` are by model: another one at the same address may be answered.
    """

    def __init__(
        self,
        entry: ModelEntry,
        base_url: str,
        keys: Mapping[str, SecretStr] = MappingProxyType({}),
        *,
        policy: CallRetryPolicy | None = None,
        budget: BudgetAccount | None = None,
    ) -> None:
        self._entry = entry
        self._policy = policy or CallRetryPolicy()
        self._budget = budget
        self.breakers: defaultdict[str, CircuitBreaker] = defaultdict(CircuitBreaker)
        self._limiter = RateLimiter(entry, time.perf_counter, self._policy.sleep)
        # A server may repeat the key alone, without the scheme in front of it.
        self._scrubbers = [Scrubber(SecretStr(key.get_secret_value().split(" ")[-1])) for key in keys.values()]
        self._unkept: Exception | None = None
        self._being_kept = 0
        self._most_being_kept = max(0, entry.concurrency - USUAL) // KEPT_SHARE
        self._transport = Transport(entry, base_url, keys)

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._limiter.close()
        await self._transport.__aexit__()

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Send one request, again if the policy says so.

        `keep` writes an answer to disk, before the call gives up its slot unless KEPT_SHARE says otherwise. If that fails,
        nothing is sent any more, since it would be paid for and lost.
        """
        tried: Counter[Failure] = Counter()
        waited_s, last = 0.0, None
        while True:
            reply, retry_after_s, sent = await self._attempt(request, tried.total() + 1, keep)
            if not sent:
                # What became of it when it was sent says more.
                return last or reply
            delay_s = None
            if reply.failure is not None:
                tried[reply.failure] += 1
                delay_s = self._policy.delay_s(reply.failure, tried[reply.failure], retry_after_s, waited_s)
            if delay_s is None or self.breakers[request.model].is_open:
                self.breakers[request.model].report(reply)
                return reply
            # A pause the server asked for outlives a call that is cancelled meanwhile.
            await (self._policy.sleep(delay_s) if retry_after_s is None else asyncio.shield(self._limiter.pause(delay_s)))
            waited_s, last = waited_s + delay_s, reply

    async def _attempt(self, request: ChatRequest, attempt: int, keep: Keep | None) -> Attempt:
        await self._limiter.enter(again=attempt > 1)
        in_slot = True
        try:
            attempted = await self._send_within_budget(request, attempt)
            if keep is not None and attempted.reply.failure is None:
                if self._being_kept < self._most_being_kept:
                    in_slot = False
                    self._limiter.leave()
                await self._keep(keep, request, attempted.reply, in_slot=in_slot)
            return attempted
        finally:
            if in_slot:
                self._limiter.leave()

    async def _send_within_budget(self, request: ChatRequest, attempt: int) -> Attempt:
        if refusal := self._refuse(request.model):
            return Attempt(refusal, sent=False)
        if self._budget is None:
            return await self._send(request, attempt)
        while not (reserved := self._budget.reserve(request)) and self._budget.budget.in_flight:
            await self._budget.budget.settled.wait()
        if not reserved:
            return Attempt(ChatReply(failure="budget", error=BUDGET_SPENT), sent=False)
        attempted = Attempt(ChatReply(failure="connect", error="interrupted"), sent=False)
        try:
            attempted = await self._send(request, attempt)
        finally:
            self._budget.settle(reserved, attempted.reply)
        return attempted

    def _refuse(self, model: str) -> ChatReply | None:
        """Return why nothing is sent any more, or for now."""
        if self._unkept is not None:
            raise self._unkept
        breaker = self.breakers[model]
        if (last := breaker.last) and breaker.is_open:
            text = f"not sent: the calls before this one failed at {self._transport.server}: {last.error}"
            return ChatReply(failure=last.failure, error=text)
        if closed_s := self._limiter.closed_for_s:
            return ChatReply(failure="http_429", error=f"not sent: the server asked for no calls for another {closed_s:.0f} s")
        return None

    async def _keep(self, keep: Keep, request: ChatRequest, reply: ChatReply, *, in_slot: bool) -> None:
        self._being_kept += not in_slot
        try:
            await keep(request, reply)
        except Exception as error:
            self._unkept = error
            raise
        finally:
            self._being_kept -= not in_slot

    async def _send(self, request: ChatRequest, attempt: int) -> Attempt:
        expected = await self._limiter.keep_to_limits(request)
        # Much may have happened while it waited.
        if refusal := self._refuse(request.model):
            return Attempt(refusal, sent=False)
        started_s, retry_after_s = time.perf_counter(), None
        try:
            answer = await self._transport.post(request.sent_json.encode())
        except TransportError as error:
            reply = ChatReply(failure=error.failure, error=str(error), http_status=error.http_status)
        else:
            reply = self._read(answer, request)
            retry_after_s = self._heed(answer, reply)
        for scrub in self._scrubbers:
            reply = scrub(reply)
        error_text = reply.error
        if error_text is not None and len(error_text) > LONGEST_ERROR:
            error_text = f"{error_text[:LONGEST_ERROR]}..."
        reply = replace(reply, error=error_text, latency_s=time.perf_counter() - started_s, attempts=attempt, paid_as="live")
        self._limiter.note_reply(reply, expected)
        return Attempt(reply, retry_after_s)

    def _read(self, answer: HttpAnswer, request: ChatRequest) -> ChatReply:
        body = join_events(answer.body)
        if not httpx.codes.is_success(answer.status):
            reply, target = read_error(answer.status, body), answer.headers.get("Location")
            return replace(reply, error=f"{reply.error}; it leads to {hide_credentials(target)}") if target else reply
        same = self._entry.require_same_model
        return read_completion(body, answer.status, model=request.model, require_same_model=same)

    def _heed(self, answer: HttpAnswer, reply: ChatReply) -> float | None:
        """Read from the headers how long to wait before this call is tried again, or before any next call."""
        pause_s = read_pause(answer.headers, self._limiter.mean_tokens)
        if reply.failure is None:
            if pause_s and not self._limiter.is_paused:
                self._limiter.pause(pause_s)
            return None
        wait_s = read_wait(answer.headers)
        wait_s = pause_s if wait_s is None and reply.failure == "http_429" else wait_s
        if wait_s is not None and wait_s > BUDGET_S:
            self._limiter.pause(wait_s)
        return wait_s
