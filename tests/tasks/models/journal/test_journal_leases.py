"""Runs on one journal send each call once, and none waits for a dead one."""

import asyncio
import sqlite3
import subprocess
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from schemas.chat import ChatReply, ChatRequest, Keep
from schemas.errors import LakeError
from schemas.lineage import CallCounts
from tasks.models.journal.journal import Journal, JournaledChat
from tasks.models.journal.leases import Leases
from tests.model_server import ModelServer
from tests.tasks.models.journal.journal_asker import CALLS, CONCURRENCY, calls
from tests.tasks.models.making_calls import HANGS_S, Pauses, client, entry, request, running


def echo(messages: list[dict[str, str]]) -> str:
    return f"answer to {messages[0]['content']}"


ASKER = "journal.journal_asker"


def printed(process: subprocess.Popen[str]) -> list[str]:
    return process.communicate(timeout=HANGS_S)[0].splitlines()


def sent(summary: str) -> int:
    words = summary.split()
    assert (int(words[0]) + int(words[2]), words[-2:]) == (CALLS, ["0", "failed"])
    return int(words[0])


def test_two_processes_send_each_call_once(tmp_path: Path) -> None:
    with ModelServer(echo, latency_s=0.02) as server:
        arguments = (str(tmp_path / "j.sqlite"), server.base_url)
        with running(ASKER, *arguments) as one, running(ASKER, *arguments) as other:
            lines = [printed(one), printed(other)]
        assert (one.returncode, other.returncode) == (0, 0)
        assert (server.calls, server.repeated) == (CALLS, 0)
    assert sum(sent(found[-1]) for found in lines) == CALLS
    expected = sorted(f"call {number}: answer to call {number}" for number in range(CALLS))
    assert [sorted(found[:-1]) for found in lines] == [expected, expected]


async def test_next_process_keeps_every_seen_reply(tmp_path: Path) -> None:
    path, answers, is_dead = tmp_path / "j.sqlite", count(), Event()

    def reply(messages: list[dict[str, str]]) -> str:
        if next(answers) >= 2 * CONCURRENCY:
            is_dead.wait()
        return echo(messages)

    with ModelServer(reply) as server:
        arguments = (str(path), server.base_url)
        with running(ASKER, *arguments) as killed:
            assert killed.stdout is not None
            # By its first answer it has claimed every call.
            first = [killed.stdout.readline()]
            with running(ASKER, *arguments) as other:
                first += [killed.stdout.readline() for _ in range(9)]
                killed.kill()
                killed.wait()
                async with Journal(path) as journal:
                    kept = [journal.get(call.key) for call in calls(server.base_url)]
                assert {line.split(": ")[1].strip() for line in first} <= {reply.text for reply in kept if reply}
                is_dead.set()
                lines = printed(other)
        assert (len(first), killed.returncode, other.returncode) == (10, -9, 0)
        # What was on its way to the killed process is asked again, and nothing else.
        assert server.repeated <= CONCURRENCY
        assert server.calls == CALLS + server.repeated
    assert len(lines) == CALLS + 1
    assert sent(lines[-1]) < CALLS


async def test_who_waits_for_another_process_holds_no_slot(tmp_path: Path) -> None:
    path, claimed, free = tmp_path / "j.sqlite", request("claimed"), request("free")
    with ModelServer(echo) as server, Leases(path.with_suffix(".leases")) as elsewhere:
        async with Journal(path) as journal, client(entry(server.base_url, concurrency=1), Pauses()) as http:
            assert elsewhere.claim(claimed.key)
            chat = JournaledChat(http, journal)
            waiting = asyncio.create_task(chat(claimed))
            await asyncio.sleep(0)
            assert (await asyncio.wait_for(chat(free), HANGS_S)).text == "answer to free"
            await asyncio.sleep(0.5)
            assert (server.calls, waiting.done()) == (1, False)
            elsewhere.release(claimed.key)  # without a reply: the call failed there
            reply = await asyncio.wait_for(waiting, HANGS_S)
    assert (reply.text, reply.from_journal, server.calls) == ("answer to claimed", False, 2)


async def test_reply_of_another_process_is_used(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with ModelServer(echo) as server:
        async with Journal(path) as other, Journal(path) as journal, client(entry(server.base_url), Pauses()) as http:
            assert other.leases.claim(request().key)
            chat = JournaledChat(http, journal)
            waiting = asyncio.create_task(chat(request()))
            await asyncio.sleep(0.3)
            await other.write(request(), ChatReply(text="from the other"))
            # Its lease is still held: the reply alone is enough.
            reply = await asyncio.wait_for(waiting, HANGS_S)
    assert (reply, server.calls) == (ChatReply(text="from the other", from_journal=True), 0)
    assert chat.counts == CallCounts(from_journal=1)


async def test_two_clients_send_same_call_once(tmp_path: Path) -> None:
    with ModelServer(echo, latency_s=0.1) as server:
        async with Journal(tmp_path / "j.sqlite") as journal, client(entry(server.base_url), Pauses()) as http:
            one, other = JournaledChat(http, journal), JournaledChat(http, journal)
            await asyncio.wait_for(asyncio.gather(one(request()), other(request())), HANGS_S)
    assert server.calls == 1
    assert one.counts + other.counts == CallCounts(sent=1, answered=1, from_journal=1)


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
async def test_lease_ends_with_its_call_however_that_ends(tmp_path: Path, reply: ChatReply | None) -> None:
    path = tmp_path / "j.sqlite"
    async with Journal(path) as journal:
        with Leases(path.with_suffix(".leases")) as elsewhere:
            (ended,) = await asyncio.gather(JournaledChat(Answering(reply), journal)(request()), return_exceptions=True)
            assert isinstance(ended, RuntimeError if reply is None else ChatReply)
            assert elsewhere.claim(request().key)


async def test_unkeepable_reply_frees_its_lease(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    async with Journal(path) as journal:
        with Leases(path.with_suffix(".leases")) as elsewhere:
            with pytest.raises(LakeError, match="surrogates"):
                await JournaledChat(Answering(ChatReply(text="half \ud83d")), journal)(request())
            assert elsewhere.claim(request().key)
            elsewhere.release(request().key)
            await journal.write(request(), ChatReply(text="B"))
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE replies SET reply = 'damaged'")
            with pytest.raises(LakeError, match="reply in the journal is damaged"):
                await JournaledChat(Answering(), journal)(request())
            assert elsewhere.claim(request().key)


async def test_cancelled_call_keeps_lease_until_written(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    async with Journal(path) as journal:
        with Leases(path.with_suffix(".leases")) as elsewhere, closing(sqlite3.connect(path)) as busy:
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
