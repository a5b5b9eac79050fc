"""Run jobs in a bounded pool of workers, the longest expected first."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any, NamedTuple, Self

from schemas.worker_pool import Job

SPARE = 32
"""Least number of workers beyond the calls that can be in flight, so that a free slot never waits for a prompt to be built."""


class _Waiting(NamedTuple):
    """A job in the heap: the longest first, then the first to come. `batch` has the results of all that came with it."""

    minus_length: float
    number: int
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
        self._most_workers = concurrency + max(SPARE, concurrency)
        self._heap: list[_Waiting] = []
        self._order = count()
        self._workers: set[asyncio.Task[None]] = set()
        self._doing: dict[asyncio.Future[Any], asyncio.Task[Any] | None] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        _cancel_all([waiting.result for waiting in self._heap])
        workers = tuple(self._workers)
        _cancel_all(workers)
        await asyncio.gather(*workers, return_exceptions=True)

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
            heapq.heappush(self._heap, _Waiting(-job.length, next(self._order), job.do, result, batch))
        self._begin()
        try:
            return await asyncio.gather(*batch)
        finally:
            # The caller waits no more: what is not sent yet would be paid for and lost.
            self._drop(batch)

    def _begin(self, ended: asyncio.Task[None] | None = None) -> None:
        if ended is not None:
            self._workers.discard(ended)
        for _ in range(min(len(self._heap), self._most_workers - len(self._workers))):
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._begin)

    async def _work(self) -> None:
        while self._heap:
            job = heapq.heappop(self._heap)
            if not job.result.done():
                await self._do(job)

    async def _do(self, job: _Waiting) -> None:
        self._doing[job.result] = asyncio.current_task()
        try:
            result = await job.do()
        except asyncio.CancelledError:
            job.result.cancel()
            raise  # another worker begins in place of this one
        except Exception as error:  # noqa: BLE001  it belongs to the caller that waits for the result
            if not job.result.done():
                job.result.set_exception(error)
                self._drop(job.batch)
        else:
            if not job.result.done():
                job.result.set_result(result)
        finally:
            del self._doing[job.result]

    def _drop(self, results: Sequence[asyncio.Future[Any]]) -> None:
        _cancel_all(results)
        for result in results:
            if result.cancelled() and (worker := self._doing.get(result)):
                worker.cancel()


def _cancel_all(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
