"""A temporary Prefect server that starts while this process still imports Prefect and polars.

Prefect starts one by itself only when the first flow asks for it, and waits: 4 to 5 s more of a command. So this module imports
neither. Where a server is configured, or where it cannot be told cheaply, nothing is started and Prefect does as it always does.
"""

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

PROGRAM = Path(__file__).with_name("local_server_process.py")
API_URL = "PREFECT_API_URL"
UI_URL = "PREFECT_UI_URL"

SERVER_ENVIRONMENT = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
"""As Prefect gives its own temporary server."""

DECIDING = (API_URL, "PREFECT_PROFILE", "PREFECT_SERVER_EPHEMERAL_ENABLED", "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE")
"""Variables with which the user says what server there is to be."""

STOP_LIMIT_S = 5.0
SHOWN_BYTES = 2000


class TemporaryServer:
    """A running server on a loopback port; it ends with this process, however that goes."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._log: IO[bytes] = TemporaryFile()  # noqa: SIM115  it is closed by stop
        # The socket listens before the server has imported anything: no other process can take the port, and the first request
        # waits in its queue until the server is up, or ends when the server does.
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
            self.api_url = f"http://127.0.0.1:{listening.getsockname()[1]}/api"
            # -P: the script's folder holds modules of ours that it must not mistake for others.
            self._process = subprocess.Popen(  # noqa: S603  our own script
                [sys.executable, "-P", str(PROGRAM), str(listening.fileno())],
                env={**environ, **SERVER_ENVIRONMENT},
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for this process, which ends the server once it has reported to it.
                start_new_session=True,
            )
        self.used = False
        """Whether there is anything to lose: a server that was never asked is killed at once."""

    @property
    def pid(self) -> int:
        """Of the server's process."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The end of what the server has printed."""
        # Not seek and read: the server writes at the same position of the same open file.
        descriptor = self._log.fileno()
        start = max(0, os.fstat(descriptor).st_size - SHOWN_BYTES)
        return os.pread(descriptor, SHOWN_BYTES, start).decode(errors="replace").strip()

    def stop(self) -> None:
        """End the server; in order, if it was used."""
        if self._log.closed:
            return
        if self.used:
            self._process.terminate()
            try:
                self._process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        else:
            self._process.kill()
        self._process.communicate()
        self._log.close()


_STARTED: list[TemporaryServer] = []


def start_early() -> TemporaryServer | None:
    """Start a server for this process, and name it to Prefect, unless one is configured or Prefect is imported already.

    Returns:
        The server; it need not be up yet. None if nothing was started.
    """
    if _STARTED or "prefect" in sys.modules or sys.platform == "win32" or may_be_configured(os.environ, Path()):
        return None
    server = TemporaryServer(os.environ)
    # Registered before Prefect is imported and so called after all of Prefect's own: its workers still send what they hold.
    atexit.register(server.stop)
    os.environ[API_URL] = server.api_url
    os.environ.setdefault(UI_URL, "")  # this server has no pages to link to
    _STARTED.append(server)
    return server


def started_server() -> TemporaryServer | None:
    """What `start_early` started in this process."""
    return _STARTED[0] if _STARTED else None


def may_be_configured(environ: Mapping[str, str], folder: Path) -> bool:
    """Whether the environment or a settings file that Prefect reads may name a server, or forbid a temporary one.

    Args:
        environ: environment variables.
        folder: the current one; Prefect reads settings in it.
    """
    if not {name.upper() for name in environ}.isdisjoint(DECIDING):
        return True
    home = Path(environ.get("PREFECT_HOME") or "~/.prefect")
    profiles = Path(environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    signs = {
        profiles: API_URL,
        folder / ".env": "prefect_",
        folder / "prefect.toml": "",
        folder / "pyproject.toml": "tool.prefect",
    }
    return any(_mentions(path, sign.lower()) for path, sign in signs.items())


def _mentions(path: Path, sign: str) -> bool:
    try:
        return sign in path.expanduser().read_text(encoding="utf-8").lower()
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError, RuntimeError):
        return True  # Prefect will say what is wrong with it
