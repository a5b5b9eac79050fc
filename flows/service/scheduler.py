"""`moodflow serve`: a Prefect server with UI, schedules and reports on this machine, until a signal comes; then none of it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from datetime import datetime
from io import StringIO

import httpx
from prefect.client.orchestration import get_client
from prefect.deployments.runner import RunnerDeployment
from prefect.runner import Runner
from pydantic import SecretStr

from flows.runtime.prefect_flows import INTERRUPTED
from flows.runtime.server_session import say
from flows.service.automations import HEARTBEAT_S, register_automations
from flows.service.deployments import Deployment
from flows.service.process_tree import adopt_orphans, descendants, end_descendants, send
from flows.service.registration import Registered, close_left_over, next_runs, register
from flows.service.server_process import ServerProcess
from schemas.errors import EndpointError

START_LIMIT_S = 300.0
STOP_RUNS_LIMIT_S = 15.0
FAILED = 1
STOPPING = "stopping the runs and the server; once more kills them"


@dataclass(frozen=True)
class ServerStatus:
    """What is there once everything runs."""

    registered: Sequence[Registered]
    next_runs: Mapping[str, datetime | None]
    missed: Mapping[str, int]


@dataclass(frozen=True)
class ServerPlan:
    """What is to be served, on which server."""

    server: ServerProcess
    built: Sequence[tuple[Deployment, RunnerDeployment]]
    webhook: SecretStr | None
    announce: Callable[[ServerStatus], None]


def serve_until_signal(wanted: ServerPlan) -> int:
    """Serve until SIGINT or SIGTERM; a second one kills everything at once.

    Returns:
        0 after a signal; 1 if the server ended by itself.

    Raises:
        EndpointError: the server did not start.
    """
    adopt_orphans()
    try:
        return asyncio.run(_serve(wanted))
    finally:
        wanted.server.stop()
        end_descendants(os.getpid())


async def _serve(wanted: ServerPlan) -> int:
    stopped = asyncio.Event()
    _heed_signals(stopped)
    runner = Runner(name="moodflow serve", pause_on_shutdown=False, heartbeat_seconds=HEARTBEAT_S, query_seconds=5)
    died = asyncio.create_task(_wait_for_end(wanted.server))
    asked = asyncio.create_task(stopped.wait())
    work = asyncio.create_task(_start(wanted, runner, stopped))
    try:
        await asyncio.wait({died, asked, work}, return_when=asyncio.FIRST_COMPLETED)
        if work.done() and not asked.done():
            work.result()  # it ends by failing only
        if died.done() and not asked.done():
            said = wanted.server.last_words or "it said nothing"
            say(f"the Prefect server ended by itself, with status {died.result()}: {said}")
            return FAILED
        return 0 if asked.done() else FAILED
    finally:
        await _stop(wanted, runner, work)
        for task in (died, asked):
            task.cancel()


def _heed_signals(stopped: asyncio.Event) -> None:
    def heed() -> None:
        if stopped.is_set():
            send(descendants(os.getpid()), signal.SIGKILL)
            os._exit(INTERRUPTED)
        say(STOPPING)
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heed)


async def _wait_for_end(server: ServerProcess) -> int:
    # A process announces its end to its parent by a signal, which asyncio wants for itself; asking is simpler.
    while (status := server.status) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    return status


async def _start(wanted: ServerPlan, runner: Runner, stopped: asyncio.Event) -> None:
    await wait_until_healthy(wanted.server)
    names = [made.full_name for _, made in wanted.built]
    async with get_client() as client:
        missed = await close_left_over(client, names)
        registered = await register(client, wanted.built)
        await register_automations(client, wanted.webhook)
        for _, made in wanted.built:
            await runner.aadd_deployment(made)
        due = await next_runs(client, registered)
    wanted.announce(ServerStatus(registered, due, missed))
    echo = Echo(stopped)
    with redirect_stdout(echo), redirect_stderr(echo):  # where the runner puts what runs print
        running = asyncio.create_task(runner.start())
        await asyncio.sleep(0)
        _heed_signals(stopped)  # the runner has put its own handler in place of ours
        try:
            await running
        finally:
            running.cancel()


class Echo(StringIO):
    """Standard error for what runs print, until they are told to stop: how each of them takes it would bury our own words."""

    def __init__(self, stopped: asyncio.Event) -> None:
        super().__init__()
        self._stopped = stopped
        self._stream = sys.stderr

    def write(self, text: str) -> int:
        """Pass it on, or forget it."""
        if not self._stopped.is_set():
            self._stream.write(text)
            self._stream.flush()
        return len(text)


async def wait_until_healthy(server: ServerProcess, limit_s: float = START_LIMIT_S) -> None:
    """Wait until the server answers.

    Raises:
        EndpointError: it ended, or did not answer in time.
    """
    answered: str | None = None
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(limit_s),
            httpx.AsyncClient(verify=False, trust_env=False, timeout=limit_s) as client,  # noqa: S501  plain HTTP
        ):
            while server.status is None:
                try:
                    (await client.get(f"{server.api_url}/health")).raise_for_status()
                except httpx.HTTPError as error:
                    answered = repr(error)
                    await asyncio.sleep(0.1)
                else:
                    return
    raise EndpointError(
        "the Prefect server did not start",
        where=server.origin,
        expected=f"an answer within {limit_s:g} s",
        got=server.last_words or answered,
        next_step="see what it said; if it is the database, name another folder with PREFECT_HOME",
    )


async def _stop(wanted: ServerPlan, runner: Runner, work: "asyncio.Task[None]") -> None:
    """End what runs while the server can still be told; then only the server is left."""
    if runner.started and wanted.server.status is None:
        with suppress(TimeoutError):
            await asyncio.wait_for(runner.astop(), STOP_RUNS_LIMIT_S)
    end_descendants(os.getpid(), spared=[wanted.server.pid])
    work.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await asyncio.wait_for(work, STOP_RUNS_LIMIT_S)
    if wanted.server.status is None:
        with suppress(Exception):
            async with get_client() as client:
                await close_left_over(client, [made.full_name for _, made in wanted.built])
