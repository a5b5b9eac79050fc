"""Dask clusters of two workers on loopback, each in processes of its own that end with the test."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.flows.served import wait_until

START_LIMIT_S = 600.0
BLOCKED = "import sys; sys.modules['schemas'] = None; from distributed.cli.{0} import main; main()"
"""A Dask process in whose environment MoodFlow is not installed."""


@contextmanager
def dask_cluster(folder: Path, *, workers: int = 2, without_code: str = "") -> Iterator[str]:
    """A scheduler and one worker command with so many workers; `without_code`: `dask_scheduler` or `dask_worker`."""
    file = folder / "scheduler.json"
    with _process(folder, _dask("dask_scheduler", without_code), "--port", "0", "--no-dashboard", "--scheduler-file", str(file)):
        address = json.loads(wait_until(lambda: file.exists() and file.read_text()))["address"]
        if not workers:
            yield address
            return
        command = ("--nworkers", str(workers), "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder / "scratch"))
        # A nanny would start the worker in an interpreter of its own, where nothing is blocked.
        nanny = ("--no-nanny",) if without_code == "dask_worker" else ()
        from distributed import Client  # noqa: PLC0415  only where there is a cluster

        with _process(folder, _dask("dask_worker", without_code), address, *command, *nanny):
            with Client(address, set_as_default=False, timeout=START_LIMIT_S) as client:  # type: ignore[no-untyped-call]
                client.wait_for_workers(workers, timeout=START_LIMIT_S)
            yield address


def _dask(program: str, without_code: str) -> list[str]:
    code = BLOCKED.format(program) if without_code == program else f"from distributed.cli.{program} import main; main()"
    return [sys.executable, "-c", code, "--host", "127.0.0.1"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def _process(folder: Path, command: list[str], *arguments: str) -> Iterator[None]:
    """A process and all that it starts; its current folder is another one than the test's."""
    with (folder / f"{time.monotonic_ns()}.log").open("wb") as log:
        started = subprocess.Popen([*command, *arguments], cwd=folder, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(started.pid, number)
                started.wait(10)
