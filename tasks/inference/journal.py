"""The journal: every reply is on disk before it is used, so that nobody pays for it twice.

SQLite in WAL mode with `synchronous=FULL`, written by one task: while a commit is on its way to the disk, further replies gather
and go into the next one, so that a busy run needs no fsync per call and a quiet one does not wait. Failed calls are not kept; they
are asked again.
"""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from schemas.chat import ChatReply, ChatRequest
from schemas.errors import LakeError
from schemas.lineage import CallCounts

TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, repetition INTEGER NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""


class _Entry(NamedTuple):
    request: ChatRequest
    reply: ChatReply
    durable: asyncio.Future[None]


class Journal:
    """Replies by the meaning of their call.

    Args:
        path: the SQLite file; its folder is made.

    Raises:
        LakeError: on entering, if the file cannot be written or is no journal; on `put`, if the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: asyncio.Queue[_Entry | None] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        with self._errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # One connection for the event loop's reads, one for the writer's thread.
            self._reading, self._writing = self._connect(), self._connect()
        self._writer = asyncio.create_task(self._write_batches())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # What was answered is written even if the run ends with an error: it has been paid for.
        self._queue.put_nowait(None)
        await self._writer
        self._reading.close()
        self._writing.close()

    def get(self, key: str) -> ChatReply | None:
        """The journaled reply to a call, marked as such, or None."""
        with self._errors():
            row = self._reading.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return replace(ChatReply(**json.loads(row[0])), from_journal=True) if row else None

    async def put(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep a reply; returns when it is on disk."""
        entry = _Entry(request, reply, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(entry)
        await entry.durable

    async def _write_batches(self) -> None:
        closing = False
        while not closing:
            gathered = [await self._queue.get()]
            while not self._queue.empty():
                gathered.append(self._queue.get_nowait())
            batch = [entry for entry in gathered if entry is not None]
            closing = len(batch) < len(gathered)
            try:
                await asyncio.to_thread(self._commit, batch)
            except LakeError as error:
                _settle(batch, error)
            else:
                _settle(batch, None)

    def _commit(self, batch: list[_Entry]) -> None:
        rows = [
            (
                entry.request.key,
                entry.request.identity,
                entry.request.repetition,
                json.dumps(entry.request.body(), ensure_ascii=False),
                json.dumps(asdict(entry.reply), ensure_ascii=False),
            )
            for entry in batch
        ]
        statement = "INSERT OR IGNORE INTO replies (key, identity, repetition, request, reply) VALUES (?, ?, ?, ?, ?)"
        with self._errors(), self._writing:
            self._writing.executemany(statement, rows)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(TABLE)
        connection.commit()
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise LakeError(
                "the journal of replies cannot be used",
                where=str(self._path),
                expected="a journal this user may write, on a disk with space left",
                got=f"{type(error).__name__}: {error}",
                next_step="free space or mend permissions and run again; if the file is damaged, move it away",
            ) from error


def _settle(batch: list[_Entry], error: LakeError | None) -> None:
    for entry in batch:
        if entry.durable.done():
            continue
        if error is None:
            entry.durable.set_result(None)
        else:
            entry.durable.set_exception(error)


Keep = Callable[[ChatRequest, ChatReply], Awaitable[None]]
"""Takes an answer into safety."""


class KeepingChat(Protocol):
    """A client that holds a call's slot until its answer is kept: what a crash can cost is what was in flight, no more."""

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Answer one request; a failed call is not kept."""
        ...


class JournaledChat:
    """A client that asks the journal first and keeps what the server answers; counts its calls."""

    def __init__(self, chat: KeepingChat, journal: Journal) -> None:
        self._chat = chat
        self._journal = journal
        self._in_flight: dict[str, asyncio.Task[ChatReply]] = {}
        self.counts = CallCounts()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Answer from the journal, else from a call with the same meaning that is in flight, else from the server."""
        key = request.key
        if running := self._in_flight.get(key):
            return await asyncio.shield(running)
        if known := self._journal.get(key):
            self.counts += CallCounts(from_journal=1)
            return known
        task = asyncio.create_task(self._send(request))
        self._in_flight[key] = task
        task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await task

    async def _send(self, request: ChatRequest) -> ChatReply:
        reply = await self._chat(request, self._journal.put)
        answered = int(reply.failure is None)
        self.counts += CallCounts(sent=1, answered=answered, failed=1 - answered)
        return reply
