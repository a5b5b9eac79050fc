"""Show the progress of stages: Prefect artifacts that move, and for calls a bar with rate, failures and time left."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from flows.runtime.prefect_flows import in_outermost_run
from schemas.chat import ChatReply

ARTIFACT_PERIOD_S = 5.0
LINE_PERIOD_S = 10.0


ResultT = TypeVar("ResultT")


class RateColumn(ProgressColumn):
    """Calls per second; worked out when the bar is drawn, since that goes through the last thousand replies."""

    def render(self, task: Task) -> Text:
        """Return the rate; empty until two calls have ended."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class StageProgress:
    """Counts what is done of a stage."""

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.done = 0

    @property
    def percent(self) -> float:
        """Return the share of what is known so far that is done, in percent."""
        return 100 * self.done / self.total if self.total else 0.0

    @property
    def line(self) -> str:
        """Return the state as one line of text."""
        return f"{self.done}/{self.total} partitions"


class CallProgress(StageProgress):
    """Counts replies and shows them: a bar on a terminal, a line every LINE_PERIOD_S in a log. A progress listener."""

    def __init__(self, title: str, progress: Progress) -> None:
        super().__init__()
        self.failed = 0
        self._progress = progress
        self._bar = progress.add_task(title, total=0, failed=0)
        self._began = time.monotonic()

    def expect(self, calls: int) -> None:
        """Expect so many more calls."""
        self.total += calls
        self._progress.update(self._bar, total=self.total)

    def on_reply(self, reply: ChatReply) -> None:
        """Count a call that ended."""
        self.done += 1
        self.failed += reply.failure is not None
        self._progress.update(self._bar, advance=1, failed=self.failed)

    @property
    def line(self) -> str:
        """Return the state as one line of text."""
        return f"{self.done}/{self.total} calls, {self.failed} failed"

    @property
    def time_left(self) -> str:
        """Return the time that is left at the rate so far, to be added to the line; empty until one call has ended."""
        if not 0 < self.done < self.total:
            return ""
        seconds = (time.monotonic() - self._began) / self.done * (self.total - self.done)
        return f", about {int(seconds) // 60}:{int(seconds) % 60:02} left"


class PartitionCounter(StageProgress):
    """Counts the partitions of a stage that are done; with none to do, all are."""

    async def count(self, work: Awaitable[ResultT]) -> ResultT:
        """Return the result of the work on one partition, which is counted then."""
        result = await work
        self.done += 1
        return result

    @property
    def percent(self) -> float:
        """Return the share of the partitions that are done, in percent."""
        return super().percent if self.total else 100.0


@asynccontextmanager
async def count_partitions(stage: str, title: str, total: int) -> AsyncIterator[PartitionCounter]:
    """Show how many of a stage's partitions are done in a Prefect artifact while the block runs."""
    counter = PartitionCounter(total)
    async with _moving_artifact(f"{stage}-progress", title, counter):
        yield counter


@asynccontextmanager
async def _moving_artifact(key: str, title: str, measured: StageProgress) -> AsyncIterator[None]:
    """Keep a progress artifact up to date; the last thing it shows is the state after the block, if that ended well."""
    with in_outermost_run():
        artifact = await acreate_progress_artifact(0.0, key=key, description=title)
    async with _in_background(_update_artifact(artifact, title, measured)):
        yield
    await aupdate_progress_artifact(artifact, measured.percent, description=f"{measured.line}, {title}")


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def show_calls(title: str) -> AsyncIterator[CallProgress]:
    """Show progress on standard error and in a Prefect artifact while the block runs."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        calls = CallProgress(title, progress)
        async with _moving_artifact("inference-progress", title, calls), _in_background(_print_lines(title, calls, console)):
            yield calls


async def _update_artifact(artifact: UUID, title: str, measured: StageProgress) -> None:
    while True:
        await asyncio.sleep(ARTIFACT_PERIOD_S)
        await aupdate_progress_artifact(artifact, measured.percent, description=f"{measured.line}, {title}")


async def _print_lines(title: str, calls: CallProgress, console: Console) -> None:
    while not console.is_terminal:  # a bar shows it there
        await asyncio.sleep(LINE_PERIOD_S)
        print(f"{title}: {calls.line}{calls.time_left}", file=sys.stderr)  # noqa: T201  the terminal is where progress belongs
