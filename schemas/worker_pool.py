"""Jobs of many calls that a worker pool runs, and the protocol of a listener to their progress."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from schemas.chat import ChatReply


class Job(NamedTuple):
    """Something to do; the longest, in any unit, is begun first, so that nothing long is left for the end."""

    length: float
    do: Callable[[], Awaitable[Any]]


RunJobs = Callable[[Sequence[Job]], Awaitable[Iterable[Any]]]
"""Begins as many jobs at once as is of use, and the rest when there is room; returns the results, in no order.

The first error is raised; what was not begun by then is not begun.
"""


class ProgressListener(Protocol):
    """Is told of every reply, such as a progress bar."""

    def expect(self, calls: int) -> None:
        """More calls are coming."""

    def on_reply(self, reply: ChatReply) -> None:
        """One call ended."""
