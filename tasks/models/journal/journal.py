"""Keep every reply on disk before it is used, so that none is paid for twice.

SQLite in WAL mode with `synchronous=FULL`, written by one thread: while a commit is on its way to the disk, further replies
gather and go into the next, so that a busy run needs no fsync per call and a quiet one does not wait. It is a thread and not a
task, since a task could be cancelled with replies in its hands. Failed calls are not kept; they are asked again.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Self
from weakref import WeakValueDictionary

from schemas.chat import Chat, ChatReply, ChatRequest, KeepingChat
from schemas.errors import LakeError
from schemas.lineage import CallCounts
from schemas.vocabulary import Failure
from tasks.models.journal.leases import Leases
from tasks.models.journal.table import JournalRow, connect, find_reply, insert, journal_errors, journal_row, write_reply
from tasks.models.long_prompts import LongPrompt, find_pinned, is_cut

POLL_S = 0.2
"""Seconds between two looks of a waiting caller for another process's reply, or for its claim given up; a look takes 30 us."""

WAITING = ChatReply(failure="waiting", error="not sent: a batch has this call")

NOT_SENT: Mapping[Failure | None, str] = {"budget": "unsent", "waiting": "waiting"}
"""Failures of calls that were not sent, and how they are counted."""


class Journal:
    """Replies by the meaning of their call. Used as an async context manager, in one event loop.

    A file that cannot be written or is no journal, and a damaged entry, are a LakeError. The file's folder is made, and one for
    the `leases` next to it: claims on calls, so that no other process sends them too.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path = path
        self._now = now
        self._entries: SimpleQueue[tuple[JournalRow, asyncio.Future[None]] | None] = SimpleQueue()
        self.folder = path.parent
        self.leases = Leases(path.with_suffix(".leases"))

    async def __aenter__(self) -> Self:
        with journal_errors(self._path), ExitStack() as opened:
            # One connection for the event loop's reads, one for the writer's thread.
            self._reading = opened.enter_context(closing(connect(self._path)))
            self._writing = opened.enter_context(closing(connect(self._path)))
            # SQLite opens a file that may not be written without a word; the first reply would be lost.
            self._writing.execute("PRAGMA user_version = 1")
            opened.enter_context(self.leases)
            self._opened = opened.pop_all()
        self._writer = Thread(target=self._write_batches, name="journal", daemon=True)
        self._writer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        # What was answered is written even if the run ends with an error or is cancelled: it has been paid for.
        self._entries.put(None)
        self._writer.join()
        self._opened.close()

    def get(self, key: str) -> ChatReply | None:
        """Return the journaled reply to a call, marked as such, or None; takes about 20 microseconds."""
        return find_reply(self._reading, self._path, key)

    def is_open(self, key: str) -> bool:
        """Return whether a batch has the call."""
        with journal_errors(self._path):
            query = "SELECT 1 FROM batch_calls WHERE key = ? AND state = 'open'"
            return self._reading.execute(query, (key,)).fetchone() is not None

    def write(self, request: ChatRequest, reply: ChatReply) -> asyncio.Future[None]:
        """Keep a reply, even if the caller is cancelled: the future is done when it is on disk. It must not be cancelled.

        The first reply to a call stays.
        """
        with journal_errors(self._path):
            row = journal_row(request, reply, self._now())
            # Half a character cannot be stored; found here, it fails this reply and not the batch it would be in. A request with
            # one has no key.
            row.reply.encode()
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._entries.put((row, durable))
        return durable

    def mark_cut(self, keys: Iterable[str]) -> None:
        """Mark replies to a part of the prompt: the next run asks again, and the new reply takes their place."""
        replies = ((key, self.get(key)) for key in keys)
        rows = [(write_reply(replace(reply, remark="prompt_cut", from_journal=False)), key) for key, reply in replies if reply]
        with journal_errors(self._path), self._reading:
            self._reading.executemany("UPDATE replies SET reply = ? WHERE key = ?", rows)

    def _write_batches(self) -> None:
        closing = False
        while not closing:
            gathered = [self._entries.get()]
            with suppress(Empty):
                while True:
                    gathered.append(self._entries.get_nowait())
            batch = [entry for entry in gathered if entry is not None]
            closing = len(batch) < len(gathered)
            try:
                with journal_errors(self._path), self._writing:
                    insert(self._writing, [row for row, _ in batch])
                _settle([durable for _, durable in batch], None)
            except LakeError as error:
                _settle([durable for _, durable in batch], error)


def _settle(waiting: list[asyncio.Future[None]], error: LakeError | None) -> None:
    """Wake the waiting callers, with one call into their loop: waking it costs more than a reply does."""

    def wake() -> None:
        for durable in [each for each in waiting if not each.done()]:
            if error is None:
                durable.set_result(None)
            else:
                durable.set_exception(error)

    if waiting:
        # In a loop that is closed no caller waits.
        with suppress(RuntimeError):
            waiting[0].get_loop().call_soon_threadsafe(wake)


class JournaledChat:
    """A client that asks the journal first and keeps what the server answers; counts its calls.

    Of equal calls at the same time one is sent, in this process or in another on the same journal, and the others find its reply
    in the journal; if it fails, the next one is sent. A caller that waits for another call holds no slot of the client.

    A reply to a part of the prompt is kept, and is a failure for the caller; the next run sends the call again. A call that a
    batch has is not sent, and waits, unless `live_too` has it sent all the same.
    A run `in_passes` asks for the same calls again and again until none waits.
    """

    def __init__(self, chat: KeepingChat, journal: Journal, *, live_too: bool = False, in_passes: bool = False) -> None:
        self._chat = chat
        self._found = set[str]() if in_passes else None
        self._live_too = live_too
        self._journal = journal
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._counts: Counter[str] = Counter()
        self._long: dict[str, LongPrompt] = {}
        self._cut: dict[str, str] = {}
        self._ahead: dict[str, ChatReply] = {}

    @property
    def counts(self) -> CallCounts:
        """Return how the calls so far ended."""
        return CallCounts(**self._counts)

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Answer from the journal, else from the server."""
        key = request.key
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            if ready := self._ahead.pop(key, None):
                return ready
            if reply := await self._find_or_claim(request):
                self._count(key, reply)
                return self._whole(request, reply)
            reply = self._whole(request, await self._send(request))
        ended = "answered" if reply.failure is None else "failed"
        self._counts.update([NOT_SENT[reply.failure]] if reply.failure in NOT_SENT else ["sent", ended])
        return reply

    def begin_again(self, replies: Mapping[str, ChatReply]) -> None:
        """Begin another pass over the same calls: the next caller of a request that was sent before gets its reply."""
        self._ahead = dict(replies)
        self._counts.pop("waiting", None)

    def _count(self, key: str, reply: ChatReply) -> None:
        """Count a call that was not sent; one that the journal has counts once, however many passes ask for it."""
        if reply is WAITING:
            self._counts["waiting"] += 1
        elif self._found is None or key not in self._found:
            self._counts["from_journal"] += 1
            if self._found is not None:
                self._found.add(key)

    async def ask_ahead(self, request: ChatRequest) -> ChatReply:
        """Answer as usual; the next caller of this request gets the same reply."""
        self._ahead[request.key] = reply = await self(request)
        return reply

    def find_cut(self) -> dict[str, str]:
        """Return the errors of the prompts that were cut so far, by key of the call; some show only next to others."""
        pinned = find_pinned(self._long) - self._cut.keys()
        self._journal.mark_cut(pinned)
        self._cut |= {key: self._long[key].error for key in pinned}
        return self._cut

    def _whole(self, request: ChatRequest, reply: ChatReply) -> ChatReply:
        """Return a reply to a whole prompt as it is, and one to a part of it as a failure."""
        if prompt := LongPrompt.of(request, reply):
            self._long[request.key] = prompt
            if is_cut(request, reply):
                self._cut[request.key] = prompt.error
                return replace(reply, text=None, top_logprobs=None, remark=None, failure="prompt_cut", error=prompt.error)
        return reply

    async def _find_or_claim(self, request: ChatRequest) -> ChatReply | None:
        """Return the journaled reply; None if the call is ours to send."""
        key, leases = request.key, self._journal.leases
        while not leases.claim(key):
            await asyncio.sleep(POLL_S)
            if (reply := self._journal.get(key)) and not is_cut(request, reply):
                return reply
        try:
            # Only now it is certain: a lease ends after its reply is in the journal, so either it is there or no process has it.
            reply = self._journal.get(key)
            if reply is None and not self._live_too and self._journal.is_open(key):
                reply = WAITING
            elif reply and key not in self._cut and is_cut(request, reply):
                # By an earlier run: the server may have been given a larger context since.
                self._journal.mark_cut([key])
                reply = None
        except LakeError:
            leases.release(key)
            raise
        if reply:
            leases.release(key)
        return reply

    async def _send(self, request: ChatRequest) -> ChatReply:
        written: list[asyncio.Future[None]] = []

        async def keep(request: ChatRequest, reply: ChatReply) -> None:
            kept = replace(reply, remark="prompt_cut") if is_cut(request, reply) else reply
            written.append(self._journal.write(request, kept))
            await asyncio.shield(written[0])

        try:
            return await self._chat(request, keep)
        finally:
            if written and not written[0].done():
                # The caller waits no more, but the reply is on its way to the disk.
                written[0].add_done_callback(lambda _: self._journal.leases.release(request.key))
            else:
                self._journal.leases.release(request.key)


def cut_prompts(chats: Iterable[Chat]) -> dict[str, str]:
    """Return the errors of the prompts of a run that were cut, by key of the call."""
    return {key: why for chat in chats if isinstance(chat, JournaledChat) for key, why in chat.find_cut().items()}
