"""Run jobs in a bounded number, the longest expected first."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, Self

from schemas.worker_pool import Job

SPARE = 32
"""Least number of jobs begun beyond the calls that can be in flight, so that a free slot never waits for a prompt to be built."""


class _Waiting(NamedTuple):
    """A job in the heap: the longest first, then the first to come. `batch` has the results of all that came with it."""

    priority: tuple[float, int]
    do: Callable[[], Awaitable[Any]]
    result: asyncio.Future[Any]
    batch: Sequence[asyncio.Future[Any]]


class WorkerPool:
    """Run the jobs of all partitions that use one endpoint. Used as an async context manager.

    Thousands of jobs that wait as tasks cost memory and delay the first call; here they wait as entries of a heap.

    Args:
        concurrency: calls that can be in flight.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = concurrency + max(SPARE, concurrency)
        self._heap: list[_Waiting] = []
        self._order = count()
        self._running: set[asyncio.Future[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        _cancel_all([waiting.result for waiting in self._heap])
        running = tuple(self._running)
        _cancel_all(running)
        await asyncio.gather(*running, return_exceptions=True)

    async def do_all(self, jobs: Sequence[Job]) -> list[Any]:
        """Run all jobs.

        Returns:
            The results, in the order of `jobs`.

        Raises:
            Exception: the first error; what was not begun by then is not begun.
        """
        loop = asyncio.get_running_loop()
        batch = [loop.create_future() for _ in jobs]
        for job, result in zip(jobs, batch, strict=True):
            heapq.heappush(self._heap, _Waiting((-job.length, next(self._order)), job.do, result, batch))
        self._begin()
        try:
            return await asyncio.gather(*batch)
        finally:
            # The caller waits no more: what is not sent yet would be paid for and lost.
            _cancel_all(batch)

    def _begin(self) -> None:
        while self._heap and len(self._running) < self._most:
            waiting = heapq.heappop(self._heap)
            if not waiting.result.done():
                task = asyncio.ensure_future(waiting.do())
                self._running.add(task)
                waiting.result.add_done_callback(partial(_stop, task))
                task.add_done_callback(partial(self._end, waiting))

    def _end(self, job: _Waiting, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        if task.cancelled():
            job.result.cancel()
        elif error := task.exception():
            if not job.result.done():
                job.result.set_exception(error)
            _cancel_all(job.batch)
        elif not job.result.done():
            job.result.set_result(task.result())
        self._begin()


def _stop(task: asyncio.Future[Any], _: asyncio.Future[Any]) -> None:
    task.cancel()


def _cancel_all(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
