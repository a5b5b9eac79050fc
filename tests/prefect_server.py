"""One throw-away Prefect server for all tests, also where xdist runs them in several processes."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from filelock import FileLock
from prefect.events.worker import EventsWorker
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from flows.runtime.local_server import AUTH, LOCAL_SETTINGS, start_temporary_server
from tests.flows.served import LIMIT_S, clean_environment, wait_until

GIVEN = "prefect_server"
"""Key under which a worker of xdist is told of the server."""

DATABASE = "prefect.db"
UNRECORDED = {f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "0" for name in ("EVENT_PERSISTER", "TASK_RUN_RECORDER", "TRIGGERS")}


class PrefectServer(NamedTuple):
    url: str
    home: Path
    auth: str

    def wait(self) -> None:
        """Wait until it answers; the first to come keeps its database as it is before anything is recorded."""
        with FileLock(self.home / "waiting.lock"):
            if not self._migrated.exists():
                wait_until(self._answers)
                with closing(sqlite3.connect(self.home / DATABASE)) as read, closing(sqlite3.connect(self._migrated)) as kept:
                    read.backup(kept)

    def new_home(self, folder: Path) -> Path:
        """A folder for another server, with a database that is ready and empty: making one takes longer than all else."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._migrated, folder / DATABASE)
        return folder

    @property
    def _migrated(self) -> Path:
        return self.home / "migrated.db"

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.url}/health", timeout=LIMIT_S) as answer:  # noqa: S310  loopback
                return bool(answer.status == 200)
        except URLError:
            return False


@contextmanager
def started_server(home: Path, *, records: bool = False) -> Iterator[PrefectServer]:
    """Start it; it need not answer yet, and ends with this process.

    Args:
        home: its folder.
        records: keep events and task runs, as a user's server does. More than half of what a server does is that, and few tests
            ask it for either.
    """
    server = start_temporary_server(clean_environment(home, **LOCAL_SETTINGS, **({} if records else UNRECORDED)))
    try:
        yield PrefectServer(server.api_url, home, server.client_settings[AUTH])
    finally:
        server.stop()


@contextmanager
def using(server: PrefectServer) -> Iterator[None]:
    """Have flows of this process use it; what they send in the background is sent before another one is used."""
    EventsWorker.drain_all()
    with temporary_settings({PREFECT_API_URL: server.url, PREFECT_API_AUTH_STRING: server.auth}):
        yield
        EventsWorker.drain_all()
