"""Which failures are tried again after which delay, and when a dead server is given up."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from schemas.chat import ChatReply
from schemas.vocabulary import Failure
from tasks.models.http.failures import RETRIES
from tasks.text.backoff import Backoff, Retry

DEAD_AFTER_CALLS = 3
NOT_FOUND: tuple[Failure, ...] = ("connect", "timeout_connect")


@dataclass(frozen=True)
class CallRetryPolicy(Backoff[Failure]):
    """Decides on the next attempt of a call; `sleep` waits for a number of seconds."""

    retries: Mapping[Failure, Retry] = field(default_factory=lambda: RETRIES)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class CircuitBreaker:
    """Opens for good after calls in a row that found no server, so that a dead one costs seconds and not hours.

    It counts calls, not attempts: each has been retried for some seconds, so a server that restarts quickly is not given up.
    Anything that a server answered, an error too, starts the count anew.
    """

    def __init__(self, threshold: int = DEAD_AFTER_CALLS) -> None:
        self._threshold = threshold
        self._in_a_row = 0

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once, without being sent."""
        return self._in_a_row >= self._threshold

    def report(self, reply: ChatReply) -> None:
        """Take note of how a call ended."""
        if not self.is_open:
            self._in_a_row = self._in_a_row + 1 if reply.failure in NOT_FOUND else 0
