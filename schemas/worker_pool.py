"""Protocols of a worker pool that runs jobs of many calls, and of a listener to their progress."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from schemas.chat import ChatReply

ResultT = TypeVar("ResultT")


class RunJobs(Protocol):
    """Begins as many jobs at once as is of use, and the rest when there is room."""

    async def __call__(self, jobs: Sequence[tuple[float, Callable[[], Awaitable[ResultT]]]]) -> list[ResultT]:
        """Run all jobs.

        Args:
            jobs: expected length of each, in any unit, and what does it; the longest is begun first.

        Returns:
            The results, in the order of `jobs`.

        Raises:
            Exception: the first error; what was not begun by then is not begun.
        """
        ...


class ProgressListener(Protocol):
    """Is told of every reply, such as a progress bar."""

    def expect(self, calls: int) -> None:
        """More calls are coming."""
        ...

    def on_reply(self, reply: ChatReply) -> None:
        """One call ended."""
        ...
