"""A server process that is kept answering: started, checked, replaced when it died or hangs, given up when that does not help."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from types import TracebackType
from typing import IO, Self

import httpx

from schemas.errors import EndpointError

START_PERIOD_S = 0.05
LAST_WORDS = 2000


@dataclass(frozen=True)
class RestartPolicy:
    """When a server is replaced or given up.

    A check is missed if the server gives no answer at all; with four prompts of 2,500 tokens in work on two busy cores, the
    slowest of 451 checks took 0.08 s, with 12 calls at once 0.14 s. Checks are counted, not seconds: if this process itself
    cannot work, it misses one check and not many.

    `most_restarts` holds until the server has answered for `steady_s`; it is more than the attempts a call has, so that one
    call that crashes the server does not end the run.
    """

    start_limit_s: float = 60.0
    check_period_s: float = 5.0
    check_limit_s: float = 10.0
    missed_checks: int = 4
    most_restarts: int = 5
    steady_s: float = 60.0


PATIENCE = RestartPolicy()


class Supervisor:
    """Keeps one server process answering at one address while an `async with` block runs; it is gone afterwards.

    Args:
        command: starts the server, on the port it is told as the last argument.
        environment: its variables.
        log: where it writes; its last words are read from there.
        tell: is given one sentence about each restart.
        patience: when it is replaced or given up.
        clock: seconds, monotonic.

    Raises:
        EndpointError: if it does not start; later failures to start are told and kept in `failure`.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: IO[bytes],
        tell: Callable[[str], None],
        patience: RestartPolicy = PATIENCE,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._log_start = 0
        self._tell = tell
        self._patience = patience
        self._clock = clock
        self._port = socket()
        self._address = ""
        self._process: Process | None = None
        self._steady_since = self._answered_at = 0.0
        self._watcher: asyncio.Task[None] | None = None
        self.restarts = 0
        self.failure: EndpointError | None = None

    @property
    def address(self) -> str:
        """Such as http://127.0.0.1:40123; the same for every process of the block."""
        return self._address

    @property
    def pid(self) -> int:
        """Of the present process, or of the last one if there is none."""
        return self._started.pid

    async def __aenter__(self) -> Self:
        try:
            self._reserve_port()
            await self._start()
        except BaseException:
            await self._end()
            raise
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._watcher is not None:
                self._watcher.cancel()
                await asyncio.wait([self._watcher])
                if not self._watcher.cancelled():
                    self._watcher.result()
        finally:
            await self._end()

    @property
    def _started(self) -> Process:
        if self._process is None:
            raise RuntimeError("Supervisor is used as an async context manager")
        return self._process

    def _reserve_port(self) -> None:
        # The option lets the server listen where this socket is bound, and listen again at once after a crash.
        self._port.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        self._port.bind(("127.0.0.1", 0))
        self._address = "http://127.0.0.1:{1}".format(*self._port.getsockname())
        if sys.platform != "linux":
            # Elsewhere a second socket needs the port to itself.
            self._port.close()

    async def _start(self) -> None:
        """Start a process and wait until it answers."""
        self._log_start = os.fstat(self._log.fileno()).st_size
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            self._address.rpartition(":")[2],
            stdin=PIPE,
            stdout=self._log,
            stderr=STDOUT,
            env=self._environment,
            start_new_session=True,  # Ctrl-C is for us: calls in flight end in order, then the server
        )
        try:
            async with asyncio.timeout(self._patience.start_limit_s), _client(self._patience.start_limit_s) as client:
                while self._process.returncode is None:
                    if await self._answers(client):
                        self._steady_since = self._answered_at
                        return
                    await asyncio.sleep(START_PERIOD_S)
        except TimeoutError:
            pass  # told below, with the log
        ended = self._process.returncode is not None
        raise EndpointError(
            "the embedded model server does not start",
            where="package xllamacpp",
            expected=f"an answer within {self._patience.start_limit_s:g} s",
            got=self._last_words() or (self._how_it_ended() if ended else "no answer"),
            next_step="free memory (about 1 GB is needed), or name a server with --base-url",
        )

    async def _answers(self, client: httpx.AsyncClient) -> bool:
        try:
            healthy = (await client.get(f"{self._address}/health")).is_success
        except httpx.TransportError:
            return False
        if healthy:
            self._answered_at = self._clock()
        return healthy

    async def _watch(self) -> None:
        """Replace the process as often as it fails, until that does not help."""
        restarts_in_a_row = 0
        while True:
            reason = await self._fails()
            if self._answered_at - self._steady_since >= self._patience.steady_s:
                restarts_in_a_row = 0
            while restarts_in_a_row < self._patience.most_restarts:
                restarts_in_a_row += 1
                self.restarts += 1
                self._tell(f"the embedded model server is restarted: {reason}")
                try:
                    await self._start()
                    break
                except EndpointError as error:
                    await self._kill()
                    reason = f"it does not start: {error.got}"
            else:
                self._give_up(reason)
                return

    async def _fails(self) -> str:
        """How the process ended, as soon as it did; one that hangs is ended."""
        process, missed = self._started, 0
        async with _client(self._patience.check_limit_s) as client:
            while missed < self._patience.missed_checks:
                try:
                    async with asyncio.timeout(self._patience.check_period_s):
                        await process.wait()
                    return ": ".join(filter(None, [self._how_it_ended(), self._last_words()]))
                except TimeoutError:
                    missed = 0 if await self._answers(client) else missed + 1
        await self._kill()
        return f"no answer to {missed} checks of {self._patience.check_limit_s:g} s"

    def _give_up(self, reason: str) -> None:
        self.failure = EndpointError(
            "the embedded model server is given up",
            where="package xllamacpp",
            expected=f"{self._patience.steady_s:g} s without a failure",
            got=f"{self._patience.most_restarts} restarts in a row; the last failure: {reason}",
            next_step="run the same command again: what was answered is kept; or name a server with --base-url",
        )
        self._tell(str(self.failure))

    def _how_it_ended(self) -> str:
        status = self._started.returncode
        if status is None:
            return "still running"
        return f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"

    def _last_words(self) -> str:
        # Reading at a place leaves the process's own place in the file where it is.
        end = os.fstat(self._log.fileno()).st_size
        start = max(self._log_start, end - LAST_WORDS)
        return os.pread(self._log.fileno(), end - start, start).decode("utf-8", "replace").strip()

    async def _kill(self) -> None:
        if self._process is not None:
            if self._process.returncode is None:
                self._process.kill()
            await self._process.wait()

    async def _end(self) -> None:
        self._port.close()
        await self._kill()


def _client(timeout_s: float) -> httpx.AsyncClient:
    # A connection of its own for each check: one that was kept may belong to a process that is gone.
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=False, verify=False, timeout=timeout_s, limits=limits)  # noqa: S501  loopback has no TLS
