"""Runs on one journal send each call once, and none waits for a dead one."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schemas.chat import ChatReply, ChatRequest, Keep
from schemas.errors import LakeError
from schemas.lineage import CallCounts
from tasks.models.journal.journal import POLL_S, Journal, JournaledChat
from tasks.models.journal.leases import Leases
from tests.model_server import ModelServer
from tests.tasks.models.journal.journal_asker import CALLS
from tests.tasks.models.making_calls import HANGS_S, Pauses, client, entry, request, running


def echo(messages: list[dict[str, str]]) -> str:
    return f"answer to {messages[0]['content']}"


def test_two_processes_send_each_call_once(tmp_path: Path) -> None:
    with ModelServer(echo, latency_s=0.02) as server:
        asker = ("journal.journal_asker", str(tmp_path / "j.sqlite"), server.base_url)
        with running(*asker) as one, running(*asker) as other:
            ended = [json.loads(process.communicate(timeout=HANGS_S)[0]) for process in (one, other)]
    assert (server.calls, server.repeated) == (CALLS, 0)
    assert sum(found["sent"] for found in ended) == CALLS
    assert [found["texts"] for found in ended] == [[f"answer to call {number}" for number in range(CALLS)]] * 2


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with Journal(tmp_path / "j.sqlite") as journal:
        yield journal


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Leases]:
    """Claims of another process on the journal's calls."""
    with Leases(tmp_path / "j.leases") as leases:
        yield leases


async def test_who_waits_for_another_process_holds_no_slot(journal: Journal, elsewhere: Leases) -> None:
    claimed, free = request("claimed"), request("free")
    assert elsewhere.claim(claimed.key)
    with ModelServer(echo) as server:
        async with client(entry(server.base_url, concurrency=1), Pauses()) as http:
            chat = JournaledChat(http, journal)
            waiting = asyncio.create_task(chat(claimed))
            await asyncio.sleep(0)
            assert (await asyncio.wait_for(chat(free), HANGS_S)).text == "answer to free"
            await asyncio.sleep(0.5)
            assert (server.calls, waiting.done()) == (1, False)
            elsewhere.release(claimed.key)  # without a reply: the call failed there
            reply = await asyncio.wait_for(waiting, HANGS_S)
    assert (reply.text, reply.from_journal, server.calls) == ("answer to claimed", False, 2)


async def test_reply_of_another_process_is_used(journal: Journal, elsewhere: Leases, tmp_path: Path) -> None:
    assert elsewhere.claim(request().key)
    chat = JournaledChat(Answering(), journal)
    waiting = asyncio.create_task(chat(request()))
    await asyncio.sleep(0.3)
    async with Journal(tmp_path / "j.sqlite") as other:
        await other.write(request(), ChatReply(text="from the other"))
    # Its lease is still held: the reply alone is enough.
    assert await asyncio.wait_for(waiting, HANGS_S) == ChatReply(text="from the other", from_journal=True)
    assert chat.counts == CallCounts(from_journal=1)


async def test_cut_reply_of_another_process_is_not_used(journal: Journal, elsewhere: Leases, tmp_path: Path) -> None:
    assert elsewhere.claim(request().key)
    waiting = asyncio.create_task(JournaledChat(Answering(ChatReply(text="to the whole")), journal)(request()))
    async with Journal(tmp_path / "j.sqlite") as other:
        await other.write(request(), ChatReply(text="to a part", remark="prompt_cut"))
    # Looks at it more than once, and waits on for the lease.
    await asyncio.sleep(3 * POLL_S)
    assert not waiting.done()
    elsewhere.release(request().key)
    assert await asyncio.wait_for(waiting, HANGS_S) == ChatReply(text="to the whole")
    assert journal.get(request().key) == ChatReply(text="to the whole", from_journal=True)


class Answering:
    """A client without a server, which lets a test cancel a call at a certain moment."""

    def __init__(self, reply: ChatReply | None = None) -> None:
        self.keeping = asyncio.Event()
        self.reply = reply

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        self.keeping.set()
        if self.reply is None:
            raise RuntimeError("no answer is prepared")
        if keep is not None and self.reply.failure is None:
            await keep(request, self.reply)
        return self.reply


@pytest.mark.parametrize("reply", [ChatReply(failure="http_5xx"), ChatReply(text="B"), None])
async def test_lease_ends_with_its_call_however_that_ends(journal: Journal, elsewhere: Leases, reply: ChatReply | None) -> None:
    (ended,) = await asyncio.gather(JournaledChat(Answering(reply), journal)(request()), return_exceptions=True)
    assert isinstance(ended, RuntimeError if reply is None else ChatReply)
    assert elsewhere.claim(request().key)


async def test_unkeepable_reply_frees_its_lease(journal: Journal, elsewhere: Leases, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="surrogates"):
        await JournaledChat(Answering(ChatReply(text="half \ud83d")), journal)(request())
    assert elsewhere.claim(request().key)
    elsewhere.release(request().key)
    await journal.write(request(), ChatReply(text="B"))
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as connection, connection:
        connection.execute("UPDATE replies SET reply = 'damaged'")
    with pytest.raises(LakeError, match="reply in the journal is damaged"):
        await JournaledChat(Answering(), journal)(request())
    assert elsewhere.claim(request().key)


async def test_cancelled_call_keeps_lease_until_written(journal: Journal, elsewhere: Leases, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as busy:
        busy.execute("BEGIN IMMEDIATE")  # the reply cannot be written while this lasts
        server = Answering(ChatReply(text="B"))
        asked = asyncio.create_task(JournaledChat(server, journal)(request()))
        await server.keeping.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert not elsewhere.claim(request().key)
        busy.rollback()
        async with asyncio.timeout(HANGS_S):
            while not elsewhere.claim(request().key):  # noqa: ASYNC110  the kernel tells nobody
                await asyncio.sleep(0.01)
        assert journal.get(request().key) == ChatReply(text="B", from_journal=True)
