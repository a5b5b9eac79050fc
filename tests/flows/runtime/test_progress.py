"""The rate of the progress bar."""

import pytest
from rich.progress import Progress

from flows.runtime.progress import CallProgress, RateColumn
from schemas.chat import ChatReply


class Clock:
    """Half a second later at each look."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.5
        return self.now_s


def test_the_rate_is_that_of_the_calls_ended() -> None:
    column = RateColumn()
    with Progress(column, get_time=Clock(), disable=True) as progress:
        calls = CallProgress("asking", progress)
        calls.expect(10)
        assert column.render(progress.tasks[0]).plain == ""
        for _ in range(5):
            calls.on_reply(ChatReply(text="B"))
        # Each reply looks at the clock once: 4 replies follow the first, half a second apart.
        assert column.render(progress.tasks[0]).plain == "2.0/s"
    assert calls.line == "5/10 calls, 0 failed"


def test_the_time_left_follows_the_rate_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("flows.runtime.progress.time.monotonic", lambda: now_s)
    with Progress(disable=True) as progress:
        calls = CallProgress("asking", progress)
        calls.expect(10)
        assert calls.time_left == ""
        for _ in range(4):
            calls.on_reply(ChatReply(text="B"))
        now_s = 150.0
        # 4 calls in 50 s: the other 6 take 75 s.
        assert calls.time_left == ", about 1:15 left"
        for _ in range(6):
            calls.on_reply(ChatReply(text="B"))
        assert calls.time_left == ""
