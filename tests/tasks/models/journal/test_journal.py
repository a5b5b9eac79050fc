"""Nothing that was answered is asked or lost."""

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.chat import ChatReply
from schemas.errors import LakeError
from schemas.lineage import CallCounts
from schemas.vocabulary import Failure, Remark
from tasks.models.journal.journal import Journal, JournaledChat
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import HANGS_S, Pauses, client, entry, request
from tests.thinking import FORMS, THOUGHT


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply(text="B，因为", reasoning="x", finish_reason="stop", prompt_tokens=3, latency_s=0.25, attempts=2),
        ChatReply(text="B", top_logprobs=(("B", 0.0), ("A", float("-inf")))),
    ],
)
async def test_what_was_put_is_got_back(tmp_path: Path, reply: ChatReply) -> None:
    path = tmp_path / "new" / "journal.sqlite"
    async with Journal(path) as journal:
        assert journal.get(request().key) is None
        await journal.write(request(), reply)
        assert journal.get(request().key) == replace(reply, from_journal=True)
    async with Journal(path) as journal:
        assert journal.get(request().key) == replace(reply, from_journal=True)


async def test_thoughts_in_a_kept_reply_are_set_apart(tmp_path: Path) -> None:
    path, raw = tmp_path / "j.sqlite", {name: form(THOUGHT, "B") for name, form in FORMS.items()}
    async with Journal(path) as journal:
        for name, text in raw.items():
            reply = ChatReply(text=text, reasoning="Hm.", top_logprobs=(("<", -0.1),), finish_reason="stop")
            await journal.write(request(name), reply)
            found = journal.get(request(name).key)
            assert found is not None
            assert (found.text, found.failure, found.top_logprobs, found.reasoning_in) == ("B", None, None, "think"), name
            assert str(found.reasoning).startswith("Hm.\n\n"), name
            assert THOUGHT in str(found.reasoning), name
    with closing(sqlite3.connect(path)) as connection:
        assert {json.loads(kept)["text"] for (kept,) in connection.execute("SELECT reply FROM replies")} == {*raw.values()}


@pytest.mark.parametrize(("remark", "failure"), [(None, "empty_content"), ("length", "length")])
async def test_a_kept_thought_without_answer_is_no_answer(tmp_path: Path, remark: Remark | None, failure: Failure) -> None:
    async with Journal(tmp_path / "j.sqlite") as journal:
        await journal.write(request(), ChatReply(text=f"<|channel|>analysis<|message|>{THOUGHT}", remark=remark))
        reply = journal.get(request().key)
    assert reply is not None
    assert (reply.text, reply.failure, reply.reasoning, reply.from_journal) == (None, failure, THOUGHT, True)


async def test_next_identical_call_follows_failure(tmp_path: Path) -> None:
    with ModelServer(lambda _: "B", fault=lambda number: "401" if number == 0 else None) as server:
        async with Journal(tmp_path / "j.sqlite") as journal, client(entry(server.base_url), Pauses()) as http:
            chat = JournaledChat(http, journal)
            replies = await asyncio.gather(*(chat(request()) for _ in range(4)))
    assert server.calls == 2
    assert [reply.failure for reply in replies] == ["auth", None, None, None]
    assert chat.counts == CallCounts(sent=2, answered=1, from_journal=2, failed=1)


@pytest.mark.parametrize(("in_passes", "counted"), [(True, 1), (False, 2)])
async def test_passes_of_a_run_count_a_journaled_call_once(tmp_path: Path, in_passes: bool, counted: int) -> None:
    async def sent(*_: object) -> ChatReply:
        raise AssertionError("the journal has the reply")

    async with Journal(tmp_path / "j.sqlite") as journal:
        await journal.write(request(), ChatReply(text="B"))
        chat = JournaledChat(sent, journal, in_passes=in_passes)
        for _ in range(2):
            chat.begin_again({})
            assert (await chat(request())).text == "B"
    assert chat.counts == CallCounts(from_journal=counted)


async def test_failed_journal_ends_calls_with_error(tmp_path: Path) -> None:
    async with Journal(tmp_path / "j.sqlite") as journal:
        with pytest.raises(LakeError, match="surrogates"):
            await asyncio.wait_for(journal.write(request(), ChatReply(text="half \ud83d")), HANGS_S)
        await asyncio.wait_for(journal.write(request(), ChatReply(text="whole")), HANGS_S)
        assert journal.get(request().key) == ChatReply(text="whole", from_journal=True)


async def test_what_waits_is_written_when_the_journal_closes(tmp_path: Path) -> None:
    async with Journal(tmp_path / "j.sqlite") as journal:
        puts = [journal.write(request(str(number)), ChatReply(text="B")) for number in range(50)]
        await asyncio.sleep(0)
    await asyncio.gather(*puts)
    async with Journal(tmp_path / "j.sqlite") as journal:
        assert all(journal.get(request(str(number)).key) for number in range(50))


async def test_simultaneous_replies_share_commits(tmp_path: Path) -> None:
    path, statements = tmp_path / "j.sqlite", list[str]()
    async with Journal(path) as journal:
        journal._writing.set_trace_callback(statements.append)
        with closing(sqlite3.connect(path)) as busy:
            busy.execute("BEGIN IMMEDIATE")  # nothing is written before all are there: more than one statement takes
            puts = [journal.write(request(str(number)), ChatReply(text=str(number))) for number in range(1203)]
            await asyncio.sleep(0)
        await asyncio.gather(*puts)
        found = [journal.get(request(str(number)).key) for number in range(1203)]
    assert found == [ChatReply(text=str(number), from_journal=True) for number in range(1203)]
    # The writer may have taken the first ones alone; all others gathered while it waited.
    assert 1 <= statements.count("COMMIT") <= 2


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ('{"text": "B', "EOF while parsing a string"),
        ('{"text": "B", "words": "B"}', "words: Unexpected keyword argument"),
        ('{"text": 5}', "text: Input should be a valid string"),
        ('{"text": "B", "remark": "odd"}', "remark: Input should be 'refusal', 'length', 'other_model'"),
        ('{"text": "B", "top_logprobs": [["B"]]}', "top_logprobs.0.1: Field required"),
        ('{"text": "B", "failure": "auth"}', "not an answer: failure auth"),
    ],
)
async def test_damaged_entry_is_not_missing(tmp_path: Path, damaged: str, said: str) -> None:
    path = tmp_path / "j.sqlite"
    async with Journal(path) as journal:
        await journal.write(request(), ChatReply(text="B"))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE replies SET reply = ?", (damaged,))
        with pytest.raises(LakeError) as caught:
            journal.get(request().key)
    assert caught.value.where == f"{path}, key {request().key}"
    assert said in str(caught.value.got)
    assert f"moodflow journal merge MOVED_FOLDER/{path.name}" in str(caught.value.next_step)


async def test_foreign_file_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_text("my diary, not a database\n" * 100)
    with pytest.raises(LakeError, match="not a database") as caught:
        async with Journal(path):
            pass
    assert caught.value.where == str(path)
    assert path.read_text() == "my diary, not a database\n" * 100


@pytest.mark.parametrize("name", ["file/journal.sqlite", "folder"])
async def test_a_path_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    # The superuser may write anywhere, so permissions prove nothing: a file stands where a folder is needed, and the reverse.
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LakeError) as caught:
        async with Journal(tmp_path / name):
            pass
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.next_step


async def test_full_disk_is_reported_and_next_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    async with Journal(path) as journal:
        await journal.write(request("before"), ChatReply(text="B"))
        (pages,) = journal._writing.execute("PRAGMA page_count").fetchone()
        journal._writing.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LakeError, match="the disk is full") as caught:
            await asyncio.wait_for(journal.write(request("full"), ChatReply(text="B" * 100_000)), HANGS_S)
        assert journal.get(request("full").key) is None
    assert (caught.value.where, "free space" in str(caught.value.next_step)) == (str(path), True)
    # What was kept is there, the file is whole, and replies are kept again.
    async with Journal(path) as journal:
        assert journal.get(request("before").key) == ChatReply(text="B", from_journal=True)
        await journal.write(request("full"), ChatReply(text="B" * 100_000))
        assert journal.get(request("full").key) == ChatReply(text="B" * 100_000, from_journal=True)
        assert journal._reading.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
