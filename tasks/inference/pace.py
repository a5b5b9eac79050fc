"""When the next call to an endpoint may start: window, limits per minute, pauses the server asks for."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from schemas.chat import ModelEntry
from tasks.inference.window import AdaptiveWindow

MINUTE_S = 60.0
Sleep = Callable[[float], Awaitable[None]]


class Spacing:
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


class Pace:
    """Shared by all calls to one endpoint.

    Args:
        entry: the limits.
        clock: seconds, monotonic.
        sleep: waits for a number of seconds.
    """

    def __init__(self, entry: ModelEntry, clock: Callable[[], float], sleep: Sleep) -> None:
        self.window = AdaptiveWindow(entry.concurrency)
        self._requests = Spacing(entry.requests_per_minute) if entry.requests_per_minute else None
        self._tokens = Spacing(entry.tokens_per_minute) if entry.tokens_per_minute else None
        self._clock = clock
        self._sleep = sleep
        self._in_flight = 0
        self._pauses = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether the window is used up."""
        return self._in_flight >= self.window.size

    async def enter(self, tokens: float, *, again: bool = False) -> None:
        """Wait for a place, then until the limits per minute allow the call.

        Args:
            tokens: the call's, as expected.
            again: a further attempt goes before calls that were not tried yet.
        """
        if self._pauses or self.is_full or self._waiting:
            await self._queue(first=again)
        else:
            self._in_flight += 1
        try:
            await self._keep_to_limits(tokens)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self._in_flight -= 1
        self._admit()

    def note_answer(self, latency_s: float) -> None:
        """An answer came after so long; the window may grow by it."""
        self.window.note_answer(latency_s, self._clock(), full=bool(self._waiting) or self.is_full)
        self._admit()

    def settle(self, expected: float, used: float) -> None:
        """Book the difference between the tokens a call was expected to use and those it used."""
        if self._tokens:
            self._tokens.correct(used - expected)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """No call starts while the block runs; those in flight go on."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            self._admit()

    def _admit(self) -> None:
        while self._waiting and not self._pauses and not self.is_full:
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)

    async def _queue(self, *, first: bool) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the place was given in the same moment
            raise

    async def _keep_to_limits(self, tokens: float) -> None:
        now_s = self._clock()
        waits = [limit.book(amount, now_s) for limit, amount in ((self._requests, 1.0), (self._tokens, tokens)) if limit]
        if (wait_s := max(waits, default=0.0)) > 0:
            await self._sleep(wait_s)
