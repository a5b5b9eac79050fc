"""Slots, limits per minute and pauses of one endpoint."""

import asyncio

import pytest
from multidict import CIMultiDict

from schemas.chat import ChatReply, ModelEntry
from tasks.models.http.rate_limiter import EvenSpacing, RateLimiter, Sleep, read_duration, read_pause, read_wait
from tests.rows import each_row
from tests.tasks.models.making_calls import HANGS_S, Pauses, request


def limited(sleep: Sleep, **limits: int) -> RateLimiter:
    entry = ModelEntry.model_validate({"name": "limited", "base_url": "http://localhost/v1", **limits})
    return RateLimiter(entry, lambda: 0.0, sleep)


async def started(tasks: list[asyncio.Task[None]]) -> list[int]:
    """Which of the tasks have got their slot."""
    for _ in range(5):
        await asyncio.sleep(0)
    return [number for number, task in enumerate(tasks) if task.done()]


def enter(limiter: RateLimiter, calls: int, *, again: bool = False) -> list[asyncio.Task[None]]:
    return [asyncio.ensure_future(limiter.enter(again=again)) for _ in range(calls)]


async def test_further_attempt_goes_before_calls_not_tried_yet() -> None:
    limiter = limited(Pauses(), concurrency=1)
    first, second = enter(limiter, 2)
    await started([first, second])
    (again,) = enter(limiter, 1, again=True)
    await started([again])
    limiter.leave()
    assert await started([second, again]) == [1]


async def test_waiting_call_starts_in_no_pause() -> None:
    # It has its slot and waits 6 s for the limit; meanwhile the server asks to be left alone for 20 s.
    pausing, spacing = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        await {6.0: spacing, 20.0: pausing}[seconds].wait()

    limiter = limited(sleep, requests_per_minute=10)
    await limiter.keep_to_limits(request())
    second = asyncio.ensure_future(limiter.keep_to_limits(request()))
    await started([])
    limiter.pause(20.0)
    spacing.set()
    await started([])
    assert not second.done()
    pausing.set()
    assert await asyncio.wait_for(second, HANGS_S) is None


async def test_two_pauses_are_over_when_the_longer_is() -> None:
    gates = {5.0: asyncio.Event(), 9.0: asyncio.Event()}
    limiter = limited(lambda seconds: wait(gates[seconds]), concurrency=8)
    pauses = [limiter.pause(seconds) for seconds in gates]
    await started([])
    gates[5.0].set()
    await pauses[0]
    assert limiter.is_paused
    gates[9.0].set()
    await pauses[1]
    assert not limiter.is_paused


async def wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_cancelled_waiting_call_frees_its_slot() -> None:
    limiter = limited(Pauses(), concurrency=1)
    first, second, third = enter(limiter, 3)
    await started([first])
    second.cancel()
    limiter.leave()
    assert await started([third]) == [0]
    # The moment between getting the slot and being told of it.
    waiting = enter(limiter, 1)[0]
    await started([])
    limiter.leave()
    waiting.cancel()
    assert await started(enter(limiter, 1)) == [0]


def test_requests_per_minute_are_spread_evenly() -> None:
    spacing = EvenSpacing(120)
    assert [spacing.book(1, 0.0) for _ in range(4)] == [0.0, 0.5, 1.0, 1.5]
    # 10 s later there is nothing to wait for, and what was not used then is not saved up.
    assert [spacing.book(1, 10.0) for _ in range(2)] == [0.0, 0.5]


def test_no_call_takes_more_than_a_whole_minute() -> None:
    spacing = EvenSpacing(100)
    assert (spacing.book(1.0, 0.0), spacing.book(2.0**62, 0.0)) == (0.0, 0.6)
    spacing.correct(2.0**62)
    assert spacing.book(1.0, 0.0) == 0.6 + 60 + 60


async def test_what_replies_used_corrects_booking_and_next_estimate() -> None:
    pauses = Pauses()
    limiter = limited(pauses, tokens_per_minute=600)
    booked = await limiter.keep_to_limits(request("w" * 384))
    limiter.note_reply(ChatReply(text="B", prompt_tokens=200, completion_tokens=10), booked)
    again = await limiter.keep_to_limits(request("w" * 384))
    # 210 tokens of 600 a minute: 21 s. The same prompt is now known to have 200 tokens, and its reply 10.
    assert pauses.seconds == [pytest.approx(21.0)]
    assert again is not None
    assert [again.prompt_tokens, again.completion_tokens] == pytest.approx([200, 10])


DATE, X = "Sat, 21 Nov 2026 10:00:00 GMT", "x-ratelimit"


@each_row(
    ("text", "seconds"),
    [
        ("1h2m3s", 3723.0),
        ("120ms", 0.12),
        ("2m59.56s", 179.56),
        ("7.5", 7.5),
        ("2026-11-21T11:00:00+01:00", 0.0),
        ("1795255230", 30.0),
        ("1795255230000", 30.0),
        ("9" * 15, None),
        ("9" * 20, None),
        ("soon", None),
        ("", None),
        ("-3", None),
    ],
)
def test_durations_and_points_in_time(text: str, seconds: float | None) -> None:
    found = read_duration(text, DATE)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_point_in_time_says_nothing_without_servers_date() -> None:
    assert read_duration("2026-11-21T10:00:30Z") is None


@each_row(
    ("headers", "pause_s"),
    [
        ("", None),
        ("x-ratelimit-remaining-requests=5 x-ratelimit-reset-requests=9s", None),
        # 200 tokens are left and an ordinary call takes 500.
        ("x-ratelimit-remaining-tokens=200 x-ratelimit-reset-tokens=1m0s", 60.0),
        ("x-ratelimit-remaining-tokens=800 x-ratelimit-reset-tokens=1m0s", None),
        ("anthropic-ratelimit-requests-remaining=0 anthropic-ratelimit-requests-reset=2026-11-21T10:00:12Z", 12.0),
        ("anthropic-ratelimit-output-tokens-remaining=10 anthropic-ratelimit-output-tokens-reset=2026-11-21T10:00:20Z", 20.0),
        (f"{X}-remaining-requests=0 {X}-reset-requests=2s {X}-remaining-tokens=0 {X}-reset-tokens=30s", 30.0),
        ("X-RateLimit-Remaining=0 X-RateLimit-Reset=1795255230000", 30.0),
        ("ratelimit-remaining=0 ratelimit-reset=12", 12.0),
        ("x-ratelimit-remaining-tokens=-40 x-ratelimit-reset-tokens=7s", 7.0),
        ("x-ratelimit-remaining-requests=0", None),
        ("x-ratelimit-remaining-requests=none", None),
    ],
)
def test_a_pause_is_read_where_nothing_is_left(headers: str, pause_s: float | None) -> None:
    named = CIMultiDict({"Date": DATE, **dict(header.split("=") for header in headers.split())})
    assert read_pause(named, tokens=500) == pause_s


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "later", "Retry-After": "2"}, 2.0),
        ({"Retry-After": "9" * 5000}, None),
        ({"Retry-After": f"Mon, 01 Jan 1{'0' * 20} 00:00:00 GMT", "Date": "Mon, 01 Jan 2026 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_what_a_refusal_asks_for(headers: dict[str, str], wait_s: float | None) -> None:
    assert read_wait(CIMultiDict(headers)) == wait_s
