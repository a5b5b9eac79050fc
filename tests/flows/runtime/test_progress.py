"""What is counted of a stage, and the rate and time left of its calls."""

import asyncio
import re
from datetime import datetime
from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress

from flows.runtime import progress as progress_module
from flows.runtime.progress import StageProgress, StateColumn, call_progress, print_lines
from schemas.chat import ChatReply


class Clock:
    """Half a second later at each look."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.5
        return self.now_s


def test_rate_and_time_left_follow_ended_calls() -> None:
    with Progress(StateColumn(), get_time=Clock(), disable=True) as progress:
        calls = StageProgress("asking", "calls", progress)
        calls.expect(10)
        assert StateColumn().render(calls.task).plain == "0/10 calls"
        for failure in (None, None, None, None, "http_5xx"):
            calls.on_reply(ChatReply(text=None if failure else "B", failure=failure))
        # Each reply looks at the clock once: 4 replies follow the first, half a second apart; 5 are left at that rate.
        assert StateColumn().render(calls.task).plain == "5/10 calls, 1 failed, 2.0/s, 0:00:03 left"
    assert calls.line == "asking: 5/10 calls, 1 failed"
    stamp, _, line = calls.log_line.partition(" asking: ")
    assert datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S").astimezone() <= datetime.now().astimezone()
    assert line == "5/10 calls, 1 failed, 2.0/s, 0:00:03 left"


@pytest.mark.parametrize(
    ("width", "title"), [(80, "longemotion…"), (120, "longemotion: a-model-with-a-long-name, another-mode…")]
)
def test_the_line_of_calls_fits_its_terminal(width: int, title: str) -> None:
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    progress = call_progress(console)
    progress.get_time = Clock()
    calls = StageProgress("longemotion: a-model-with-a-long-name, another-model and 4 more (base)", "calls", progress)
    calls.expect(16_400)
    for done in (1, 1_233):  # half a second apart
        progress.advance(calls.task.id, done)
    progress.update(calls.task.id, failed=12)
    (drawn,) = console.render_lines(progress.get_renderable())
    line = "".join(segment.text for segment in drawn)
    assert len(line) == width
    assert line[2 : 2 + len(title)] == title
    assert line.endswith("1,234/16,400 calls, 12 failed, 2,466.0/s, 0:00:07 left")


def test_a_log_gets_a_line_a_minute(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert progress_module.LINE_PERIOD_S == 60.0
    monkeypatch.setattr(progress_module, "LINE_PERIOD_S", 0.001)
    calls = StageProgress("asking", "calls", Progress(disable=True), 4)
    lines: list[str] = []

    async def read_two() -> None:
        printing = asyncio.create_task(print_lines(calls, Console(file=StringIO())))
        while len(lines) < 2:
            await asyncio.sleep(0.001)
            lines.extend(capsys.readouterr().err.splitlines())
        printing.cancel()

    asyncio.run(read_two())
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d asking: 0/4 calls", line) for line in lines)


def test_partitions_that_are_done_are_counted() -> None:
    async def work() -> int:
        return 3

    counter = StageProgress("tiny", "partitions", Progress(disable=True), 4)
    assert asyncio.run(counter.count(work())) == 3
    assert (counter.task.percentage, counter.line) == (25.0, "tiny: 1/4 partitions")
