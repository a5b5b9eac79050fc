"""The Prefect server of `moodflow serve`: API and UI on a loopback port, behind a password, gone when its parent is gone."""

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from flows.runtime.local_server import PROGRAM
from schemas.errors import UsageError

AUTH_FILE = "moodflow-serve.password"
LOG_FILE = "moodflow-serve.log"
LOCK_FILE = "moodflow-serve.lock"
USER = "moodflow"
AUTH_VARIABLE = "PREFECT_SERVER_API_AUTH_STRING"

STOP_LIMIT_S = 10.0
SHOWN_BYTES = 2000


def listen(host: str, port: int, option: str) -> socket.socket:
    """A listening socket on a loopback address; port 0 is any free one.

    Raises:
        UsageError: the address is not this machine's own, or the port is taken.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if not _is_loopback(str(address[0])):
            raise UsageError(
                "moodflow serve is for this machine alone: it speaks plain HTTP",
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
            next_step=f"end what uses it, or name another with {option}",
        ) from error


def _is_loopback(address: str) -> bool:
    return address == "::1" or address.startswith("127.")


def origin_of(listening: socket.socket) -> str:
    """`http://host:port` of a listening socket."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def prefect_home(environ: Mapping[str, str]) -> Path:
    """Prefect's folder, with its database, made if need be."""
    home = Path(environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    home.mkdir(parents=True, exist_ok=True)
    return home


def keep_auth(path: Path) -> tuple[str, bool]:
    """User and password of the server, `user:password`, and whether they were made just now.

    Args:
        path: they are kept in this file, which only its owner may read.
    """
    with suppress(FileNotFoundError):
        path.chmod(0o600)
        if kept := path.read_text(encoding="utf-8").strip():
            return kept, False
    made = f"{USER}:{secrets.token_urlsafe(24)}"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{made}\n")
    return made, True


def server_settings(origin: str, auth: str) -> dict[str, str]:
    """Environment of the server at `http://host:port`."""
    port = origin.rpartition(":")[2]
    return {
        "PREFECT_UI_ENABLED": "true",
        "PREFECT_UI_API_URL": f"{origin}/api",
        "PREFECT_SERVER_API_PORT": port,
        AUTH_VARIABLE: auth,
        # A page of another origin may not read the API; who opens the UI as localhost is at another origin than 127.0.0.1.
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": f"{origin},http://localhost:{port}",
        # In memory, the place of a run that was killed with the server stays taken for ever: no schedule would run again.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    }


class ServerProcess:
    """A running server; it ends with this process, however that goes.

    Args:
        listening: where it is to listen; closed here once the server has it.
        environ: its environment.
        log: what it says goes here; what was there before is lost.
    """

    def __init__(self, listening: socket.socket, environ: Mapping[str, str], log: Path) -> None:
        self.origin = origin_of(listening)
        self._path = log
        self._log: IO[bytes] = log.open("wb")
        # As for a temporary server: -P, since the script's folder holds modules of ours that it must not mistake for others.
        self._process = subprocess.Popen(  # noqa: S603  our own script
            [sys.executable, "-P", str(PROGRAM), str(listening.fileno())],
            env=dict(environ),
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for this process, which ends the server last.
            start_new_session=True,
        )
        listening.close()

    @property
    def api_url(self) -> str:
        """Of its API."""
        return f"{self.origin}/api"

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.poll()

    @property
    def last_words(self) -> str:
        """The end of what it has printed."""
        return self._path.read_bytes()[-SHOWN_BYTES:].decode(errors="replace").strip()

    def stop(self) -> None:
        """End it: in order, or after STOP_LIMIT_S seconds anyhow."""
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process.communicate()
        self._log.close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
