"""Start a Prefect server on loopback in a process of its own, which asks for a login and ends with this one.

Prefect's own temporary server lets everybody in and outlives a command that is killed (docs/decisions/0022). This module imports
Prefect as late as can be: `moodflow --help` needs none of it.
"""

import atexit
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Literal

from schemas.addresses import is_loopback
from schemas.errors import EndpointError, UsageError
from tasks.lake.local_state import states_folder

PROGRAM = Path(__file__).with_name("server_process.py")
API_URL = "PREFECT_API_URL"
AUTH = "PREFECT_API_AUTH_STRING"
SERVER_AUTH = "PREFECT_SERVER_API_AUTH_STRING"

LOCAL_SETTINGS = {
    # Without batching, a small run takes 6 to 10 s instead of 2: each task run would be written three times.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    # The end of a command waits for the last task runs.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
}
TEMPORARY_SETTINGS = {
    # Kinds of blocks are shown by pages, which it has not; to list them it would import every package with one, such as Dask.
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "0",
    "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "0",
}

INTERRUPTED = 130
"""Exit status after Ctrl-C."""

INTERRUPTION = "interrupted; finished partitions and answered calls are kept, the same command goes on from there\n"
"""What is said then."""

ends_process: ContextVar[bool] = ContextVar("whether the process is that of one command, and ends with it", default=False)
"""That of a notebook or a test goes on."""

STOP_LIMIT_S = 10.0
SHOWN_BYTES = 2000

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NO_PROXY = ("NO_PROXY", "no_proxy")

Kind = Literal["temporary", "serve"]


def configure_prefect(console: str) -> None:
    """Put our defaults into the environment; what the user has set wins. Call before Prefect is imported.

    `console` is the lowest level of Prefect's log lines on the terminal; they still reach the UI. A proxy of the environment is
    for other machines: it cannot reach a Prefect server on this one.
    """
    hosts = next(filter(None, map(os.environ.get, NO_PROXY)), "").split(",")
    direct = dict.fromkeys(filter(None, (*hosts, *LOOPBACK)))
    os.environ.update(dict.fromkeys(NO_PROXY, ",".join(direct)))
    levels = {f"PREFECT_LOGGING_{name}_LEVEL": console for name in ("HANDLERS_CONSOLE", "INTERNAL")}
    for name, value in (LOCAL_SETTINGS | levels).items():
        os.environ.setdefault(name, value)


def new_login() -> str:
    """Return `user:password` of a server, with a password that nobody guesses."""
    return f"moodflow:{secrets.token_urlsafe(24)}"


def guard_settings(origin: str, auth: str) -> dict[str, str]:
    """Return the environment of a server at `http://host:port` that asks for a login, and answers no page of another origin."""
    # Who opens the UI as localhost is at another origin than 127.0.0.1.
    return {
        SERVER_AUTH: auth,
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": f"{origin},http://localhost:{origin.rpartition(':')[2]}",
    }


class LocalServer:
    """A Prefect server in a process of its own, which asks for a login and ends with this process, however that goes.

    The socket listens before the server has imported anything: no other process can take the port, and the first request waits
    until the server is up. It is closed here once the server has it; the log, of what the server prints, is closed by `stop`.
    The login is passed by the environment, since command lines can be read by others.
    """

    def __init__(self, listening: socket.socket, auth: str, environ: Mapping[str, str], log: IO[bytes], kind: Kind) -> None:
        self.origin = origin_of(listening)
        self.client_settings = {API_URL: self.api_url, AUTH: auth}
        """Environment of who is to use it."""
        self._log = log
        with listening:
            # -P: the script's folder holds modules of ours that it must not mistake for others.
            self._process = subprocess.Popen(  # noqa: S603  our own script
                [sys.executable, "-P", str(PROGRAM), kind, str(states_folder()), str(listening.fileno()), *names_of(listening)],
                env={**environ, **guard_settings(self.origin, auth)},
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for this process, which ends the server once it has reported to it.
                start_new_session=True,
            )

    @property
    def api_url(self) -> str:
        """Return the address of its API."""
        return f"{self.origin}/api"

    @property
    def pid(self) -> int:
        """Return the id of its process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Return its exit status; None while it runs."""
        return self._process.poll()

    @property
    def output(self) -> str:
        """Return the end of what it has printed."""
        # Not seek and read: the server writes at the same position of the same open file.
        descriptor = self._log.fileno()
        start = max(0, os.fstat(descriptor).st_size - SHOWN_BYTES)
        return os.pread(descriptor, SHOWN_BYTES, start).decode(errors="replace").strip()

    def stop(self) -> None:
        """End the server: in order, or after STOP_LIMIT_S seconds anyhow."""
        if self._log.closed:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.communicate()
        self._log.close()


def listen(host: str, port: int, option: str) -> socket.socket:
    """Open a listening socket on a loopback address; port 0 is any free one, `option` names it in errors."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if not is_loopback(str(address[0])):
            raise UsageError(
                "only local addresses are served, because pages and servers speak plain HTTP",
                where="--host",
                expected="127.0.0.1, ::1 or localhost",
                got=host,
                next_step="from elsewhere: ssh -L 4200:127.0.0.1:4200 THIS-MACHINE; for several people: compose.yaml",
            )
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} cannot be used",
            where=f"{option} {port}",
            expected="a free port between 1024 and 65535, or 0 for any",
            got=str(error),
            next_step=f"stop the program that uses it, or choose another with {option}",
        ) from error


def origin_of(listening: socket.socket) -> str:
    """Return `http://host:port` of a listening socket."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def names_of(listening: socket.socket) -> tuple[str, ...]:
    """Return the host names that a server on loopback answers to; one that a foreign page has led to it is none of them."""
    return origin_of(listening).removeprefix("http://").rpartition(":")[0], "localhost"


def start_temporary_server(environ: Mapping[str, str]) -> LocalServer:
    """Start a server without pages on any free port; what it prints goes into a file without a name."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    return LocalServer(listening, new_login(), {**environ, **TEMPORARY_SETTINGS}, TemporaryFile(), "temporary")


@cache
def start_early() -> LocalServer:
    """Start a server at the first call, while this process imports; it ends with this process."""
    server = start_temporary_server(os.environ)
    # Registered before Prefect's workers begin, and so called after what they registered: they still send what they hold.
    atexit.register(server.stop)
    return server


@cache
def temporary_server() -> LocalServer | None:
    """Return the server of this process, named to Prefect; null where the user has one. It need not be up yet."""
    from prefect import context, settings  # noqa: PLC0415

    current = settings.get_current_settings()
    if current.api.url:
        if start_early.cache_info().currsize:  # a settings file names it, which only Prefect reads
            start_early().stop()
        return None
    ephemeral = current.server.ephemeral
    if "enabled" in ephemeral.model_fields_set and not ephemeral.enabled:
        raise EndpointError(
            "no Prefect server is configured and temporary servers are disabled",
            where="PREFECT_SERVER_EPHEMERAL_ENABLED",
            next_step="start one with prefect server start and set PREFECT_API_URL, or unset the variable",
        )
    server = start_early()
    os.environ.update(server.client_settings)
    os.environ.setdefault("PREFECT_UI_URL", "")  # this server has no pages to link to
    context.refresh_global_settings_context()
    return server
