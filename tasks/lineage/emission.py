"""Where OpenLineage events go: a file of the lake, or the endpoint that OpenLineage's standard environment names.

No failure here ever reaches the step that is told about: it is said once, and events go to the lake.
"""

import atexit
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunEvent, RunState
from openlineage.client.serde import Serde
from openlineage.client.transport.http import HttpConfig, HttpTransport
from openlineage.client.transport.noop import NoopConfig, NoopTransport

from schemas.errors import UsageError
from schemas.folders import Folder
from tasks.lake.files import replace_file

FOLDER = "openlineage"
"""Of the lake."""

ENDPOINT = "api/v1/lineage"
TIMEOUT_S, RETRIES = 3.0, 1
"""Of an endpoint that OPENLINEAGE_URL names; a configuration file has its own."""

END_LIMIT_S = 5.0
"""Longest that a process waits at its end for an endpoint to take what is left; that then goes to the lake."""

CONFIGURING = ("OPENLINEAGE_CONFIG", "OPENLINEAGE__")
"""Beginnings of variables that OpenLineage's own client takes its configuration from."""

DECIDING = ("OPENLINEAGE_URL", *CONFIGURING)
"""Beginnings of variables that name another destination than the lake."""


class Sink(Protocol):
    """Takes events."""

    def send(self, event: RunEvent) -> None:
        """Take one."""


class LakeFile:
    """One file per day: each event is one write at its end, so that processes can share it."""

    def __init__(self, lake: Path) -> None:
        self._folder = lake / FOLDER

    def send(self, event: RunEvent) -> None:
        """Add a line.

        Raises:
            OSError: the disk refuses it.
        """
        path, line = self._folder / f"{event.eventTime[:10]}.ndjson", _line(event)
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if os.write(descriptor, line) < len(line):
                raise OSError(f"{path}: only a part of an event could be written")
        finally:
            os.close(descriptor)


class LakeObjects:
    """One object per run of a step, since objects have no end to write at: its START, then both its events."""

    def __init__(self, lake: Folder) -> None:
        self._lake = lake
        self._started: dict[str, tuple[str, bytes]] = {}

    def send(self, event: RunEvent) -> None:
        """Write the object.

        Raises:
            LakeError: the store refuses it.
        """
        run, line = event.run.runId, _line(event)
        if event.eventType == RunState.START:
            day, before = event.eventTime[:10], b""
            self._started[run] = (day, line)
        else:
            day, before = self._started.pop(run, (event.eventTime[:10], b""))
        replace_file(self._lake / FOLDER / day / f"{run}.ndjson", before + line)


class Courier:
    """Carries events to an endpoint from a thread of its own, so that no step waits for it.

    Once one was not taken, this and all later ones go to the lake. An event that an endpoint took without saying so is in both.
    """

    def __init__(self, emit: Callable[[RunEvent], object]) -> None:
        self._emit = emit
        self._waiting: deque[tuple[RunEvent, Sink]] = deque()
        self._changed = threading.Condition()
        self._down = False
        self._thread: threading.Thread | None = None

    def send(self, event: RunEvent, lake: Sink) -> None:
        """Take an event; it goes to the lake if the endpoint does not take it."""
        with self._changed:
            if not self._down:
                self._waiting.append((event, lake))
                self._changed.notify_all()
                self._start()
                return
        lake.send(event)

    def close(self, limit_s: float = END_LIMIT_S) -> None:
        """Wait until all is taken, and write to the lake what is not by then."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._waiting, limit_s)
        if not done:
            self._give_up(f"no answer within {limit_s:g} s")

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._carry, name="openlineage", daemon=True)
            self._thread.start()
            atexit.register(self.close)

    def _carry(self) -> None:
        while not self._down:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                event, _ = self._waiting[0]
            try:
                self._emit(event)
            except Exception as error:  # noqa: BLE001  whatever an endpoint does, the event goes to the lake and the run goes on
                self._give_up(_reason(error))
                return
            with self._changed:
                if self._waiting and self._waiting[0][0] is event:
                    self._waiting.popleft()
                self._changed.notify_all()

    def _give_up(self, reason: str) -> None:
        with self._changed:
            self._down = True
            left = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        warn_once(f"the OpenLineage endpoint takes no events ({reason}); they are written to the lake, {FOLDER}/, from here on")
        for event, lake in left:
            guarded(partial(lake.send, event))


_COURIERS: dict[tuple[tuple[str, str], ...], Courier | None] = {}
_LAKES: dict[str, Sink] = {}
_SAID: set[str] = set()


def emit(event: RunEvent, lake: Folder, environ: Mapping[str, str] | None = None) -> None:
    """Send an event where the environment says, by default to the lake.

    Raises:
        OSError, LakeError: the lake does not take it.
    """
    environ = os.environ if environ is None else environ
    sink = _LAKES.get(str(lake)) or _LAKES.setdefault(str(lake), LakeFile(lake) if isinstance(lake, Path) else LakeObjects(lake))
    if courier := _courier(environ):
        courier.send(event, sink)
    else:
        sink.send(event)


def is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether OPENLINEAGE_DISABLED says so."""
    return environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true"


def guarded(work: Callable[[], Any]) -> None:
    """Do the work; a failure is said once and nothing else."""
    try:
        work()
    except Exception as error:  # noqa: BLE001  lineage events are told beside a run and must never end it
        warn_once(f"an OpenLineage event is lost: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


def warn_once(text: str) -> None:
    """Say something on standard error, the first time."""
    if text not in _SAID:
        _SAID.add(text)
        sys.stderr.write(f"moodflow: {text}\n")


def _courier(environ: Mapping[str, str]) -> Courier | None:
    named = tuple(sorted((name, value) for name, value in environ.items() if name.startswith("OPENLINEAGE_")))
    if not any(name.startswith(DECIDING) for name, _ in named):
        return None
    if named not in _COURIERS:
        _COURIERS[named] = _open_courier(environ)
    return _COURIERS[named]


def _open_courier(environ: Mapping[str, str]) -> Courier | None:
    try:
        return Courier(_endpoint(environ))
    except Exception as error:  # noqa: BLE001  a configuration that cannot be used must not end a run
        warn_once(f"the OpenLineage endpoint cannot be used ({_reason(error)}); events are written to the lake, {FOLDER}/")
        return None


def _endpoint(environ: Mapping[str, str]) -> Callable[[RunEvent], object]:
    """What posts events: as OpenLineage's own client understands its configuration, else as OPENLINEAGE_URL says.

    Raises:
        UsageError: the configuration names no destination.
    """
    if any(name.startswith(CONFIGURING) for name in environ):
        told = OpenLineageClient(transport=NoopTransport(NoopConfig())).config.transport or {}
        if "OPENLINEAGE_URL" not in environ and not told.get("type"):
            raise UsageError("OPENLINEAGE_CONFIG names no file with a transport")  # the client would print events
        return OpenLineageClient().emit
    config: dict[str, Any] = {
        "url": environ["OPENLINEAGE_URL"],
        "endpoint": environ.get("OPENLINEAGE_ENDPOINT", ENDPOINT),
        "timeout": TIMEOUT_S,
        "retry": {"total": RETRIES, "connect": RETRIES, "read": RETRIES},
    }
    if key := environ.get("OPENLINEAGE_API_KEY"):
        config["auth"] = {"type": "api_key", "apiKey": key}
    return HttpTransport(HttpConfig.from_dict(config)).emit


def _reason(error: Exception) -> str:
    """What may be said of it: messages of HTTP errors hold addresses, which may hold passwords."""
    if isinstance(error, UsageError):
        return error.what
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{type(error).__name__} {status}" if status else type(error).__name__


def _line(event: RunEvent) -> bytes:
    return f"{Serde.to_json(event)}\n".encode()
