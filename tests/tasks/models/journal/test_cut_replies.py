"""A reply to a part of the prompt is kept and is no answer; the next run asks again."""

from pathlib import Path
from typing import Any

import pytest

from schemas.chat import ChatReply, ChatRequest
from tasks.models.journal.journal import Journal, JournaledChat, cut_prompts
from tasks.models.journal.table import opened_replies
from tests.probed_server import Answer, CuttingContext, ProbedServer, completed
from tests.tasks.models.making_calls import Pauses, client, entry, request

CUT = "the server cut the prompt: it read"
LENGTHS = ("16,500", "19,500", "22,000")
LONG = request("the boat came home again at night " * 2000)  # 14,000 words


async def ask(path: Path, server: ProbedServer, *calls: ChatRequest) -> tuple[list[ChatReply], dict[str, str]]:
    """Make calls one after the other, in a run of their own; return the replies, and what is said in the end of cut prompts."""
    async with Journal(path) as journal, client(entry(server.base_url), Pauses()) as http:
        chat = JournaledChat(http, journal)
        replies = [await chat(call) for call in calls]
        assert sum(reply.from_journal for reply in replies) == chat.counts.from_journal
        return replies, cut_prompts([chat])


@pytest.mark.parametrize("window", [2048, 8192])
async def test_a_cut_prompt_is_a_failure(tmp_path: Path, window: int) -> None:
    path = tmp_path / "j.sqlite"
    with CuttingContext(window) as server:
        (reply, again), found = await ask(path, server, LONG, LONG)
    assert (reply.failure, reply.text, reply.remark, reply.prompt_tokens) == ("prompt_cut", None, None, window)
    assert reply.error == found[LONG.key] == f"{CUT} {window:,} tokens of 68,000 characters"
    # What was paid for is kept with its text, and nothing is asked twice in one run.
    assert (again.failure, again.from_journal, len(server.bodies)) == ("prompt_cut", True, 1)
    async with Journal(path) as journal:
        kept = journal.get(LONG.key)
    assert kept is not None
    assert (kept.text, kept.remark, kept.failure) == ("B", "prompt_cut", None)


async def test_next_run_asks_again_and_keeps_answer(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with CuttingContext(4096) as server:
        await ask(path, server, LONG)
        (still,), _ = await ask(path, server, LONG)
        server.window = 20_000
        with opened_replies(path) as find:
            assert find(LONG.key) is None  # a forecast counts it among the calls to be sent
        (whole, again), _ = await ask(path, server, LONG, LONG)
        (later,), _ = await ask(path, server, LONG)
    assert (still.failure, still.from_journal, len(server.bodies)) == ("prompt_cut", False, 3)
    assert (whole.failure, whole.text, whole.prompt_tokens) == (None, "B", 14_000)
    assert (again.from_journal, later.from_journal, later.failure, later.prompt_tokens) == (True, True, None, 14_000)


def at_most_4096(body: dict[str, Any], _: str) -> Answer:
    """Five tokens for four words, of which 4,096 are read."""
    tokens = min(4096, len(body["messages"][-1]["content"].split()) * 5 // 4)
    return completed(body, "B", usage={"prompt_tokens": tokens, "completion_tokens": 1})


async def test_one_count_of_prompts_of_different_length(tmp_path: Path) -> None:
    # Each of them alone could be whole.
    path, calls = tmp_path / "j.sqlite", [request("home " * words) for words in (3300, 3900, 4400, 900)]
    with ProbedServer(at_most_4096) as server:
        replies, found = await ask(path, server, *calls)
        assert [(reply.failure, reply.prompt_tokens) for reply in replies] == [*[(None, 4096)] * 3, (None, 1125)]
        assert found == {
            call.key: f"{CUT} 4,096 tokens of {characters} characters" for call, characters in zip(calls, LENGTHS, strict=False)
        }
        assert len(server.bodies) == 4
        # A later run asks these again, and no others.
        replies, _ = await ask(path, server, *calls)
    assert [reply.from_journal for reply in replies] == [False, False, False, True]
