"""A command's flows end as their user asked."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_AUTH_STRING

from flows.runtime.prefect_flows import leave_soon, run_in_thread

INTERRUPTED = """
import asyncio, os, signal, sys
from prefect import flow
from flows.runtime.prefect_flows import run_to_end

def interrupt():
    os.kill(os.getpid(), signal.SIGTERM)

async def call():
    interrupt()

@flow
async def step():
    if sys.argv[1] == "in the flow":
        interrupt()
    if sys.argv[1] == "in a call of it":
        await asyncio.gather(call(), return_exceptions=True)
    asyncio.get_running_loop().call_soon(interrupt)
    await asyncio.sleep(60)

@flow
async def outermost():
    await step()

try:
    run_to_end(outermost())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(
    "moment",
    ["in a call of it", pytest.param("in the flow", marks=pytest.mark.long), pytest.param("beside it", marks=pytest.mark.long)],
)
def test_signal_interrupts_wherever_flow_gets_it(prefect_server: str, moment: str) -> None:
    server = {"PREFECT_API_URL": prefect_server, "PREFECT_API_AUTH_STRING": PREFECT_API_AUTH_STRING.value()}
    environment = {**os.environ, **server, "PYTHONPATH": str(Path(__file__).parents[3])}
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, moment], env=environment, capture_output=True, text=True, check=False, timeout=50
    )
    assert ended.returncode == 130, ended.stderr


def test_interrupted_notebook_goes_on() -> None:
    cancelled = []

    async def work() -> None:
        leave_soon("the server is gone", 2)  # ends the process of a command, and of no other
        # Once the main thread waits: while that starts a thread, it has nothing to cancel.
        asyncio.get_running_loop().call_later(1, os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(KeyboardInterrupt):
        run_in_thread(work())
    assert cancelled == [True]
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
