"""Run jobs in a bounded pool of workers, the longest expected first."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, Self

from schemas.worker_pool import Job

SPARE = 32
"""Least number of workers beyond the calls that can be in flight, so that a free slot never waits for a prompt to be built."""


class WorkerPool:
    """Run the jobs of all partitions that use one endpoint. Used as an async context manager.

    Thousands of jobs that wait as tasks cost memory and delay the first call; here they wait as entries of a heap.

    Args:
        concurrency: calls that can be in flight.
    """

    def __init__(self, concurrency: int) -> None:
        self._most_workers = concurrency + max(SPARE, concurrency)
        self._heap: list[tuple[float, int, Callable[[], Awaitable[Any]], asyncio.Future[Any], list[asyncio.Future[Any]]]] = []
        self._order = count()
        self._workers: set[asyncio.Task[None]] = set()
        self._doing: dict[asyncio.Task[None], asyncio.Future[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        workers = tuple(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def do_all(self, jobs: Sequence[Job]) -> list[Any]:
        """Run all jobs.

        Returns:
            The results, in the order of `jobs`.

        Raises:
            Exception: the first error; what was not begun by then is not begun.
        """
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in jobs]
        for job, future in zip(jobs, futures, strict=True):
            heapq.heappush(self._heap, (-job.length, next(self._order), job.do, future, futures))
        for _ in range(min(len(jobs), self._most_workers - len(self._workers))):
            self._workers.add(loop.create_task(self._work()))
        try:
            return await asyncio.gather(*futures)
        finally:
            _cancel_all(futures)

    async def _work(self) -> None:
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101  it runs as a task
        try:
            while self._heap:
                _, _, do, future, batch = heapq.heappop(self._heap)
                if not future.done():
                    await self._do(do, future, batch, worker)
        finally:
            # At once: a worker that has ended takes no job, and a caller that brings one now has to start others.
            self._workers.discard(worker)

    async def _do(
        self,
        do: Callable[[], Awaitable[Any]],
        future: asyncio.Future[Any],
        batch: list[asyncio.Future[Any]],
        worker: asyncio.Task[None],
    ) -> None:
        # The caller waits no more: what is not sent yet would be paid for and lost.
        drop = partial(self._drop, worker)
        future.add_done_callback(drop)
        self._doing[worker] = future
        error: BaseException | None = None
        result = None
        try:
            result = await do()
        except asyncio.CancelledError:
            if not future.cancelled() or worker.uncancel():
                future.cancel()
                raise
        except Exception as raised:  # noqa: BLE001  it belongs to the caller that waits for the result
            error = raised
        finally:
            del self._doing[worker]
            future.remove_done_callback(drop)
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
            _cancel_all(batch)

    def _drop(self, worker: asyncio.Task[None], future: asyncio.Future[Any]) -> None:
        # The worker may have another job by now.
        if self._doing.get(worker) is future:
            worker.cancel()


def _cancel_all(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
