"""When the next call to an endpoint may start: window, limits per minute, pauses the server asks for."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from tasks.models.cost.estimate import Estimator, Expected
from tasks.models.http.adaptive_concurrency import AdaptiveConcurrency
from tasks.text.backoff import BUDGET_S

MINUTE_S = 60.0
NEWEST = 0.05
"""Weight of the newest reply in the running mean of tokens per call."""

Sleep = Callable[[float], Awaitable[None]]


class EvenSpacing:
    """Spreads an amount per minute evenly, so that no minute has more than that.

    Bursts would be faster to begin with, and twice the limit within a minute of the server's.
    """

    def __init__(self, per_minute: int) -> None:
        self._s_each = MINUTE_S / per_minute
        self._free_at_s = 0.0

    def book(self, amount: float, now_s: float) -> float:
        """Take an amount; seconds to wait before it may be used."""
        start_s = max(now_s, self._free_at_s)
        self._free_at_s = start_s + amount * self._s_each
        return start_s - now_s

    def correct(self, by: float) -> None:
        """What was taken turned out to be more (or less) than booked."""
        self._free_at_s += by * self._s_each


class RateLimiter:
    """Shared by all calls to one endpoint.

    Args:
        entry: the limits.
        clock: seconds, monotonic.
        sleep: waits for a number of seconds.
    """

    def __init__(self, entry: ModelEntry, clock: Callable[[], float], sleep: Sleep) -> None:
        self._window = AdaptiveConcurrency(entry.concurrency)
        self._requests = EvenSpacing(entry.requests_per_minute) if entry.requests_per_minute else None
        self._tokens = EvenSpacing(entry.tokens_per_minute) if entry.tokens_per_minute else None
        self._estimator = Estimator()
        self._clock = clock
        self._sleep = sleep
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pauses: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._closed_until_s = 0.0
        self.mean_tokens = 0.0

    @property
    def is_full(self) -> bool:
        """Whether the window is used up."""
        return self._in_flight >= self._window.size

    @property
    def closed_for_s(self) -> float:
        """How much longer the server wants no call at all, where that is longer than a call waits; else 0."""
        return max(0.0, self._closed_until_s - self._clock())

    async def enter(self, *, again: bool = False) -> None:
        """Wait for a place.

        Args:
            again: a further attempt goes before calls that were not tried yet.
        """
        if self._open.is_set() and not self.is_full and not self._waiting:
            self._in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the place was given in the same moment
            raise

    def leave(self) -> None:
        """Give the place back."""
        self._in_flight -= 1
        self._admit()

    async def keep_to_limits(self, request: ChatRequest) -> Expected | None:
        """Wait, with a place, until the limits per minute allow the call and no pause has begun meanwhile.

        Returns:
            The tokens that were booked, for `note_reply`; null if tokens are not limited.
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

    def pause(self, seconds: float) -> asyncio.Task[None]:
        """Let no call start for so long; those in flight go on. One that is longer than a call waits closes the endpoint."""
        if seconds > BUDGET_S:
            self._closed_until_s = max(self._closed_until_s, self._clock() + seconds)
            seconds = 0.0
        else:
            self._open.clear()
        pause = asyncio.create_task(self._pause(seconds))
        self._pauses.add(pause)
        return pause

    @property
    def is_paused(self) -> bool:
        """Whether calls wait for a pause to be over."""
        return not self._open.is_set()

    def note_reply(self, reply: ChatReply, expected: Expected | None) -> None:
        """Take note of what became of a call."""
        if reply.failure is None:
            full = bool(self._waiting) or self.is_full
            self._window.note_answer(reply.latency_s, self._clock(), full=full)
            self._admit()
        else:
            self._window.note_failure(reply.failure)
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            used = reply.prompt_tokens + reply.completion_tokens
            self.mean_tokens += (used - self.mean_tokens) * (NEWEST if self.mean_tokens else 1.0)
            if self._tokens and expected:
                self._tokens.correct(used - expected.prompt_tokens - expected.completion_tokens)
                self._estimator.learn(expected.measure, reply.prompt_tokens, reply.completion_tokens)

    def close(self) -> None:
        """End all pauses; nobody waits any more."""
        for pause in self._pauses:
            pause.cancel()

    async def _pause(self, seconds: float) -> None:
        try:
            await self._sleep(seconds)
        finally:
            pause = asyncio.current_task()
            assert pause is not None  # noqa: S101  it runs as a task
            self._pauses.discard(pause)
            if not self._pauses:
                self._open.set()
                self._admit()

    def _admit(self) -> None:
        while self._waiting and self._open.is_set() and not self.is_full:
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)


class Slot:
    """A place of one call, given back once.

    Args:
        pace: gave it.
    """

    def __init__(self, pace: RateLimiter) -> None:
        self._pace = pace
        self._left = False

    def leave(self) -> None:
        """Give it back, if that was not done before."""
        if not self._left:
            self._left = True
            self._pace.leave()
