"""Limit the rate of calls to an endpoint: calls in flight, limits per minute, and pauses the server asks for in its headers.

Forms of such headers: `x-ratelimit-remaining-requests` / `-tokens` with `x-ratelimit-reset-...` as a duration such as `6m0s` or
`120ms` (OpenAI and those that follow it) or in seconds, `anthropic-ratelimit-requests-remaining` with a point in time, and
requests alone in `x-ratelimit-remaining` (OpenRouter, with milliseconds since 1970) or `ratelimit-remaining` (in seconds).
"""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from tasks.models.cost import Estimator, Expected
from tasks.models.http.adaptive_concurrency import AdaptiveConcurrency
from tasks.text.backoff import BUDGET_S, read_date, read_retry_after

MINUTE_S = 60.0
NEWEST = 0.05
"""Weight of the newest reply in the running mean of tokens per call."""

Sleep = Callable[[float], Awaitable[None]]


class EvenSpacing:
    """Spread an amount per minute evenly, so that no minute has more than that.

    Bursts would be faster to begin with, and twice the limit within a minute of the server's. No call takes more than one whole
    minute, whatever a server counts.
    """

    def __init__(self, per_minute: int) -> None:
        self._s_each = MINUTE_S / per_minute
        self._free_at_s = 0.0

    def book(self, amount: float, now_s: float) -> float:
        """Take an amount; return the seconds to wait before it may be used."""
        start_s = max(now_s, self._free_at_s)
        self._free_at_s = start_s + min(amount * self._s_each, MINUTE_S)
        return start_s - now_s

    def correct(self, by: float) -> None:
        """Book more (or less) for what was taken than was booked at first."""
        self._free_at_s += min(by * self._s_each, MINUTE_S)


class RateLimiter:
    """Limit the calls to one endpoint, which all share it; `clock` tells monotonic seconds."""

    def __init__(self, entry: ModelEntry, clock: Callable[[], float], sleep: Sleep) -> None:
        self._concurrency = AdaptiveConcurrency(entry.concurrency)
        self._requests = EvenSpacing(entry.requests_per_minute) if entry.requests_per_minute else None
        self._tokens = EvenSpacing(entry.tokens_per_minute) if entry.tokens_per_minute else None
        self._estimator = Estimator()
        self._clock = clock
        self._sleep = sleep
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pauses: set[asyncio.Future[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._closed_until_s = 0.0
        self.mean_tokens = 0.0

    @property
    def is_full(self) -> bool:
        """Whether as many calls are in flight as may be."""
        return self._in_flight >= self._concurrency.size

    @property
    def closed_for_s(self) -> float:
        """How much longer the server wants no call at all, where that is longer than a call waits; else 0."""
        return max(0.0, self._closed_until_s - self._clock())

    async def enter(self, *, again: bool = False) -> None:
        """Wait for a slot; a further attempt (`again`) goes before calls that were not tried yet."""
        if self._open.is_set() and not self.is_full and not self._waiting:
            self._in_flight += 1
            return
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(slot)
        else:
            self._waiting.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self.leave()  # the slot was given in the same moment
            raise

    def leave(self) -> None:
        """Give the slot back."""
        self._in_flight -= 1
        self._admit()

    async def keep_to_limits(self, request: ChatRequest) -> Expected | None:
        """Wait, with a slot, until the limits per minute allow the call and no pause has begun meanwhile.

        Return the tokens that were booked, for `note_reply`; null if tokens are not limited.
        """
        if self._requests is None and self._tokens is None:
            return None
        expected, now_s = self._estimator.expect(request) if self._tokens else None, self._clock()
        waits = [self._requests.book(1.0, now_s)] if self._requests else []
        if self._tokens and expected:
            waits.append(self._tokens.book(expected.prompt_tokens + expected.completion_tokens, now_s))
        if (wait_s := max(waits)) > 0:
            await self._sleep(wait_s)
        await self._open.wait()
        return expected

    def pause(self, seconds: float) -> asyncio.Future[None]:
        """Let no call start for so long; those in flight go on. One that is longer than a call waits closes the endpoint."""
        if seconds > BUDGET_S:
            self._closed_until_s = max(self._closed_until_s, self._clock() + seconds)
            seconds = 0.0
        else:
            self._open.clear()
        pause = asyncio.ensure_future(self._sleep(seconds))
        self._pauses.add(pause)
        pause.add_done_callback(self._end_pause)
        return pause

    @property
    def is_paused(self) -> bool:
        """Whether calls wait for a pause to be over."""
        return not self._open.is_set()

    def note_reply(self, reply: ChatReply, expected: Expected | None) -> None:
        """Adapt to the outcome of a call."""
        if reply.failure is None:
            full = bool(self._waiting) or self.is_full
            self._concurrency.note_answer(reply.latency_s or 0.0, self._clock(), full=full)
            self._admit()
        else:
            self._concurrency.note_failure(reply.failure)
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            used = reply.prompt_tokens + reply.completion_tokens
            self.mean_tokens += (used - self.mean_tokens) * (NEWEST if self.mean_tokens else 1.0)
            if self._tokens and expected:
                self._tokens.correct(used - expected.prompt_tokens - expected.completion_tokens)
                self._estimator.learn(expected.measure, reply.prompt_tokens, reply.completion_tokens)

    def close(self) -> None:
        """End all pauses."""
        for pause in self._pauses:
            pause.cancel()

    def _end_pause(self, pause: asyncio.Future[None]) -> None:
        self._pauses.discard(pause)
        if not self._pauses:
            self._open.set()
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._open.is_set() and not self.is_full:
            slot = self._waiting.popleft()
            if not slot.done():
                self._in_flight += 1
                slot.set_result(None)


KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
LARGEST_DURATION_S = 1e6
"""Numbers beyond it are points in time, in seconds or milliseconds since 1970."""


def read_pause(headers: Mapping[str, str], tokens: float) -> float | None:
    """Return the seconds until the server takes another call, if an answer says that none is left now, and when there will be.

    Fewer tokens left than an ordinary call has are none.
    """
    if not any("ratelimit" in name.lower() for name in headers):
        return None
    pauses = [pause for kind in KINDS if (pause := _pause_of(headers, kind, 1.0 if kind == "requests" else tokens)) is not None]
    return max(pauses, default=None)


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server that refused a call wants no other; `retry-after-ms` is finer than `Retry-After`."""
    text = headers.get("retry-after-ms", "").strip()
    return float(text) / 1000 if NUMBER.fullmatch(text) else read_retry_after(headers)


def _pause_of(headers: Mapping[str, str], kind: str, needed: float) -> float | None:
    plain = (("x-ratelimit-remaining", "x-ratelimit-reset"), ("ratelimit-remaining", "ratelimit-reset"))
    for remaining, reset in (
        (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"),
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset"),
        *(plain if kind == "requests" else ()),
    ):
        left = headers.get(remaining, "").strip()
        # What is overdrawn is below zero.
        if NUMBER.fullmatch(left.removeprefix("-")) and float(left) < needed:
            return read_duration(headers.get(reset, ""), headers.get("Date", ""))
    return None


def read_duration(text: str, date: str = "") -> float | None:
    """Return the seconds in `6m0s`, `120ms`, `7.5` or until a point in time by the answer's own date; None if it is none."""
    text = text.strip()
    parts = PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * SECONDS[unit] for number, unit in parts)
    try:
        if not NUMBER.fullmatch(text):
            return _until(datetime.fromisoformat(text), date)
        number = float(text)
        if number < LARGEST_DURATION_S:
            return number
        return _until(datetime.fromtimestamp(number / 1000 if number > LARGEST_DURATION_S**2 else number, UTC), date)
    except ValueError:
        return None


def _until(moment: datetime, date: str) -> float | None:
    now = read_date(date)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds()) if now else None
