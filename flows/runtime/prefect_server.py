"""Have a Prefect server while commands run flows: the user's, or a temporary one until it has recorded everything."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import httpx
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL

from flows.runtime.local_server import LocalServer, temporary_server
from flows.runtime.prefect_flows import leave_soon, log
from flows.runtime.server_process import DATABASE_FAILED
from schemas.errors import EndpointError
from schemas.printing import printable, shows_progress
from tasks.steps import ledger

ResultT = TypeVar("ResultT")

DRAIN_LIMIT_S = 120.0
START_LIMIT_S = 600.0
ANSWER_LIMIT_S = 30.0
ASK_PERIOD_S = ASK_LIMIT_S = 5.0
FEWEST_FAILURES = 3
LOST_AFTER_S = 40.0


async def on_server(work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Await the work with the user's server, or with a temporary one and wait until that has recorded every task run."""
    server = temporary_server()
    if server is None:
        await require_server()
        return await _while_it_answers(work)
    if shows_progress.get():
        log("starting a temporary Prefect server, a few seconds")
    await wait_until_up(server)
    try:
        return await work()
    finally:
        # Not after an interruption: it is to end now.
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt | asyncio.CancelledError)
        if not interrupted and not await drain():
            log("the temporary Prefect server had not recorded every task run when it was stopped")


async def require_server() -> None:
    """Raise EndpointError unless a server of the user's is configured, answers, lets us in and has this major version."""
    url = PREFECT_API_URL.value()
    if failure := await _failure(ANSWER_LIMIT_S) if url else "no server is configured":
        raise EndpointError(
            "the Prefect server cannot be reached",
            where=f"PREFECT_API_URL={url or ''}",
            expected="the API of a Prefect server, whose address usually ends with /api",
            got=failure,
            next_step="start it with prefect server start and set the variable; without it, a run has a temporary server",
        )
    try:
        async with get_client() as client:
            await client.raise_for_api_version_mismatch()
    except (RuntimeError, httpx.HTTPStatusError) as error:
        raise EndpointError(
            "the Prefect server refused the request",
            where=f"PREFECT_API_URL={url}",
            got=str(error).splitlines()[0],
            next_step="set PREFECT_API_AUTH_STRING to its login; the server must be Prefect 3",
        ) from error


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
    """Await the work while the user's server answers; if that is lost, what is under way is given up with an EndpointError.

    Prefect would try for minutes to report it.
    """
    running, watching = asyncio.ensure_future(work()), asyncio.create_task(_until_lost())
    await asyncio.wait({running, watching}, return_when=asyncio.FIRST_COMPLETED)
    if running.done() and not isinstance(running.exception(), httpx.TransportError):
        watching.cancel()
        return running.result()
    error = EndpointError(
        "the Prefect server stopped answering",
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


async def wait_until_up(server: LocalServer) -> None:
    """Wait until a server that this process started answers; EndpointError: it ended, or did not answer in time."""
    # Without certificates and proxies: the server is this machine's, and speaks plain HTTP.
    client = httpx.AsyncClient(verify=False, trust_env=False, timeout=START_LIMIT_S)  # noqa: S501
    with suppress(TimeoutError):
        async with asyncio.timeout(START_LIMIT_S), client:
            while server.status is None:
                with suppress(httpx.HTTPError):
                    (await client.get(f"{server.api_url}/health")).raise_for_status()
                    return
                await asyncio.sleep(0.1)
    if server.status == DATABASE_FAILED:
        database, reason = server.output.splitlines()[-2:]
        raise EndpointError(
            "Prefect's database cannot be used",
            where=database,
            expected="one that this version of Prefect made, or an earlier one",
            got=reason,
            next_step="move it, or set PREFECT_HOME to another folder; it holds only the history, not scores",
        )
    raise EndpointError(
        "the Prefect server did not start",
        where=server.api_url,
        expected=f"an answer within {START_LIMIT_S:g} s",
        got=server.output or "no answer",
        next_step="see what it printed, or start one with prefect server start and set PREFECT_API_URL",
    )


async def drain() -> bool:
    """Wait until the server has recorded each task run that ended here, which it loses at exit; False: it has not in time."""
    wanted = {
        "flow_runs": {"id": {"any_": [str(run) for run in ledger.flow_runs]}},
        "task_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]}}},
    }
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_LIMIT_S), get_client() as client:
            # The server announces nothing; asking is the only way.
            while (await client.request("POST", "/task_runs/count", json=wanted)).json() < len(ledger.task_runs):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            return True
    return False
