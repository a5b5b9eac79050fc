"""Who does work that consists of many calls to one endpoint."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

ResultT = TypeVar("ResultT")


class RunJobs(Protocol):
    """Somebody who begins as much at once as is of use, and the rest when there is room for it."""

    async def __call__(self, works: Sequence[tuple[float, Callable[[], Awaitable[ResultT]]]]) -> list[ResultT]:
        """Do all of it.

        Args:
            works: expected length of each, in any unit, and what does it; the longest is begun first.

        Returns:
            The results, in the order of `works`.

        Raises:
            The first error; what was not begun by then is not begun.
        """
        ...
