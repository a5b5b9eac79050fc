"""How many calls are in flight, which failures are tried again, and when a dead server is given up."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from schemas.chat import ChatReply
from schemas.vocabulary import Failure


@dataclass(frozen=True)
class Retry:
    """How one kind of failure is retried.

    `attempts` counts the first one too; `first_delay_s` doubles with each further attempt, up to `longest_delay_s`.
    """

    attempts: int
    first_delay_s: float
    longest_delay_s: float


NO_RETRY = Retry(attempts=1, first_delay_s=0, longest_delay_s=0)
RETRIES: dict[Failure, Retry] = {
    "connect": Retry(attempts=3, first_delay_s=0.5, longest_delay_s=4),
    "timeout": Retry(attempts=2, first_delay_s=1, longest_delay_s=4),
    "http_429": Retry(attempts=8, first_delay_s=1, longest_delay_s=60),
    "http_5xx": Retry(attempts=5, first_delay_s=1, longest_delay_s=30),
    "http_4xx": NO_RETRY,
    "malformed_reply": Retry(attempts=3, first_delay_s=0.5, longest_delay_s=4),
    # At temperature 0 the same question gets the same empty answer; a second try catches a provider's hiccup.
    "empty_reply": Retry(attempts=2, first_delay_s=0.5, longest_delay_s=4),
}
"""The one table of what is retried, how often and with which delay."""

LONGEST_RETRY_AFTER_S = 120.0
"""A server that asks for a longer pause has no quota left for this run."""

CONNECT_FAILURES_TO_OPEN = 8


@dataclass
class RetryPolicy:
    """Decides on the next attempt. `rng` spreads retries, so that clients do not come back all at once."""

    retries: dict[Failure, Retry] = field(default_factory=lambda: dict(RETRIES))
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)

    def delay_s(self, failure: Failure, attempt: int, retry_after_s: float | None) -> float | None:
        """Seconds to wait before the next attempt, or None if there is none.

        Args:
            failure: what went wrong.
            attempt: number of the attempt that failed, from 1.
            retry_after_s: what the server asked for; it is honoured, not shortened.
        """
        retry = self.retries[failure]
        if attempt >= retry.attempts or (retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
            return None
        backoff: float = min(retry.first_delay_s * 2 ** (attempt - 1), retry.longest_delay_s)
        return max(backoff * self.rng.uniform(0.5, 1), retry_after_s or 0)


class Limiter:
    """Slots of one endpoint, shared by all partitions in flight."""

    def __init__(self, concurrency: int) -> None:
        self._slots = asyncio.Semaphore(concurrency)

    async def __aenter__(self) -> Self:
        await self._slots.acquire()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._slots.release()


class CircuitBreaker:
    """Opens after connection failures in a row, so that a dead server costs seconds and not hours; a reply closes it."""

    def __init__(self, threshold: int = CONNECT_FAILURES_TO_OPEN) -> None:
        self._threshold = threshold
        self._in_a_row = 0

    @property
    def is_open(self) -> bool:
        """Whether calls should fail at once."""
        return self._in_a_row >= self._threshold

    def report(self, reply: ChatReply) -> None:
        """Take note of one attempt."""
        self._in_a_row = self._in_a_row + 1 if reply.failure == "connect" else 0
