"""Find the inputs and outputs of a step, and emit its OpenLineage events.

They go into the lake, and to the endpoint that OpenLineage's configuration names. Transports are those of openlineage-python. No
failure here ever reaches the step: it is logged once, and the events in the lake are complete whatever an endpoint does.
"""

import asyncio
import atexit
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from queue import Queue
from typing import Any

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunEvent
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.transport.noop import NoopConfig, NoopTransport

from schemas.chat import ModelEntry
from schemas.dataset import DatasetSpec, PinnedFile
from schemas.folders import Folder
from schemas.lineage import SOURCES, Missing, PartitionKey, PartitionRef, RunManifest
from schemas.printing import tell
from tasks.lake.lake import Lake
from tasks.lineage.events import JobInputs, JobOutputs, JobSource, StepEvents, StepRun

FOLDER = "openlineage"
"""Of the lake."""

STORE = "tasks.lake.objects.ObjectStore"
"""How OpenLineage's file transport writes into a lake in an object store."""

END_LIMIT_S = 5.0
"""Longest that a process waits at its end for an endpoint to take what is left."""

RUN_FILE = re.compile(r"(?:.*[/\\])?runs[/\\][^/\\\n]+[/\\][^/\\\n]+\.json")
"""Address of a file of a run's folder; names of models have slashes, too."""


class StepTrace:
    """The events of one run of a step; without a lake among its arguments there are none. Never raises."""

    def __init__(self, step: Callable[[], StepRun], arguments: Iterable[object]) -> None:
        self._events: StepEvents | None = None
        guarded(lambda: self._prepare(step, list(arguments)))

    def _prepare(self, step: Callable[[], StepRun], arguments: list[object]) -> None:
        lake = next((argument for argument in arguments if isinstance(argument, Lake)), None)
        if lake is not None and os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() != "true":
            job = next((argument for argument in arguments if not isinstance(argument, Lake)), None)
            self._events = StepEvents(step(), inputs_of(job), lake)

    @property
    def inputs(self) -> JobInputs:
        """What the step's job names."""
        return self._events.inputs if self._events else JobInputs()

    async def start(self) -> None:
        """Emit that the step begins."""
        await self._emit(StepEvents.start)

    async def complete(self, result: object, *, up_to_date: bool) -> None:
        """Emit that the step completed, and its outputs."""
        await self._emit(lambda events: events.complete(outputs_of(result), up_to_date=up_to_date))

    def fail(self, message: str, *, interrupted: bool = False) -> None:
        """Emit that the step failed; `message` must hold no secret. At once, since a step that is interrupted cannot wait."""
        self._emit_now(lambda events: events.fail(message, interrupted=interrupted))

    async def _emit(self, make: Callable[[StepEvents], RunEvent]) -> None:
        if self._events is None or isinstance(self._events.lake.root, Path):
            self._emit_now(make)
        else:
            await asyncio.to_thread(self._emit_now, make)  # an object store takes its time, other steps go on meanwhile

    def _emit_now(self, make: Callable[[StepEvents], RunEvent]) -> None:
        if events := self._events:
            guarded(lambda: emit(make(events), events.lake.root))


class EndpointQueue:
    """Sends events to an endpoint from a thread of its own, in order, so that no step waits; ends with the first failure."""

    def __init__(self, send: Callable[[RunEvent], object]) -> None:
        self._send = send
        self._waiting: Queue[RunEvent | None] = Queue()
        self._thread = threading.Thread(target=self._run, name="openlineage", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def put(self, event: RunEvent) -> None:
        """Send an event when its turn comes."""
        if self._thread.is_alive():
            self._waiting.put(event)

    def close(self, limit_s: float = END_LIMIT_S) -> None:
        """Wait until all events are sent, no longer than `limit_s` seconds."""
        self._waiting.put(None)
        self._thread.join(limit_s)
        if self._thread.is_alive():
            _warn_of_refusal(f"no answer within {limit_s:g} s")

    def _run(self) -> None:
        try:
            for event in iter(self._waiting.get, None):
                self._send(event)
        except Exception as error:  # noqa: BLE001  whatever an endpoint does, the run goes on
            _warn_of_refusal(_reason(error))


def _warn_of_refusal(reason: str) -> None:
    warn_once(f"the OpenLineage endpoint takes no events ({reason}); all of them are in the lake, {FOLDER}/")


def emit(event: RunEvent, lake: Folder) -> None:
    """Write an event into the lake, then queue it for the endpoint if one is configured.

    It is a line of the day's file, one write at its end, so that processes can share the file; in an object store it is an
    object, since objects have no end to write at. RuntimeError, OSError, LakeError: the lake does not take it.
    """
    day = event.eventTime[:10]
    try:
        if isinstance(lake, Path):
            (lake / FOLDER).mkdir(parents=True, exist_ok=True)
            config = FileConfig(str(lake / FOLDER / f"{day}.ndjson"), append=True)
        else:
            config = FileConfig(f"{lake / FOLDER / day / event.run.runId}", filesystem=STORE)
        FileTransport(config).emit(event)
    finally:
        if endpoint := find_endpoint():  # its client adds facets to the event, so not before
            endpoint.put(event)


def guarded(work: Callable[[], object]) -> None:
    """Do the work; log a failure once and go on."""
    try:
        work()
    except Exception as error:  # noqa: BLE001  lineage events are told beside a run and must never end it
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error  # of the file transport
        warn_once(f"an OpenLineage event is lost: {type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}")


@cache
def warn_once(text: str) -> None:
    """Write a warning to standard error, the first time."""
    tell(text)


@cache
def find_endpoint() -> EndpointQueue | None:
    """Return the endpoint of OPENLINEAGE_URL, OPENLINEAGE_CONFIG or openlineage.yml, as OpenLineage's client finds it."""
    try:
        configured = OpenLineageClient(transport=NoopTransport(NoopConfig())).config.transport or {}
        if "OPENLINEAGE_URL" not in os.environ and not configured.get("type"):
            return None  # the client would print events
        return EndpointQueue(OpenLineageClient().emit)
    except Exception as error:  # noqa: BLE001  a configuration that cannot be used must not end a run
        warn_once(f"the OpenLineage endpoint cannot be used ({_reason(error)}); events are in the lake, {FOLDER}/")
        return None


def _reason(error: Exception) -> str:
    """Return what may be logged of an error: messages of HTTP errors hold addresses, which may hold passwords."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{type(error).__name__} {status}" if status else type(error).__name__


def inputs_of(job: object) -> JobInputs:
    """Find what a job names: in its fields, what these hold included; the properties `key` and `keys` count as fields."""
    values = list(_walk(job))
    outputs = [value for value in values if isinstance(value, PartitionKey)]
    specs = [value for value in values if isinstance(value, DatasetSpec)]
    variables = [variable for value in values if isinstance(value, ModelEntry) for variable in value.key_variables]
    owners = (getattr(job, name, None) for name in ("blueprint", "manifest"))
    subjects = (getattr(owner, name, None) for owner in owners for name in ("name", "benchmark"))
    return JobInputs(
        inputs=tuple(dict.fromkeys(value for value in values if isinstance(value, PartitionRef))),
        sources=tuple(source for spec in specs for source in _sources(spec, outputs)),
        outputs=tuple({(value.layer, value.fingerprint): value for value in outputs}.values()),
        key_variables=tuple(dict.fromkeys(variables)),
        subject=next((name for name in subjects if isinstance(name, str)), None),
    )


def outputs_of(result: object) -> JobOutputs:
    """Find what a step returned: a reference, several, an address, or an object that has addresses in its fields."""
    if isinstance(result, Missing):
        return JobOutputs(missing=result)
    values = list(_walk(result))
    files = tuple(value for value in values if isinstance(value, str) and RUN_FILE.fullmatch(value))
    return JobOutputs(refs=tuple(value for value in values if isinstance(value, PartitionRef)), files=files)


def _walk(value: object) -> Iterator[object]:
    if isinstance(value, DatasetSpec | PartitionKey | PartitionRef | ModelEntry | str):
        yield value
    elif isinstance(value, RunManifest):
        yield from value.partitions
    elif isinstance(value, list | tuple | Mapping):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _walk(member)
    elif is_dataclass(value) and not isinstance(value, type):
        for member in fields(value):
            yield from _walk(getattr(value, member.name))
    for name in ("key", "keys"):
        if isinstance(getattr(type(value), name, None), property | cached_property):
            yield from _walk(getattr(value, name))


def _sources(spec: DatasetSpec, outputs: Sequence[PartitionKey]) -> Iterator[JobSource]:
    """Yield the source files of a dataset. The key has their hashes, in order; of an archive's member not the file's own."""
    hashes: list[Any] = next((key.settings[SOURCES] for key in outputs if SOURCES in key.settings), [])
    digests = hashes if len(hashes) == len(spec.files) else [None] * len(spec.files)
    for file, digest in zip(spec.files, digests, strict=True):
        pinned = file.sha256 if isinstance(file, PinnedFile) else None
        yield JobSource(file, pinned or digest)
