"""The stub of a model server and a Prefect server, each in a process of its own for as long as a block lasts."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "stub_server.py"
SERVER_START_S = 120.0


@contextmanager
def stub_server(latency_ms: int, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A stub in its own process, and its base URL; it ends with the block."""
    command = [sys.executable, str(STUB), "--latency-ms", str(latency_ms), *more]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout is not None  # noqa: S101  it is a pipe
        try:
            yield stub, f"http://127.0.0.1:{int(stub.stdout.readline())}/v1"
        finally:
            stub.kill()


@contextmanager
def prefect_server(folder: Path, environ: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """A Prefect server with its defaults, and the environment that names it; it ends with the block.

    Raises:
        RuntimeError: if it does not answer in time.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    api = f"http://127.0.0.1:{port}/api"
    own = {**environ, "PREFECT_HOME": str(folder / "prefect-server"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    command = [str(Path(sys.executable).with_name("prefect")), "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            await_health(f"{api}/health")
            yield {**environ, "PREFECT_API_URL": api}
        finally:
            server.terminate()


def await_health(url: str) -> None:
    """Return once a server answers.

    Raises:
        RuntimeError: if it does not in SERVER_START_S seconds.
    """
    until = time.monotonic() + SERVER_START_S
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310  an address made above
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"expected an answer of the Prefect server at {url} within {SERVER_START_S:g} s, got none")
