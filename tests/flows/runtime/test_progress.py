"""What is counted of a stage, and the rate and time left of its calls."""

import asyncio

from rich.progress import Progress

from flows.runtime.progress import RateColumn, StageProgress
from schemas.chat import ChatReply


class Clock:
    """Half a second later at each look."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.5
        return self.now_s


def test_rate_and_time_left_follow_ended_calls() -> None:
    with Progress(RateColumn(), get_time=Clock(), disable=True) as progress:
        calls = StageProgress("asking", "calls", progress)
        calls.expect(10)
        assert (RateColumn().render(calls.task).plain, calls.time_left) == ("", "")
        for failure in (None, None, None, None, "http_5xx"):
            calls.on_reply(ChatReply(text=None if failure else "B", failure=failure))
        # Each reply looks at the clock once: 4 replies follow the first, half a second apart; 5 are left at that rate.
        assert RateColumn().render(calls.task).plain == "2.0/s"
    assert (calls.line, calls.time_left) == ("asking: 5/10 calls, 1 failed", ", about 0:00:03 left")


def test_partitions_that_are_done_are_counted() -> None:
    async def work() -> int:
        return 3

    counter = StageProgress("tiny", "partitions", Progress(disable=True), 4)
    assert asyncio.run(counter.count(work())) == 3
    assert (counter.task.percentage, counter.line) == (25.0, "tiny: 1/4 partitions")
