"""A command's flows end as their user asked."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_AUTH_STRING

from flows.runtime.prefect_flows import leave_soon, run_in_thread
from tests.flows.served import LIMIT_S

INTERRUPTED = """
import asyncio, os, signal, sys
from prefect import flow
from flows.runtime.local_server import ends_process
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

ends_process.set(True)
try:
    run_to_end(outermost())
except KeyboardInterrupt:
    sys.exit(130)
"""


def run_python(prefect_server: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    server = {"PREFECT_API_URL": prefect_server, "PREFECT_API_AUTH_STRING": PREFECT_API_AUTH_STRING.value()}
    environment = {**os.environ, **server, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )


@pytest.mark.parametrize(
    "moment",
    ["in a call of it", pytest.param("in the flow", marks=pytest.mark.long), pytest.param("beside it", marks=pytest.mark.long)],
)
def test_signal_interrupts_wherever_flow_gets_it(prefect_server: str, moment: str) -> None:
    ended = run_python(prefect_server, "-c", INTERRUPTED, moment)
    assert ended.returncode == 130, ended.stderr


INTERRUPTED_TESTS = """
import os, signal, threading
import pytest
from tests.flows.command import ask_mini
from tests.model_server import ModelServer

@pytest.fixture
def slow_to_end():
    yield
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):  # it would end the process while this waits
            thread.join()

def interrupt(_):
    os.kill(os.getpid(), signal.SIGINT)
    return "A"

def test_before():
    pass

@pytest.mark.usefixtures("slow_to_end")
def test_interrupted(tmp_path):
    with ModelServer(interrupt) as model:
        ask_mini("run", model.base_url, tmp_path, ["mini_text_matching"])

def test_after():
    pass
"""


@pytest.mark.long
def test_interrupted_tests_end_with_their_summary(prefect_server: str, tmp_path: Path) -> None:
    (tmp_path / "test_interrupted.py").write_text(INTERRUPTED_TESTS, encoding="utf-8")
    done = run_python(prefect_server, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path))
    assert done.returncode == 2, done.stderr
    assert "KeyboardInterrupt" in done.stdout
    assert re.search(r"^=+ 1 passed in .* =+$", done.stdout, re.MULTILINE)


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
