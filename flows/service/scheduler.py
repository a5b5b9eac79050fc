"""Run a Prefect server with its deployments until a signal comes, and leave no process behind."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from typing import NamedTuple

import psutil
from prefect.client.orchestration import get_client
from prefect.deployments.runner import RunnerDeployment
from prefect.runner import Runner
from pydantic import SecretStr

from flows.runtime.local_server import INTERRUPTED, LocalServer
from flows.runtime.prefect_flows import log
from flows.runtime.prefect_server import wait_until_up
from flows.service.deployments import Deployment
from flows.service.registration import HEARTBEAT_S, close_left_over, next_run, register, register_automations
from schemas.documents.serve import ServedDeployment

STOP_RUNS_LIMIT_S = 15.0
PR_SET_CHILD_SUBREAPER = 36


class ServerPlan(NamedTuple):
    """What is to be served, on which started server; `announce` is called once everything runs, `webhook` on a regression."""

    server: LocalServer
    built: Sequence[tuple[Deployment, RunnerDeployment]]
    webhook: SecretStr | None
    announce: Callable[[tuple[ServedDeployment, ...]], None]


def serve_until_signal(wanted: ServerPlan) -> int:
    """Serve until SIGINT or SIGTERM, and return 0; 1 if the server ended by itself. A second signal kills everything at once."""
    if sys.platform == "linux":
        # A process whose own parent ends becomes a child of this one, so that it is still found at the end.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        return asyncio.run(_serve(wanted))
    finally:
        wanted.server.stop()
        end_descendants()


def end_descendants(spared: int | None = None) -> None:
    """Kill what this process started, and what that started, until nothing is left but `spared` and what is below it."""
    this = psutil.Process()
    done = {child for child in this.children() if child.pid == spared}
    done |= {child for process in tuple(done) for child in process.children(recursive=True)}
    while left := set(this.children(recursive=True)) - done:
        for child in left:
            with suppress(psutil.Error):  # it ended meanwhile
                child.kill()
        done |= left


async def _serve(wanted: ServerPlan) -> int:
    stopped = asyncio.Event()
    _handle_signals(stopped)
    runner = Runner(name="moodflow serve", pause_on_shutdown=False, heartbeat_seconds=HEARTBEAT_S, query_seconds=5)
    died = asyncio.create_task(_wait_for_end(wanted.server))
    signalled = asyncio.create_task(stopped.wait())
    work = asyncio.create_task(_start(wanted, runner, stopped))
    try:
        await asyncio.wait({died, signalled, work}, return_when=asyncio.FIRST_COMPLETED)
        if signalled.done():
            return 0
        if work.done():
            work.result()  # it ends by failing only
        if died.done():
            printed = wanted.server.output or "it printed nothing"
            log(f"the Prefect server ended by itself, with status {died.result()}: {printed}")
        return 1
    finally:
        await _stop(wanted, runner, work)
        for task in (died, signalled):
            task.cancel()


def _handle_signals(stopped: asyncio.Event) -> None:
    def handle() -> None:
        if stopped.is_set():
            end_descendants()
            os._exit(INTERRUPTED)
        log("stopping the runs and the server; once more kills them")
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)


async def _wait_for_end(server: LocalServer) -> int:
    # A process announces its end to its parent by a signal, which asyncio wants for itself; asking is simpler.
    while (status := server.status) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    return status


async def _start(wanted: ServerPlan, runner: Runner, stopped: asyncio.Event) -> None:
    await wait_until_up(wanted.server)
    names = [made.full_name for _, made in wanted.built]
    async with get_client() as client:
        missed = await close_left_over(client, names)
        await register_automations(client, wanted.webhook)
        served = []
        for deployment, made in wanted.built:
            identity, name = await register(client, runner, deployment, made), made.full_name
            due = await next_run(client, identity, name)
            served.append(
                ServedDeployment(
                    name=name,
                    id=str(identity),
                    page=f"{wanted.server.origin}/deployments/deployment/{identity}",
                    schedules=deployment.entry.schedules,
                    next_run=due and due.astimezone().isoformat(timespec="minutes"),
                    missed=missed[name],
                    lake=str(deployment.plan.lake),
                )
            )
    wanted.announce(tuple(served))
    echo = Echo(stopped)
    with redirect_stdout(echo), redirect_stderr(echo):  # where the runner puts what runs print
        running = asyncio.create_task(runner.start())
        await asyncio.sleep(0)
        _handle_signals(stopped)  # the runner has put its own handler in place of ours
        try:
            await running
        finally:
            running.cancel()


class Echo(StringIO):
    """Standard error for what runs print, until they are stopped: their tracebacks would bury our own messages."""

    def __init__(self, stopped: asyncio.Event) -> None:
        super().__init__()
        self._stopped = stopped
        self._stream = sys.stderr

    def write(self, text: str) -> int:
        """Pass the text on, or drop it."""
        if not self._stopped.is_set():
            self._stream.write(text)
            self._stream.flush()
        return len(text)


async def _stop(wanted: ServerPlan, runner: Runner, work: "asyncio.Task[None]") -> None:
    """End the runs while the server can still record it; then only the server is left."""
    if runner.started and wanted.server.status is None:
        with suppress(TimeoutError):
            await asyncio.wait_for(runner.astop(), STOP_RUNS_LIMIT_S)
    end_descendants(spared=wanted.server.pid)
    work.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await asyncio.wait_for(work, STOP_RUNS_LIMIT_S)
    if wanted.server.status is None:
        with suppress(Exception):
            async with get_client() as client:
                await close_left_over(client, [made.full_name for _, made in wanted.built])
