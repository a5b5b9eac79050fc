"""Start a Prefect server on loopback in a process of its own, before this process has imported Prefect and polars.

Prefect starts a temporary server by itself only when the first flow asks for it, and waits: 4 to 5 s more of a command. That one
lets everybody in and outlives a command that is killed; ours asks for a login and ends with it (docs/decisions/0022). So this
module imports neither Prefect nor anything of ours.
"""

import atexit
import os
import secrets
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO

import certifi

PROGRAM = Path(__file__).with_name("server_process.py")
API_URL = "PREFECT_API_URL"
AUTH = "PREFECT_API_AUTH_STRING"
SERVER_AUTH = "PREFECT_SERVER_API_AUTH_STRING"
CERTIFICATES = "PREFECT_API_SSL_CERT_FILE"
UI_URL = "PREFECT_UI_URL"
CONSOLE_LEVEL = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"
INTERNAL_LEVEL = "PREFECT_LOGGING_INTERNAL_LEVEL"

LOCAL_SETTINGS = {
    # Without batching, the recorder and the API fight for SQLite's write lock: a small run takes 6 to 10 s instead of 2.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # A machine may be busy; a server that fails ends, which is noticed at once.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
}
TEMPORARY_SETTINGS = {
    # As Prefect gives its own temporary server.
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    # Kinds of blocks are shown by pages, which it has not; to list them it would import every package with one, such as Dask.
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "0",
    "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "0",
    # A queue that Prefect uses checks types of its own calls, whose preparation takes 0.05 s.
    "PY_KEY_VALUE_DISABLE_BEARTYPE": "1",
}

DECIDING = (API_URL, "PREFECT_PROFILE", "PREFECT_SERVER_EPHEMERAL_ENABLED", "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE")
"""Variables with which the user decides which server there is."""

USER = "moodflow"

INTERRUPTED = 130
"""Exit status after Ctrl-C."""

INTERRUPTION = "interrupted; finished partitions and answered calls are kept, the same command goes on from there\n"
"""What is said then."""

STOP_LIMIT_S = 10.0
SHOWN_BYTES = 2000


def configure_prefect() -> None:
    """Put our defaults into the environment; what the user has set wins. Call before Prefect is imported."""
    for name, value in LOCAL_SETTINGS.items():
        os.environ.setdefault(name, value)


def silence_console() -> bool:
    """Keep Prefect's log lines off the terminal; they still reach the UI. Errors are reported once, by the command line.

    Returns:
        Whether that is new: where Prefect is imported already, it has to be told.
    """
    new = CONSOLE_LEVEL not in os.environ
    os.environ.setdefault(CONSOLE_LEVEL, "CRITICAL")
    os.environ.setdefault(INTERNAL_LEVEL, "CRITICAL")
    return new


def new_login() -> str:
    """Return `user:password` of a server, with a password that nobody guesses."""
    return f"{USER}:{secrets.token_urlsafe(24)}"


def guard_settings(origin: str, auth: str) -> dict[str, str]:
    """Return the environment of a server at `http://host:port` that asks for a login, and answers no page of another origin."""
    # Who opens the UI as localhost is at another origin than 127.0.0.1.
    return {
        SERVER_AUTH: auth,
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": f"{origin},http://localhost:{origin.rpartition(':')[2]}",
    }


class LocalServer:
    """A Prefect server in a process of its own, which asks for a login and ends with this process, however that goes.

    Args:
        listening: socket that the server is to listen on; closed here once the server has it. It listens before the server has
            imported anything: no other process can take the port, and the first request waits until the server is up.
        auth: `user:password` that it asks for; passed by its environment, since command lines can be read by others.
        environ: the rest of the server's environment.
        log: open file for what the server prints; closed by `stop`.
    """

    def __init__(self, listening: socket.socket, auth: str, environ: Mapping[str, str], log: IO[bytes]) -> None:
        self.origin = origin_of(listening)
        self.client_settings = {API_URL: self.api_url, AUTH: auth}
        """Environment of who is to use it."""
        self._log = log
        with listening:
            # -P: the script's folder holds modules of ours that it must not mistake for others.
            self._process = subprocess.Popen(  # noqa: S603  our own script
                [sys.executable, "-P", str(PROGRAM), str(listening.fileno()), *names_of(listening)],
                env={**environ, **guard_settings(self.origin, auth)},
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for this process, which ends the server once it has reported to it.
                start_new_session=True,
            )
            # While the socket is open here, too: it takes a request even if that process has ended already.
            self._first = self._ask_first(auth)
        self.used = False
        """Whether there is anything to lose: a server that was never asked is killed at once."""

    def _ask_first(self, auth: str) -> HTTPConnection:
        """Send a request whose answer nobody reads: with the first one Prefect builds its routes, 0.3 s, and we still import."""
        first = HTTPConnection(self.origin.removeprefix("http://"))
        login = b64encode(auth.encode()).decode()
        first.request("GET", "/api/admin/version", headers={"Authorization": f"Basic {login}"})
        return first

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
        """End the server: in order if it was used, or after STOP_LIMIT_S seconds anyhow."""
        if self._log.closed:
            return
        self._first.close()
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


def one_certificate() -> IO[bytes]:
    """Return a file with the first of certifi's certificates, gone when it is closed.

    Each of Prefect's clients, some twenty in a run, reads all of them otherwise, 0.03 s each; a server on loopback needs none.
    """
    certificate, end, _ = Path(certifi.where()).read_bytes().partition(b"-----END CERTIFICATE-----\n")
    file = NamedTemporaryFile(suffix=".pem")  # noqa: SIM115  open as long as the process
    file.write(certificate + end)
    file.flush()
    return file


def origin_of(listening: socket.socket) -> str:
    """Return `http://host:port` of a listening socket."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def names_of(listening: socket.socket) -> tuple[str, ...]:
    """Return the host names that a server on loopback answers to; one that a foreign page has led to it is none of them."""
    return origin_of(listening).removeprefix("http://").rpartition(":")[0], "localhost"


_STARTED: list[LocalServer] = []


def start_temporary_server(environ: Mapping[str, str]) -> LocalServer:
    """Start a server without pages on any free port; what it prints goes into a file without a name."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    return LocalServer(listening, new_login(), {**environ, **TEMPORARY_SETTINGS}, TemporaryFile())


def start_early() -> None:
    """Start the server of this process, unless one may be configured or Prefect is imported already."""
    if not (_STARTED or "prefect" in sys.modules or may_be_configured(os.environ, Path())):
        start_for_this_process()


def start_for_this_process() -> LocalServer:
    """Start a server that ends with this process, and name it to Prefect; it need not be up yet."""
    server = start_temporary_server(os.environ)
    # Registered before Prefect's workers begin, and so called after what they registered: they still send what they hold.
    atexit.register(server.stop)
    os.environ |= server.client_settings
    os.environ.setdefault(UI_URL, "")  # this server has no pages to link to
    certificates = one_certificate()
    atexit.register(certificates.close)
    os.environ.setdefault(CERTIFICATES, certificates.name)
    _STARTED.append(server)
    return server


def started_server() -> LocalServer | None:
    """Return the server that was started for this process."""
    return _STARTED[0] if _STARTED else None


def may_be_configured(environ: Mapping[str, str], folder: Path) -> bool:
    """Return whether the environment or a settings file that Prefect reads may name a server, or forbid a temporary one.

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
        return True  # Prefect's own message names what is wrong with it
