"""Serve from the options of `moodflow serve`: everything is checked before anything starts."""

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from prefect.context import refresh_global_settings_context
from prefect.settings import PREFECT_API_URL
from pydantic import SecretStr

from flows.runtime.local_server import LocalServer, origin_of
from flows.runtime.prefect_flows import log
from flows.service.deployments import check_deployment, find_config, lakes_of, read_deployments, reschedule, set_lakes
from flows.service.registration import build_deployment
from flows.service.report_server import serve_reports
from flows.service.scheduler import ServerPlan, ServerStatus, serve_until_signal
from schemas.addresses import REPORTS_URL, is_loopback
from schemas.errors import UsageError
from schemas.folders import Folder

AUTH_FILE = "moodflow-serve.password"
LOG_FILE = "moodflow-serve.log"
LOCK_FILE = "moodflow-serve.lock"
USER = "moodflow"
AUTH_VARIABLE = "PREFECT_SERVER_API_AUTH_STRING"
WEBHOOK_VARIABLE = "MOODFLOW_WEBHOOK"


class ServeOptions(NamedTuple):
    """The options."""

    config: Path | None
    host: str
    port: int
    reports_port: int
    lake: Folder | None
    webhook: str | None
    schedules: Mapping[str, str]


class Login(NamedTuple):
    """User and password of the server, whether they were made just now, and the file they are in unless the user gave them."""

    auth: str
    is_new: bool
    kept_in: Path | None


class ServeAddresses(NamedTuple):
    """The file of deployments, and the addresses of server and reports."""

    config: Path
    origin: str
    reports: str


def serve_session(asked: ServeOptions, show: Callable[[dict[str, Any]], None]) -> int:
    """Serve until a signal comes.

    Args:
        asked: the options.
        show: prints the document that says what is where.

    Returns:
        Exit status of the command.

    Raises:
        UsageError: an option or the file of deployments is wrong, or another server is configured or running.
        EndpointError: the server did not start.
    """
    _refuse_other_server()
    config = find_config(asked.config, Path())
    deployments = set_lakes(reschedule(read_deployments(config), asked.schedules), asked.lake)
    built = [(deployment, build_deployment(deployment)) for deployment in deployments]
    for deployment in deployments:
        check_deployment(deployment)
    home = prefect_home(os.environ)
    with (
        _alone(home),
        listen(asked.host, asked.reports_port, "--reports-port") as reporting,
        listen(asked.host, asked.port, "--port") as listening,
        serve_reports(reporting, lakes_of(deployments)) as reports_url,
    ):
        login = find_login(home)
        log("starting the Prefect server, a few seconds")
        server = _start_server(listening, login.auth, reports_url, home)
        addresses = ServeAddresses(config, server.origin, reports_url)

        def announce(ready: ServerStatus) -> None:
            show(describe(ready, asked.webhook, addresses, login))

        webhook = SecretStr(asked.webhook) if asked.webhook else None
        return serve_until_signal(ServerPlan(server, built, webhook, announce))


def listen(host: str, port: int, option: str) -> socket.socket:
    """Open a listening socket on a loopback address.

    Args:
        host: name or address.
        port: 0 is any free one.
        option: of the command line, for errors.

    Raises:
        UsageError: the address is not this machine's own, or the port is taken.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if not is_loopback(str(address[0])):
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


def prefect_home(environ: Mapping[str, str]) -> Path:
    """Return Prefect's folder, which has its database; create it if need be."""
    home = Path(environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    home.mkdir(parents=True, exist_ok=True)
    return home


def keep_auth(path: Path) -> tuple[str, bool]:
    """Return user and password of the server, `user:password`, and whether they were made just now.

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
    """Return the environment of the server at `http://host:port`, with this `user:password`."""
    port = origin.rpartition(":")[2]
    return {
        "PREFECT_UI_ENABLED": "true",
        "PREFECT_UI_API_URL": f"{origin}/api",
        "PREFECT_SERVER_API_PORT": port,
        AUTH_VARIABLE: auth,
        # A page of another origin may not read the API; who opens the UI as localhost is at another origin than 127.0.0.1.
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": f"{origin},http://localhost:{port}",
        # In memory, the slot of a run that was killed with the server stays taken for ever: no schedule would run again.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    }


def find_login(home: Path) -> Login:
    """Return the login of the environment, else the one kept in Prefect's folder, else a new one."""
    given = os.environ.get(AUTH_VARIABLE)
    return Login(given, is_new=False, kept_in=None) if given else Login(*keep_auth(home / AUTH_FILE), home / AUTH_FILE)


def _refuse_other_server() -> None:
    if url := PREFECT_API_URL.value():
        raise UsageError(
            "a Prefect server is configured already, and moodflow serve starts one of its own",
            where="PREFECT_API_URL, or Prefect's profile",
            expected="no server configured",
            got=url,
            next_step="on that server: prefect deploy --all, prefect worker start --pool moodflow; else unset what names it",
        )


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold Prefect's folder: two servers on one database would each start every scheduled run."""
    lock = FileLock(home / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            "moodflow serve is running already",
            where=str(home),
            expected="one at a time for each folder of Prefect",
            next_step="stop the other one, or name another folder with PREFECT_HOME",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _start_server(listening: socket.socket, auth: str, reports_url: str, home: Path) -> LocalServer:
    """Start it, and put into the environment what this process and the runs that it starts need to reach it."""
    os.environ.pop(WEBHOOK_VARIABLE, None)  # a secret that no run needs
    environ = {**os.environ, **server_settings(origin_of(listening), auth)}
    server = LocalServer(listening, environ, (home / LOG_FILE).open("w+b"))
    os.environ.setdefault("PREFECT_LOGGING_LOG_PRINTS", "true")  # to the UI
    os.environ |= {"PREFECT_API_URL": server.api_url, "PREFECT_API_AUTH_STRING": auth, REPORTS_URL: reports_url}
    refresh_global_settings_context()
    return server


def describe(ready: ServerStatus, webhook: str | None, addresses: ServeAddresses, login: Login) -> dict[str, Any]:
    """Return the document that `moodflow serve --json` prints once everything runs.

    Args:
        ready: what is registered.
        webhook: address that is called on a regression.
        addresses: where everything is.
        login: of the server.
    """
    return {
        "ui": addresses.origin,
        "api": f"{addresses.origin}/api",
        "reports": addresses.reports,
        "config": str(addresses.config),
        "login": {"file": login.kept_in and str(login.kept_in), "made": login.auth if login.is_new else None},
        "webhook": webhook is not None,
        "deployments": [
            {
                "name": one.name,
                "id": str(one.id),
                "page": f"{addresses.origin}/deployments/deployment/{one.id}",
                "schedules": [schedule.model_dump() for schedule in one.deployment.entry.schedules],
                "next_run": due.astimezone().isoformat(timespec="minutes") if (due := ready.next_runs[one.name]) else None,
                "missed": ready.missed.get(one.name, 0),
                "lake": str(one.deployment.plan.lake),
            }
            for one in ready.registered
        ],
    }
