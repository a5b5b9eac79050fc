"""A step that tells what it reads and writes, as OpenLineage events around its body."""

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from openlineage.client.event_v2 import RunEvent

from tasks.lake.lake import Lake
from tasks.lineage.emission import emit, guarded, is_disabled
from tasks.lineage.events import StepEvents, StepRun
from tasks.lineage.inputs_outputs import JobInputs, inputs_of, outputs_of


class StepTrace:
    """The events of one run of a step; without a lake among its arguments there are none. Never raises."""

    def __init__(self, step: Callable[[], StepRun], arguments: Iterable[object]) -> None:
        self._events: StepEvents | None = None
        guarded(lambda: self._prepare(step, list(arguments)))

    def _prepare(self, step: Callable[[], StepRun], arguments: list[object]) -> None:
        lake = next((one for one in arguments if isinstance(one, Lake)), None)
        if lake is not None and not is_disabled(os.environ):
            job = next((one for one in arguments if not isinstance(one, Lake)), None)
            self._events = StepEvents(step(), inputs_of(job), lake)

    @property
    def traffic(self) -> JobInputs:
        """What the step's job names."""
        return self._events.traffic if self._events else JobInputs()

    async def start(self) -> None:
        """Tell that the step begins."""
        if self._events:
            await self._tell(self._events.start)

    async def complete(self, result: object, *, up_to_date: bool) -> None:
        """Tell that it ended as it should, and with what."""
        if self._events:
            await self._tell(partial(_completed, self._events, result, up_to_date=up_to_date))

    def fail(self, message: str, *, interrupted: bool = False) -> None:
        """Tell that it did not; `message` must hold no secret. At once, since a step that is interrupted cannot wait."""
        if self._events:
            self._emit(partial(self._events.fail, message, interrupted=interrupted))

    async def _tell(self, make: Callable[[], RunEvent]) -> None:
        if self._events and isinstance(self._events.lake.root, Path):
            self._emit(make)
        else:
            await asyncio.to_thread(self._emit, make)  # an object store takes its time, other steps go on meanwhile

    def _emit(self, make: Callable[[], RunEvent]) -> None:
        events = self._events
        if events:
            guarded(lambda: emit(make(), events.lake.root))


def _completed(events: StepEvents, result: object, *, up_to_date: bool) -> RunEvent:
    return events.complete(outputs_of(result), up_to_date=up_to_date)
