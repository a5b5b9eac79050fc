"""From the options of `moodflow serve` to a running server: everything is checked before anything starts."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from prefect.context import refresh_global_settings_context
from prefect.settings import PREFECT_API_URL
from pydantic import SecretStr

from flows.ablate import read_variants
from flows.planning.resolve import resolve
from flows.runtime.server_session import say
from flows.service.deployments import Deployment, find_config, read_deployments, reschedule
from flows.service.registration import build_deployment
from flows.service.report_server import reports
from flows.service.scheduler import ServerPlan, ServerStatus, serve_until_signal
from flows.service.server_process import (
    AUTH_FILE,
    AUTH_VARIABLE,
    LOCK_FILE,
    LOG_FILE,
    ServerProcess,
    keep_auth,
    listen,
    origin_of,
    prefect_home,
    server_settings,
)
from schemas.addresses import REPORTS_URL
from schemas.errors import MoodflowError, UsageError
from schemas.folders import Folder
from schemas.plan import Plan

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
    deployments = place(reschedule(read_deployments(config), asked.schedules), asked.lake)
    built = [(deployment, build_deployment(deployment)) for deployment in deployments]
    for deployment in deployments:
        _check(deployment)
    home = prefect_home(os.environ)
    with (
        _alone(home),
        listen(asked.host, asked.reports_port, "--reports-port") as reporting,
        listen(asked.host, asked.port, "--port") as listening,
        reports(reporting, lakes_of(deployments)) as served,
    ):
        login = find_login(home)
        say("starting the Prefect server, a few seconds")
        server = _start_server(listening, login.auth, served.url, home)
        places = ServeAddresses(config, server.origin, served.url)

        def announce(ready: ServerStatus) -> None:
            show(describe(ready, asked.webhook, places, login))

        webhook = SecretStr(asked.webhook) if asked.webhook else None
        return serve_until_signal(ServerPlan(server, built, webhook, announce))


def find_login(home: Path) -> Login:
    """As the environment says, else as kept in Prefect's folder, else made."""
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


def place(deployments: Sequence[Deployment], lake: Folder | None) -> tuple[Deployment, ...]:
    """The deployments with the lake of the command line, if one was given; a folder is named from the root."""
    return tuple(one.in_lake(_absolute(lake or one.plan.lake)) for one in deployments)


def _absolute(lake: Folder) -> Folder:
    return lake.expanduser().absolute() if isinstance(lake, Path) else lake


def lakes_of(deployments: Sequence[Deployment]) -> list[Folder]:
    """Each lake once."""
    return list(dict.fromkeys(one.plan.lake for one in deployments))


def _check(deployment: Deployment) -> None:
    """Look up what the deployment names; tell of a key that is not there."""
    asked = deployment.asked
    plans = [asked] if isinstance(asked, Plan) else [plan for _, plan in read_variants(asked)]
    try:
        for plan in plans:
            resolve(plan).lake.require_writable()
    except MoodflowError as error:
        raise type(error)(
            error.what,
            where=f"deployment {deployment.entry.name}, {error.where}",
            expected=error.expected,
            got=error.got,
            next_step=error.next_step,
        ) from error
    named = {entry.api_key_env for entry in deployment.plan.entries if entry.api_key_env}
    for name in sorted(named - set(os.environ)):
        say(f"{deployment.entry.name} needs the environment variable {name}, which is not set: its runs will fail")


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


def _start_server(listening: socket, auth: str, reports_url: str, home: Path) -> ServerProcess:
    """Start it, and put into the environment what this process and the runs that it starts need to reach it."""
    os.environ.pop(WEBHOOK_VARIABLE, None)  # a secret that no run needs
    server = ServerProcess(listening, {**os.environ, **server_settings(origin_of(listening), auth)}, home / LOG_FILE)
    os.environ.setdefault("PREFECT_LOGGING_LOG_PRINTS", "true")  # to the UI
    os.environ |= {"PREFECT_API_URL": server.api_url, "PREFECT_API_AUTH_STRING": auth, REPORTS_URL: reports_url}
    refresh_global_settings_context()
    return server


def describe(ready: ServerStatus, webhook: str | None, places: ServeAddresses, login: Login) -> dict[str, Any]:
    """The document that `moodflow serve --json` prints once everything runs."""
    return {
        "ui": places.origin,
        "api": f"{places.origin}/api",
        "reports": places.reports,
        "config": str(places.config),
        "login": {"file": login.kept_in and str(login.kept_in), "made": login.auth if login.is_new else None},
        "webhook": webhook is not None,
        "deployments": [
            {
                "name": one.name,
                "id": str(one.id),
                "page": f"{places.origin}/deployments/deployment/{one.id}",
                "schedules": [schedule.model_dump() for schedule in one.deployment.entry.schedules],
                "next_run": due.astimezone().isoformat(timespec="minutes") if (due := ready.next_runs[one.name]) else None,
                "missed": ready.missed.get(one.name, 0),
                "lake": str(one.deployment.plan.lake),
            }
            for one in ready.registered
        ],
    }
