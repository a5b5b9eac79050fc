"""What is started at once: as much as is of use, the longest expected first."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

SPARE = 32
"""Least places beyond the calls that can be in flight, so that a free slot never waits for a question to be put together."""

ResultT = TypeVar("ResultT")


class Job(NamedTuple):
    """Something to do; what is expected to take longest is begun first, so that nothing long is left for the end."""

    length: float
    do: Callable[[], Awaitable[Any]]


class WorkerPool:
    """Does the work of all partitions that use one endpoint. Used as an async context manager.

    Thousands of questions that wait as tasks cost memory and delay the first call; here they wait as entries of a heap.

    Args:
        concurrency: calls that can be in flight.
    """

    def __init__(self, concurrency: int) -> None:
        self._places = concurrency + max(SPARE, concurrency)
        self._heap: list[tuple[float, int, Callable[[], Awaitable[Any]], asyncio.Future[Any], list[asyncio.Future[Any]]]] = []
        self._order = count()
        self._members: set[asyncio.Task[None]] = set()
        self._doing: dict[asyncio.Task[None], asyncio.Future[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        members = tuple(self._members)
        for member in members:
            member.cancel()
        await asyncio.gather(*members, return_exceptions=True)

    async def do_all(self, works: Sequence[Job]) -> list[Any]:
        """Do all of it.

        Returns:
            The results, in the order of `works`.

        Raises:
            The first error; what was not begun by then is not begun.
        """
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in works]
        for work, future in zip(works, futures, strict=True):
            heapq.heappush(self._heap, (-work.length, next(self._order), work.do, future, futures))
        for _ in range(min(len(works), self._places - len(self._members))):
            self._members.add(loop.create_task(self._work()))
        try:
            return await asyncio.gather(*futures)
        finally:
            _cancel_all(futures)

    async def _work(self) -> None:
        member = asyncio.current_task()
        assert member is not None  # noqa: S101  it runs as a task
        try:
            while self._heap:
                _, _, do, future, batch = heapq.heappop(self._heap)
                if not future.done():
                    await self._do(do, future, batch, member)
        finally:
            # At once: a member that has ended does no work, and whoever brings some now has to start others.
            self._members.discard(member)

    async def _do(
        self,
        do: Callable[[], Awaitable[Any]],
        future: asyncio.Future[Any],
        batch: list[asyncio.Future[Any]],
        member: asyncio.Task[None],
    ) -> None:
        # Nobody waits any more: what is not sent yet would be paid for and lost.
        drop = partial(self._drop, member)
        future.add_done_callback(drop)
        self._doing[member] = future
        error: BaseException | None = None
        result = None
        try:
            result = await do()
        except asyncio.CancelledError:
            if not future.cancelled() or member.uncancel():
                future.cancel()
                raise
        except Exception as raised:  # noqa: BLE001  it belongs to whoever waits for the result
            error = raised
        finally:
            del self._doing[member]
            future.remove_done_callback(drop)
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
            _cancel_all(batch)

    def _drop(self, member: asyncio.Task[None], future: asyncio.Future[Any]) -> None:
        # The member may be at other work by now.
        if self._doing.get(member) is future:
            member.cancel()


def _cancel_all(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
