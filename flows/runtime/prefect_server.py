"""Have a Prefect server while commands run flows: the user's, or a temporary one until it has recorded everything."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import httpx
from prefect.client.orchestration import get_client
from prefect.context import refresh_global_settings_context
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
)

from flows.runtime.local_server import LocalServer, start_for_this_process, started_server
from flows.runtime.prefect_flows import leave_soon, log
from schemas.errors import EndpointError
from schemas.printing import printable
from tasks.steps import ledger

ResultT = TypeVar("ResultT")

DRAIN_LIMIT_S = 120.0
START_LIMIT_S = 30.0
ASK_PERIOD_S = ASK_LIMIT_S = 5.0
FEWEST_FAILURES = 3
LOST_AFTER_S = 40.0

_TERMINAL = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]


async def on_server(work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Await the work with the user's server, or with a temporary one and wait until that has recorded every task run.

    Raises:
        EndpointError: the user's server cannot be reached or is lost, or the temporary one does not start or is forbidden.
    """
    if not await _server_is_temporary():
        return await _while_it_answers(work)
    try:
        return await work()
    finally:
        # Not after an interruption: it is to end now.
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt | asyncio.CancelledError)
        if not interrupted and not await drain():
            log("the temporary Prefect server had not recorded every task run when it was stopped")


async def _server_is_temporary() -> bool:
    url, server = PREFECT_API_URL.value(), started_server()
    if not (url or server):
        if not PREFECT_SERVER_ALLOW_EPHEMERAL_MODE.value():
            raise EndpointError(
                "no Prefect server is configured, and a temporary one is forbidden",
                where="PREFECT_SERVER_EPHEMERAL_ENABLED",
                next_step="start one with prefect server start and set PREFECT_API_URL, or unset the variable",
            )
        # What was read before anything was imported might have named one.
        server = start_for_this_process()
        refresh_global_settings_context()
    if server:
        log("starting a temporary Prefect server, a few seconds")
        limit_s = float(PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value())
        advice = "see what it printed, or start one with prefect server start and set PREFECT_API_URL"
        await wait_until_up(server, limit_s, "the temporary Prefect server did not start", advice)
        return True
    await require_server()
    return False


async def require_server() -> None:
    """Raise EndpointError unless a server of the user's is configured and answers."""
    url = PREFECT_API_URL.value()
    if failure := await _failure(START_LIMIT_S) if url else "no server is configured":
        raise EndpointError(
            "the Prefect server cannot be reached",
            where=f"PREFECT_API_URL={url or ''}",
            expected="the API of a Prefect server, whose address usually ends with /api",
            got=failure,
            next_step="start it with prefect server start and set the variable; without it, a run has a temporary server",
        )


async def _failure(limit_s: float) -> str | None:
    """Return what is wrong with the user's server; null if it answers in time, as a Prefect server does."""
    try:
        async with asyncio.timeout(limit_s), get_client() as client:
            answer = (await client.request("GET", "/health")).text
    except TimeoutError:
        return f"no answer within {limit_s:g} s"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return (str(error) or type(error).__name__).splitlines()[0]
    return None if answer == "true" else f"another answer to /health: {answer[:80]!r}"


async def _while_it_answers(work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Await the work while the user's server answers.

    Raises:
        EndpointError: it was lost. What is under way is given up: Prefect would try for minutes to report it.
    """
    running, watching = asyncio.ensure_future(work()), asyncio.create_task(_until_lost())
    await asyncio.wait({running, watching}, return_when=asyncio.FIRST_COMPLETED)
    if running.done() and not isinstance(running.exception(), httpx.TransportError):
        watching.cancel()
        return running.result()
    error = EndpointError(
        "the Prefect server does not answer any more",
        where=f"PREFECT_API_URL={PREFECT_API_URL.value()}",
        expected=f"an answer within {LOST_AFTER_S:g} s",
        got=str(running.exception()) if running.done() else watching.result(),
        next_step="start it, then run the same command; finished partitions and answered calls are kept",
    )
    leave_soon(f"Error: {printable(str(error))}\n", 2)
    raise error


async def _until_lost() -> str:
    """Return what is wrong once the user's server has not answered for LOST_AFTER_S; a restart takes less."""
    clock, failures = asyncio.get_running_loop().time, 0
    answered = clock()
    while failures < FEWEST_FAILURES or clock() - answered < LOST_AFTER_S:
        await asyncio.sleep(ASK_PERIOD_S)
        if failure := await _failure(ASK_LIMIT_S):
            failures += 1  # one alone may be due to a step that kept this process from listening
        else:
            answered, failures = clock(), 0
    return failure or ""


async def wait_until_up(server: LocalServer, limit_s: float, what: str, next_step: str) -> None:
    """Wait until a server that this process started answers; from then on there are records in it that must not be lost.

    Args:
        server: the server.
        limit_s: longest wait, in seconds.
        what: first words of an error.
        next_step: last words of an error.

    Raises:
        EndpointError: it ended, or did not answer in time.
    """
    server.used = True
    failure = "no answer"
    with suppress(TimeoutError):
        # Without certificates and proxies: the server is this machine's, and reading certificates takes a moment.
        async with (
            asyncio.timeout(limit_s),
            httpx.AsyncClient(verify=False, trust_env=False, timeout=limit_s) as client,  # noqa: S501  plain HTTP
        ):
            while server.status is None:
                try:
                    (await client.get(f"{server.api_url}/health")).raise_for_status()
                except httpx.HTTPError as error:
                    failure = repr(error)
                    await asyncio.sleep(0.1)
                else:
                    return
    raise EndpointError(
        what,
        where=server.api_url,
        expected=f"an answer within {limit_s:g} s",
        got=server.output or failure,
        next_step=next_step,
    )


async def drain() -> bool:
    """Wait until the server has recorded every task run that ended here; a temporary server loses them at exit otherwise.

    Returns:
        False if it had not after DRAIN_LIMIT_S seconds.
    """
    wanted = {
        "flow_runs": {"id": {"any_": [str(run) for run in ledger.flow_runs]}},
        "task_runs": {"state": {"type": {"any_": _TERMINAL}}},
    }
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_LIMIT_S), get_client() as client:
            # The server announces nothing; asking is the only way.
            while (await client.request("POST", "/task_runs/count", json=wanted)).json() < len(ledger.task_runs):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            return True
    return False
