"""Show the progress of stages: Prefect artifacts that move, and for calls a bar with rate, failures and time left."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
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
    """Counts what is done of a stage: partitions, or calls, as their progress listener."""

    def __init__(self, title: str, unit: str, progress: Progress, total: int = 0) -> None:
        self._title = title
        self._unit = unit
        self._progress = progress
        progress.add_task(title, total=total, failed=0)
        self.task = progress.tasks[-1]

    def expect(self, calls: int) -> None:
        """Expect so many more calls."""
        self._progress.update(self.task.id, total=(self.task.total or 0) + calls)

    def on_reply(self, reply: ChatReply) -> None:
        """Count a call that ended."""
        failed = self.task.fields["failed"] + (reply.failure not in {None, "budget"})
        self._progress.update(self.task.id, advance=1, failed=failed)

    async def count(self, work: Awaitable[ResultT]) -> ResultT:
        """Return the result of the work on one partition, which is counted then."""
        result = await work
        self._progress.advance(self.task.id)
        return result

    @property
    def line(self) -> str:
        """Return the state as one line of text."""
        failed = f", {self.task.fields['failed']} failed" if self.task.fields["failed"] else ""
        return f"{self._title}: {self.task.completed:g}/{self.task.total or 0:g} {self._unit}{failed}"

    @property
    def time_left(self) -> str:
        """Return the time that is left at the rate so far, to be added to the line; empty where that is not known."""
        return f", about {timedelta(seconds=self.task.time_remaining)} left" if self.task.time_remaining else ""


@asynccontextmanager
async def count_partitions(stage: str, title: str, total: int) -> AsyncIterator[StageProgress]:
    """Show how many of a stage's partitions are done in a Prefect artifact while the block runs."""
    async with _moving_artifact(stage, StageProgress(title, "partitions", Progress(disable=True), total)) as counter:
        yield counter


@asynccontextmanager
async def show_calls(title: str) -> AsyncIterator[StageProgress]:
    """Show progress on standard error and in a Prefect artifact while the block runs."""
    console = Console(stderr=True)
    failed = TextColumn("{task.fields[failed]} failed")
    columns = (SpinnerColumn(), *Progress.get_default_columns(), MofNCompleteColumn(), RateColumn(), failed, TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        calls = StageProgress(title, "calls", progress)
        async with _moving_artifact("inference", calls), _in_background(_print_lines(calls, console)):
            yield calls


@asynccontextmanager
async def _moving_artifact(stage: str, progress: StageProgress) -> AsyncIterator[StageProgress]:
    """Keep a progress artifact up to date; it shows that all is done once the block has ended well."""
    with in_outermost_run():
        artifact = await acreate_progress_artifact(0.0, key=f"{stage}-progress", description=progress.line)

    async def update() -> None:
        while True:
            await asyncio.sleep(ARTIFACT_PERIOD_S)
            await aupdate_progress_artifact(artifact, progress.task.percentage, description=progress.line)

    async with _in_background(update()):
        yield progress
    await aupdate_progress_artifact(artifact, 100.0, description=progress.line)


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _print_lines(calls: StageProgress, console: Console) -> None:
    while not console.is_terminal:  # a bar shows it there
        await asyncio.sleep(LINE_PERIOD_S)
        print(f"{calls.line}{calls.time_left}", file=sys.stderr)  # noqa: T201  the terminal is where progress belongs
