"""Progress of the infer stage: a bar with rate, failures and time left, and a Prefect progress artifact."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
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

from schemas.chat import ChatReply

ARTIFACT_PERIOD_S = 5.0
LINE_PERIOD_S = 10.0


class RateColumn(ProgressColumn):
    """Calls per second; worked out when the bar is drawn, since that goes through the last thousand replies."""

    def render(self, task: Task) -> Text:
        """Empty until two calls have ended."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class ProgressWatcher:
    """Counts replies and shows them; a bar on a terminal, a line now and then in a log."""

    def __init__(self, title: str, progress: Progress) -> None:
        self._progress = progress
        self._bar = progress.add_task(title, total=0, failed=0)
        self.expected = 0
        self.ended = 0
        self.failed = 0

    def expect(self, calls: int) -> None:
        """More calls are coming."""
        self.expected += calls
        self._progress.update(self._bar, total=self.expected)

    def on_reply(self, reply: ChatReply) -> None:
        """One call ended."""
        self.ended += 1
        self.failed += reply.failure is not None
        self._progress.update(self._bar, advance=1, failed=self.failed)

    @property
    def percent(self) -> float:
        """Share of the calls known so far that have ended, in percent."""
        return 100 * self.ended / self.expected if self.expected else 0.0

    @property
    def line(self) -> str:
        """The state as one line of text."""
        return f"{self.ended}/{self.expected} calls, {self.failed} failed"


@asynccontextmanager
async def watch(title: str) -> AsyncIterator[ProgressWatcher]:
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
        watcher = ProgressWatcher(title, progress)
        artifact = await acreate_progress_artifact(0.0, key="inference-progress", description=title)
        reporters = [asyncio.create_task(_update_artifact(artifact, watcher))]
        if not console.is_terminal:
            reporters.append(asyncio.create_task(_print_lines(title, watcher)))
        try:
            yield watcher
        finally:
            for reporter in reporters:
                reporter.cancel()
                with suppress(asyncio.CancelledError):
                    await reporter
    await aupdate_progress_artifact(artifact, watcher.percent, description=f"{title}: {watcher.line}")


async def _update_artifact(artifact: UUID, watcher: ProgressWatcher) -> None:
    while True:
        await asyncio.sleep(ARTIFACT_PERIOD_S)
        await aupdate_progress_artifact(artifact, watcher.percent)


async def _print_lines(title: str, watcher: ProgressWatcher) -> None:
    while True:
        await asyncio.sleep(LINE_PERIOD_S)
        print(f"{title}: {watcher.line}", file=sys.stderr)  # noqa: T201  the terminal is where progress belongs
