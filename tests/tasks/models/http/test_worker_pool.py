"""Jobs are begun in a bounded number, the longest first, and none after a failure."""

import asyncio
from collections.abc import Awaitable, Callable, Sized
from pathlib import Path

import pytest

from schemas.errors import LakeError
from schemas.worker_pool import Job
from tasks.models.cost import Budget
from tasks.models.http.worker_pool import SPARE, WorkerPool
from tests.tasks.models.making_calls import HANGS_S


async def settle() -> None:
    """Let everything begin that can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def until_there_are(number: int, things: Sized) -> None:
    """Wait for workers, of which a few begin at once."""
    async with asyncio.timeout(HANGS_S):
        while len(things) < number:  # noqa: ASYNC110  the pool announces nothing
            await asyncio.sleep(0)


def noting(begun: list[int], wait: Callable[[], Awaitable[object]]) -> Callable[[int], Job]:
    """Make jobs that note their length when they begin, and wait."""

    def job(length: int) -> Job:
        async def do() -> int:
            begun.append(length)
            await wait()
            return length * 10

        return Job(length, do)

    return job


async def test_every_result_comes_and_longest_is_begun_first() -> None:
    begun: list[int] = []
    async with WorkerPool(1) as pool:
        results = await pool.do_all(list(map(noting(begun, lambda: asyncio.sleep(0)), (3, 1, 2))))
        assert sorted(results) == [10, 20, 30]
    assert begun == [3, 2, 1]


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_folder_that_takes_no_results_is_named(tmp_path: Path) -> None:
    with pytest.raises(LakeError) as error:
        WorkerPool(1, tmp_path / "gone")
    assert error.value.where == str(tmp_path / "gone")


async def test_results_leave_no_files(tmp_path: Path) -> None:
    async with WorkerPool(1, tmp_path) as pool:
        assert list(await pool.do_all([Job(1.0, lambda: asyncio.sleep(0, "B"))])) == ["B"]
        assert names(tmp_path) == []


async def test_partitions_are_begun_one_after_the_other() -> None:
    begun: list[int] = []
    gate = asyncio.Event()
    job = noting(begun, gate.wait)
    async with WorkerPool(1) as pool:
        workers = SPARE + 1
        asked = [asyncio.ensure_future(pool.do_all([job(100) for _ in range(workers)]))]
        await until_there_are(workers, begun)
        asked += [asyncio.ensure_future(pool.do_all([job(length) for length in lengths])) for lengths in ((3, 5), (1, 7), (5, 2))]
        await settle()
        # All workers are busy, so nothing else has begun, however much waits.
        assert begun == [100] * workers
        gate.set()
        await asyncio.gather(*asked)
    assert begun[workers:] == [7, 1, 5, 3, 5, 2]


async def test_first_error_is_raised_and_stops_work() -> None:
    begun: list[str] = []
    ended: list[str] = []

    def job(name: str, do: Callable[[], Awaitable[None]]) -> Job:
        async def noted() -> None:
            begun.append(name)
            await do()
            ended.append(name)

        return Job(1.0, noted)

    async def fail() -> None:
        await until_there_are(SPARE + 1, begun)
        raise ValueError("the disk is full")

    async def go_on() -> None:
        await asyncio.Event().wait()

    async with WorkerPool(1) as pool:
        running = [job(f"running {number}", go_on) for number in range(SPARE)]
        waiting = [job(f"waiting {number}", go_on) for number in range(3)]
        with pytest.raises(ValueError, match="the disk is full"):
            await pool.do_all([job("failing", fail), *running, *waiting])
        # The pool goes on with the jobs of others.
        assert list(await asyncio.wait_for(pool.do_all([job("other", lambda: asyncio.sleep(0))]), HANGS_S)) == [None]
    assert len(begun) == SPARE + 2
    assert ended == ["other"]


async def test_late_work_is_done() -> None:
    async with WorkerPool(1) as pool:
        for _ in range(200):
            assert await asyncio.wait_for(pool.do_all([Job(1.0, lambda: asyncio.sleep(0)) for _ in range(SPARE + 1)]), HANGS_S)
            # No tick in between: workers that have ended must not count as there.


async def test_a_budget_is_spent_in_rounds() -> None:
    """A round takes 20 of 100: two follow the first, then the two that fit, then one whose calls would not be sent."""
    budget, together = Budget(tokens=100), list[list[str]]()

    def job(name: str) -> Job:
        async def do() -> None:
            if not at_work:
                together.append([])
            at_work.add(name)
            together[-1].append(name)
            await asyncio.sleep(0.01)
            budget.used_tokens += 10
            at_work.discard(name)

        return Job(len(name), do)

    at_work = set[str]()
    async with WorkerPool(8, budget=budget) as pool:
        with pool.announce() as first, pool.announce() as second, pool.announce():
            later = asyncio.ensure_future(second([job(f"longest {number}") for number in range(6)]))
            await settle()
            early = asyncio.ensure_future(first([job(f"short {number}") for number in range(6)]))
            await settle()
            # The third batch may still come.
            assert together == []
        await asyncio.gather(early, later)
    assert together == [
        ["short 0", "longest 0"],
        [f"{name} {number}" for number in (1, 2) for name in ("short", "longest")],
        [f"{name} {number}" for number in (3, 4) for name in ("short", "longest")],
        ["short 5", "longest 5"],
    ]


async def test_budgeted_work_survives_failure_and_cancellation() -> None:
    budget, done = Budget(tokens=1000), list[str]()

    def job(name: str) -> Job:
        async def do() -> None:
            if name == "failing 1":
                raise ValueError("the disk is full")
            if name == "waiting 1":
                waits.set()
                await asyncio.Event().wait()
            budget.used_tokens += 10
            done.append(name)

        return Job(1.0, do)

    waits = asyncio.Event()
    async with asyncio.timeout(HANGS_S), WorkerPool(8, budget=budget) as pool:
        with pool.announce() as first, pool.announce() as second, pool.announce() as third:
            asked = [
                asyncio.ensure_future(do_all([job(f"{name} {number}") for number in range(9)]))
                for do_all, name in ((first, "going on"), (second, "failing"), (third, "waiting"))
            ]
            with pytest.raises(LakeError), pool.announce():
                raise LakeError("its items are gone")
            await waits.wait()
            asked[2].cancel()
            with pytest.raises(ValueError, match="the disk is full"):
                await asked[1]
            await asked[0]
    assert asked[2].cancelled()
    assert [name for name in done if name.startswith("going on")] == [f"going on {number}" for number in range(9)]
    assert not [name for name in done if int(name[-1]) > 2 and not name.startswith("going on")]
