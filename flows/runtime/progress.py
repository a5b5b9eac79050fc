"""Show the progress of stages: Prefect artifacts that move; for calls a line on a terminal, or lines in a log."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from flows.runtime.prefect_flows import in_outermost_run
from schemas.chat import ChatReply
from schemas.printing import shows_progress
from tasks.models.journal.journal import NOT_SENT

ARTIFACT_PERIOD_S = 5.0
LINE_PERIOD_S = 60.0
BAR_WIDTH = 10

ResultT = TypeVar("ResultT")


class StateColumn(ProgressColumn):
    """Calls done, rate and time left; worked out when the line is drawn, since that goes through the last thousand replies."""

    def render(self, task: Task) -> Text:
        """Return the state of the calls."""
        return Text(_count(task) + _pace(task))


def _count(task: Task) -> str:
    failed = f", {task.fields['failed']:,} failed" if task.fields["failed"] else ""
    return f"{task.completed:,.0f}/{task.total or 0:,.0f} {task.fields['unit']}{failed}"


def _pace(task: Task) -> str:
    """Return rate and time left, to be added to the count; what is not known yet is left out."""
    rate = f", {task.speed:,.1f}/s" if task.speed else ""
    return rate + (f", {timedelta(seconds=task.time_remaining)} left" if task.time_remaining else "")


class StageProgress:
    """Counts what is done of a stage: partitions, or calls, as their progress listener."""

    def __init__(self, title: str, unit: str, progress: Progress, total: int = 0) -> None:
        self._title = title
        self._progress = progress
        progress.add_task(title, total=total, failed=0, unit=unit)
        self.task = progress.tasks[-1]

    def expect(self, calls: int) -> None:
        """Expect so many more calls."""
        self._progress.update(self.task.id, total=(self.task.total or 0) + calls)

    def on_reply(self, reply: ChatReply) -> None:
        """Count a call that ended."""
        failed = self.task.fields["failed"] + (reply.failure is not None and reply.failure not in NOT_SENT)
        self._progress.update(self.task.id, advance=1, failed=failed)

    async def count(self, work: Awaitable[ResultT]) -> ResultT:
        """Return the result of the work on one partition, which is counted then."""
        result = await work
        self._progress.advance(self.task.id)
        return result

    @property
    def line(self) -> str:
        """Return the state as one line of text."""
        return f"{self._title}: {_count(self.task)}"

    @property
    def log_line(self) -> str:
        """Return the same for a log: after the time of day, and with rate and time left."""
        return f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S} {self.line}{_pace(self.task)}"


def count_partitions(stage: str, title: str, total: int) -> AbstractAsyncContextManager[StageProgress]:
    """Show how many of a stage's partitions are done in a Prefect artifact while the block runs."""
    return _moving_artifact(stage, StageProgress(title, "partitions", Progress(disable=True), total))


@asynccontextmanager
async def show_calls(title: str) -> AsyncIterator[StageProgress]:
    """Show progress on standard error and in a Prefect artifact while the block runs."""
    console = Console(stderr=True, quiet=not shows_progress.get())
    with call_progress(console) as progress:
        calls = StageProgress(title, "calls", progress)
        async with _moving_artifact("inference", calls), _in_background(print_lines(calls, console)):
            yield calls


def call_progress(console: Console) -> Progress:
    """Return a line that fits its terminal: the title is cut, not the state of the calls. Elsewhere it is not drawn."""
    title = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"))
    columns = (SpinnerColumn(), title, BarColumn(BAR_WIDTH), StateColumn(Column(no_wrap=True)))
    return Progress(*columns, console=console, expand=True, disable=not console.is_terminal)


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


async def print_lines(calls: StageProgress, console: Console) -> None:
    """Print a line a minute where standard error is no terminal."""
    while not (console.is_terminal or console.quiet):  # a bar shows it there
        await asyncio.sleep(LINE_PERIOD_S)
        print(calls.log_line, file=sys.stderr)  # noqa: T201  a log is where progress belongs
