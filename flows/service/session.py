"""Serve from the options of `moodflow serve`: everything is checked before anything starts."""

import hmac
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from prefect.context import refresh_global_settings_context
from prefect.settings import PREFECT_API_URL
from pydantic import SecretStr

from flows.runtime.local_server import SERVER_AUTH, LocalServer, listen, new_login, origin_of
from flows.runtime.prefect_flows import log
from flows.runtime.server_process import prefect_home
from flows.service.deployments import check_deployment, find_config, key_addresses, read_deployments, reschedule, set_lakes
from flows.service.registration import build_deployment
from flows.service.report_server import serve_reports
from flows.service.scheduler import ServerPlan, serve_until_signal
from schemas.addresses import KEY_ADDRESSES, REPORTS_URL
from schemas.documents.serve import LoginHint, ServedDeployment, ServedSession
from schemas.errors import UsageError
from schemas.folders import Folder
from tasks.lake.local_state import states_folder


class ServeOptions(NamedTuple):
    """The options."""

    config: Path | None
    host: str
    port: int
    reports_port: int
    lake: Folder | None
    webhook: str | None
    schedules: Mapping[str, str]


def serve_session(options: ServeOptions, show: Callable[[ServedSession], None]) -> int:
    """Serve until a signal comes, and return the exit status; `show` prints the document that says what is where."""
    _refuse_other_server()
    config = find_config(options.config, Path())
    deployments = set_lakes(reschedule(read_deployments(config), options.schedules), options.lake)
    built = [(deployment, build_deployment(deployment)) for deployment in deployments]
    for deployment in deployments:
        check_deployment(deployment)
    home = prefect_home(states_folder())
    lakes = list(dict.fromkeys(deployment.plan.lake for deployment in deployments))
    with (
        _alone(home),
        listen(options.host, options.reports_port, "--reports-port") as reporting,
        listen(options.host, options.port, "--port") as listening,
    ):
        given = os.environ.get(SERVER_AUTH)
        auth, login = (given, LoginHint(file=None, made=None)) if given else keep_auth(home / "moodflow-serve.password")
        token = hmac.digest(auth.encode(), b"reports", "sha256").hex()  # stays as long as the login, and does not tell it
        os.environ[KEY_ADDRESSES] = f"{os.environ.get(KEY_ADDRESSES, '')} {key_addresses(deployments)}".strip()
        webhook = SecretStr(options.webhook) if options.webhook else None
        with serve_reports(reporting, lakes, token, stays=True) as reports_url:
            log("starting the Prefect server, a few seconds")
            server = _start_server(listening, auth, reports_url, home)

            def announce(ready: tuple[ServedDeployment, ...]) -> None:
                session = ServedSession(
                    ui=server.origin,
                    api=server.api_url,
                    reports=f"{reports_url}/?token={token}",
                    config=str(config),
                    login=login,
                    webhook=webhook is not None,
                    deployments=ready,
                )
                show(session)

            return serve_until_signal(ServerPlan(server, built, webhook, announce))


def keep_auth(path: Path) -> tuple[str, LoginHint]:
    """Return `user:password` as kept in a file that only its owner may read, or a new one, and what to say of it."""
    with suppress(FileNotFoundError):
        path.chmod(0o600)
        if kept := path.read_text(encoding="utf-8").strip():
            return kept, LoginHint(file=str(path), made=None)
    made = new_login()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{made}\n")
    return made, LoginHint(file=str(path), made=made)


def _refuse_other_server() -> None:
    if url := PREFECT_API_URL.value():
        raise UsageError(
            "another Prefect server is configured, but moodflow serve starts its own",
            where="PREFECT_API_URL, or Prefect's profile",
            expected="no server configured",
            got=url,
            next_step="on that server: prefect deploy --all, prefect worker start --pool moodflow; else unset what names it",
        )


def _alone(home: Path) -> AbstractContextManager[Any]:
    """Hold Prefect's folder: two servers on one database would each start every scheduled run."""
    try:
        return FileLock(home / "moodflow-serve.lock").acquire(timeout=0)
    except Timeout:
        raise UsageError(
            "moodflow serve is already running",
            where=str(home),
            expected="one per Prefect folder",
            next_step="stop the other one, or name another folder with PREFECT_HOME",
        ) from None


def _start_server(listening: socket.socket, auth: str, reports_url: str, home: Path) -> LocalServer:
    """Start it, and put into the environment what this process and the runs that it starts need to reach it."""
    os.environ.pop("MOODFLOW_WEBHOOK", None)  # a secret that no run needs
    origin = origin_of(listening)
    pages = {
        "PREFECT_UI_ENABLED": "true",
        "PREFECT_UI_API_URL": f"{origin}/api",
        "PREFECT_SERVER_API_PORT": origin.rpartition(":")[2],
        # In memory, the slot of a run that was killed with the server stays taken for ever: no schedule would run again.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    }
    server = LocalServer(listening, auth, {**os.environ, **pages}, (home / "moodflow-serve.log").open("w+b"), "serve")
    os.environ.setdefault("PREFECT_LOGGING_LOG_PRINTS", "true")  # to the UI
    os.environ |= {**server.client_settings, REPORTS_URL: reports_url}
    refresh_global_settings_context()
    return server
