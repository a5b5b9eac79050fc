"""With a Prefect server of the user's, or a temporary one that is let finish its records."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS

from flows.runtime.local_server import TemporaryServer, started_server
from flows.runtime.prefect_flows import drain
from schemas.errors import EndpointError

ResultT = TypeVar("ResultT")


async def on_server(work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Do the work with the user's server, or with a temporary one and wait until that has recorded every task run.

    Raises:
        EndpointError: the user's server cannot be reached, or the temporary one does not start.
    """
    temporary = await _server_is_temporary()
    try:
        return await work()
    finally:
        # Not after an interruption: it is to end now.
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt | asyncio.CancelledError)
        if temporary and not interrupted and not await drain():
            say("the temporary Prefect server had not recorded every task run when it was stopped")


async def _server_is_temporary() -> bool:
    url = PREFECT_API_URL.value()
    early = started_server()
    if early or not url:
        say("starting a temporary Prefect server, a few seconds")
        if early:
            await wait_until_up(early, float(PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value()))
        return True
    async with get_client() as client:
        if failure := await client.api_healthcheck():
            raise EndpointError(
                "the Prefect server cannot be reached",
                where=f"PREFECT_API_URL={url}",
                got=str(failure),
                next_step="start it with prefect server start, or unset the variable for a temporary server",
            )
    return False


async def wait_until_up(server: TemporaryServer, limit_s: float) -> None:
    """Wait until a temporary server answers; from then on there are records in it that must not be lost.

    Raises:
        EndpointError: it ended, or did not answer in time.
    """
    server.used = True
    try:
        # Without certificates and proxies: the server is this machine's, and reading certificates takes a moment.
        async with httpx.AsyncClient(verify=False, trust_env=False, timeout=limit_s) as client:  # noqa: S501  plain HTTP
            (await client.get(f"{server.api_url}/health")).raise_for_status()
    except httpx.HTTPError as error:
        raise EndpointError(
            "the temporary Prefect server did not start",
            where=server.api_url,
            expected=f"an answer within {limit_s:g} s",
            got=server.output or repr(error),
            next_step="see what it said, or start one with prefect server start and set PREFECT_API_URL",
        ) from error


def say(text: str) -> None:
    """Tell the user something on standard error; in a flow run, in its log too, which is what the UI shows."""
    sys.stderr.write(f"moodflow: {text}\n")
    if FlowRunContext.get():
        logging.getLogger("moodflow").info(text)
