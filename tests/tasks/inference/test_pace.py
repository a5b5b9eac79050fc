"""Places, limits per minute and pauses of one endpoint."""

import asyncio

import pytest

from schemas.chat import ModelEntry
from tasks.inference.pace import Pace, Spacing
from tests.tasks.inference.calls import Pauses


def pace(pauses: Pauses, **limits: int) -> Pace:
    entry = ModelEntry.model_validate({"name": "paced", "base_url": "http://localhost/v1", **limits})
    return Pace(entry, lambda: 0.0, pauses)


async def started(tasks: list[asyncio.Task[None]]) -> list[int]:
    """Which of the tasks have got their place."""
    for _ in range(5):
        await asyncio.sleep(0)
    return [number for number, task in enumerate(tasks) if task.done()]


def enter(paced: Pace, calls: int, *, again: bool = False) -> list[asyncio.Task[None]]:
    return [asyncio.ensure_future(paced.enter(1.0, again=again)) for _ in range(calls)]


async def test_no_more_calls_start_than_the_window_has_places() -> None:
    paced = pace(Pauses(), concurrency=2)
    tasks = enter(paced, 4)
    assert await started(tasks) == [0, 1]
    paced.leave()
    assert await started(tasks) == [0, 1, 2]
    paced.leave()
    assert await started(tasks) == [0, 1, 2, 3]


async def test_a_further_attempt_goes_before_calls_not_tried_yet() -> None:
    paced = pace(Pauses(), concurrency=1)
    first, second = enter(paced, 2)
    await started([first, second])
    (again,) = enter(paced, 1, again=True)
    await started([again])
    paced.leave()
    assert await started([second, again]) == [1]


async def test_a_pause_holds_back_every_call_until_it_is_over() -> None:
    paced = pace(Pauses(), concurrency=8)
    async with paced.paused():
        tasks = enter(paced, 2)
        assert await started(tasks) == []
    assert await started(tasks) == [0, 1]


async def test_a_call_that_is_cancelled_while_it_waits_leaves_no_place_taken() -> None:
    paced = pace(Pauses(), concurrency=1)
    first, second, third = enter(paced, 3)
    await started([first])
    second.cancel()
    paced.leave()
    assert await started([third]) == [0]
    # The moment between getting the place and being told of it.
    waiting = enter(paced, 1)[0]
    await started([])
    paced.leave()
    waiting.cancel()
    assert await started(enter(paced, 1)) == [0]


def test_requests_per_minute_are_spread_evenly() -> None:
    spacing = Spacing(120)
    assert [spacing.book(1, 0.0) for _ in range(4)] == [0.0, 0.5, 1.0, 1.5]
    # 10 s later there is nothing to wait for, and what was not used then is not saved up.
    assert [spacing.book(1, 10.0) for _ in range(2)] == [0.0, 0.5]


def test_a_minute_never_holds_more_than_its_limit() -> None:
    spacing, now_s, starts = Spacing(90), 0.0, []
    for _ in range(500):
        now_s += spacing.book(1, now_s)
        starts.append(now_s)
    fullest = max(sum(start <= other < start + 60 for other in starts) for start in starts)
    # One more where both ends of the minute hold one.
    assert 90 <= fullest <= 91


def test_tokens_are_corrected_by_what_a_call_really_used() -> None:
    spacing = Spacing(6000)
    assert spacing.book(1000, 0.0) == 0.0
    # 1,000 of 6,000 per minute take 10 s; it used 400 instead, 4 s.
    spacing.correct(-600)
    assert spacing.book(1, 0.0) == pytest.approx(4.0)


async def test_the_stricter_limit_decides() -> None:
    pauses = Pauses()
    paced = pace(pauses, requests_per_minute=60, tokens_per_minute=600)
    await paced.enter(100)
    await paced.enter(100)
    # 1 s for the request, 10 s for the tokens of the first call.
    assert pauses.seconds == [10.0]
