"""Run jobs in a bounded pool of workers, batch by batch, the longest expected first."""

import asyncio
import heapq
import os
import pickle
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, NamedTuple, Self

from schemas.worker_pool import Job, RunJobs
from tasks.lake.files import unwritable
from tasks.models.cost import Budget

SPARE = 32
"""Least number of workers beyond the calls that can be in flight, so that a free slot never waits for a prompt to be built."""

BEGUN_AT_ONCE, APART_S = 2, 0.0005
"""Workers begun together, and the seconds until the next: of hundreds at once none sends its call before all have prepared
theirs, and their replies come in waves between which there is nothing to do."""

AT_ONCE = 32
"""Results written together: each alone takes twice the time, in bytes of names that all of them have."""


class _Batch:
    """The jobs of one `do_all`: a future of each, and the results there are, most of them on the disk."""

    def __init__(self, ended: list[asyncio.Future[None]]) -> None:
        self.ended = ended
        self.places: list[tuple[int, int]] = []  # bytes of the file: first, number
        self.left: list[Any] = []


class _Waiting(NamedTuple):
    """A job in the heap: the batch with the longest job first, and in it the longest first, else the first to come."""

    rank: tuple[float, int, float, int]
    do: Callable[[], Awaitable[Any]]
    ended: asyncio.Future[None]
    batch: _Batch


class _Results:
    """Results of jobs in a file without a name, of which nothing is left once it is closed, however the process ends."""

    def __init__(self, folder: Path | None) -> None:
        self._where = folder or Path(gettempdir())
        with unwritable("results of calls cannot be kept until their partition is written", self._where):
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115  closed with the pool
        self._end = 0

    def put(self, result: Any, batch: _Batch) -> None:
        """Keep a result."""
        batch.left.append(result)
        if len(batch.left) < AT_ONCE:
            return
        left = memoryview(pickle.dumps(batch.left))
        batch.places.append((self._end, len(left)))
        batch.left = []
        with unwritable("a result of a call cannot be kept until its partition is written", self._where):
            while left:
                written = os.pwrite(self._file.fileno(), left, self._end)
                self._end, left = self._end + written, left[written:]

    def read(self, batch: _Batch) -> Iterator[Any]:
        """Read the results of a batch, in any thread."""
        for start, length in batch.places:
            yield from pickle.loads(os.pread(self._file.fileno(), length, start))  # noqa: S301  written by `put`
        yield from batch.left

    def close(self) -> None:
        """Give the disk's space back."""
        self._file.close()


class WorkerPool:
    """Run the jobs of all partitions that use one endpoint, or share a budget. Used as an async context manager.

    Thousands of jobs that wait as tasks cost memory and delay the first call; here they wait as entries of a heap. One
    partition is begun after the other, so that each is written, and judged, while the next is asked; what came of their jobs
    waits until then on the disk of `folder`, or in a temporary file.

    Under a budget jobs begin in rounds of one job of each batch. What the last rounds took says how many more fit: these begin
    together, at least one and at most twice as many as before. Once the budget is spent, calls of further rounds are not sent.
    """

    def __init__(self, concurrency: int, folder: Path | None = None, budget: Budget | None = None) -> None:
        self.budget = budget
        self._coming = set[int]()  # announced batches that are not there yet
        self._share_used = 0.0  # of the budget, when the last rounds had ended
        self._together, self._rounds = 1, 1  # that begin together, and that may have begun
        self._most_workers = concurrency + max(SPARE, concurrency)
        self._results = _Results(folder)
        self._heap: list[_Waiting] = []
        self._order = count()
        self._workers: set[asyncio.Task[None]] = set()
        self._beginning: asyncio.TimerHandle | None = None
        self._doing: dict[asyncio.Future[None], asyncio.Task[Any] | None] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        _cancel_all([waiting.ended for waiting in self._heap])
        if self._beginning is not None:
            self._beginning.cancel()
        workers = tuple(self._workers)
        _cancel_all(workers)
        await asyncio.gather(*workers, return_exceptions=True)
        self._results.close()

    @contextmanager
    def announce(self) -> Iterator[RunJobs]:
        """Yield `do_all` for a batch that is to come: under a budget nothing begins until it is there, or will not come."""
        batch = next(self._order)
        self._coming.add(batch)
        try:
            yield partial(self.do_all, announced=batch)
        finally:
            self._coming.discard(batch)
            self._begin()

    async def do_all(self, jobs: Sequence[Job], announced: int | None = None) -> Iterator[Any]:
        """Return the results of all jobs, in no order, read from the disk AT_ONCE at a time as long as the pool is open.

        The first error is raised; what was not begun by then is not begun. `announced`: number of the batch, if it was.
        """
        loop = asyncio.get_running_loop()
        batch = _Batch([loop.create_future() for _ in jobs])
        longest = max((job.length for job in jobs), default=0.0)
        first = next(self._order) if announced is None else announced
        for index, (job, ended) in enumerate(zip(jobs, batch.ended, strict=True)):
            rank = (-longest, first, -job.length, next(self._order)) if self.budget is None else (index, first, 0.0, 0)
            heapq.heappush(self._heap, _Waiting(rank, job.do, ended, batch))
        self._coming.discard(first)
        self._begin()
        try:
            await asyncio.gather(*batch.ended)
        finally:
            # The caller waits no more: what is not sent yet would be paid for and lost.
            self._drop(batch.ended)
        return self._results.read(batch)

    def _end(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        self._begin()

    def _begin(self) -> None:
        while self.budget and self._heap and not (self._doing or self._coming or self._may_begin()):
            took, self._share_used = self.budget.share_used - self._share_used, self.budget.share_used
            if took > 0:
                fitting = int(self._together * (1 - self._share_used) / took)
                self._together = max(1, min(2 * self._together, fitting))
            self._rounds += self._together
        if self._beginning is None:
            self._begin_some()

    def _begin_some(self) -> None:
        wanted = min(len(self._heap), self._most_workers - len(self._workers)) if self._may_begin() else 0
        for _ in range(min(wanted, BEGUN_AT_ONCE)):
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._end)
        more = wanted > BEGUN_AT_ONCE
        self._beginning = asyncio.get_running_loop().call_later(APART_S, self._begin_some) if more else None

    def _may_begin(self) -> bool:
        """Return whether a job waits whose turn it is; without a budget each rank begins with 0 or less."""
        return bool(self._heap) and not (self.budget and self._coming) and self._heap[0].rank[0] < self._rounds

    async def _work(self) -> None:
        while self._may_begin():
            job = heapq.heappop(self._heap)
            if not job.ended.done():
                await self._do(job)

    async def _do(self, job: _Waiting) -> None:
        self._doing[job.ended] = asyncio.current_task()
        try:
            self._results.put(await job.do(), job.batch)
        except asyncio.CancelledError:
            job.ended.cancel()
            raise  # another worker begins in place of this one
        except Exception as error:  # noqa: BLE001  it belongs to the caller that waits for the result
            if not job.ended.done():
                job.ended.set_exception(error)
                self._drop(job.batch.ended)
        else:
            if not job.ended.done():
                job.ended.set_result(None)
        finally:
            del self._doing[job.ended]

    def _drop(self, jobs: Sequence[asyncio.Future[None]]) -> None:
        _cancel_all(jobs)
        for ended in jobs:
            if ended.cancelled() and (worker := self._doing.get(ended)):
                worker.cancel()


def _cancel_all(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
