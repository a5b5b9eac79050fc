"""`coem`: what the Sage is asked, what is ranked again, what stands in the prompt."""

from collections import Counter

import pytest

from schemas.chat import ChatReply, ChatRequest
from schemas.context import RetrievalOptions
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.solvers.state import AskedItem
from tests.tasks.benchmarks.longemotion.solvers.long_items import EC, ED, ES, FIRM, HISTORY, LAST, MC, QA, TOWER
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import (
    FAILED,
    ScriptedModel,
    ScriptedRoles,
    failed_calls,
    saying,
    transcript,
)

TEXTS = LongEmotionPrompts.load().sage.en


async def test_chunk_is_enriched_and_shown_with_its_notes() -> None:
    roles = ScriptedRoles(sage=ScriptedModel(saying(" She grieves. "), "sage"))
    solved = await roles.solve(EC, "coem")
    (request,) = roles.sage.asked
    assert [(message.role, message.content) for message in request.messages] == [
        ("system", TEXTS.system),
        ("user", TEXTS.ec_emobench.replace("{piece}", "Mara lost her letter.")),
    ]
    (call,) = transcript(solved)
    assert call.request.messages[1].content.startswith(
        f"Text:\n{TOWER}\n\nPassages of this text that may matter most, looked up for the question:\n"
        "[1] Mara lost her letter.\nNotes: She grieves.\n\nQuestion:"
    )


async def test_one_pack_is_recorded_and_not_ranked_again() -> None:
    roles = ScriptedRoles()
    rows = (await roles.solve(EC, "coem")).retrieved
    assert len(roles.retriever.queries) == 1
    assert [(row.stage, row.rank, row.chunk, row.kept, row.dense) for row in rows] == [
        ("initial", 0, 1, True, 1.0),
        ("initial", 1, 3, False, 1.0),
        ("initial", 2, 0, False, 0.0),
        ("initial", 3, 2, False, 0.0),
        ("reranked", 0, 1, True, None),
    ]
    assert [(row.enriched, row.helper) for row in rows[:4]] == [(None, None)] * 4
    assert (rows[4].enriched, rows[4].helper, rows[4].helper_call_key) == ("insight", "sage", roles.sage.asked[0].key)


async def test_entity_is_told_and_person_is_not() -> None:
    roles = ScriptedRoles()
    await roles.solve(FIRM, "coem")
    await roles.solve(EC, "coem")
    firm, person = roles.sage.texts
    assert firm.startswith(
        "Company or other entity: Acorn Ltd\n\nPassage:\nAcorn Ltd grew.\n\nWrite a JSON object with four keys:\n"
    )
    assert "Mara" not in person.replace("Mara lost her letter.", "")


async def test_every_segment_is_enriched_and_packs_decide() -> None:
    def note(request: ChatRequest) -> ChatReply:
        # With its notes segment 7 stands out, though its text alone does not.
        return ChatReply(text="joy" if "number7" in request.messages[1].content else "deep peace of mind")

    roles = ScriptedRoles(sage=ScriptedModel(note, "sage"))
    solved = await roles.solve(ED, "coem")
    assert len(roles.sage.asked) == 10
    (packs, query), *more = roles.retriever.queries
    assert (query, more) == (None, [])
    assert packs[7] == "calm morning number7 by the lake\nNotes: joy"
    # Words shared with other packs: segment 4 notes, deep, peace, of, mind; segment 7 calm, morning, by, the, lake, notes; the
    # rest all ten.
    rows = solved.retrieved
    assert {row.stage for row in rows} == {"reranked"}
    assert [row.chunk for row in rows] == [4, 7, 0, 1, 2, 3, 5, 6, 8, 9]
    assert [row.dense for row in rows] == [5.0, 6.0] + [10.0] * 8
    assert [row.rank for row in rows] == list(range(10))
    assert {row.chunk: row.enriched for row in rows}[7] == "joy"
    text = transcript(solved)[0].request.messages[1].content
    assert r'{"index": 4, "context": "He \"shook\" with dread", "note": "deep peace of mind"}' in text
    assert '{"index": 7, "context": "calm morning number7 by the lake", "note": "joy"}' in text
    lines_of_prompt = text.partition("the most unusual one first:\n")[2].partition("\n\nQuestion:")[0].splitlines()
    assert [line.partition(",")[0] for line in lines_of_prompt] == [f'{{"index": {index}' for index in (4, 7, 0, 1, 2, 3, 5, 6)]


async def test_packs_are_ranked_but_shown_in_order() -> None:
    def note(request: ChatRequest) -> ChatReply:
        passage = request.messages[1].content.split("\n")[3]
        return ChatReply(text="what does fear fade by" if passage == "Line 9 tells of topic9." else "none")

    roles = ScriptedRoles(sage=ScriptedModel(note, "sage"))
    solved = await roles.solve(QA, "coem")
    question = TEXTS.qa.replace("{question}", "By what does fear fade?")
    assert roles.sage.texts[0] == question.replace("{piece}", "Fear fades by exposure.")
    assert len(roles.sage.asked) == 16
    initial, reranked = solved.retrieved[:21], solved.retrieved[21:]
    assert [row.chunk for row in initial if row.kept] == [20, *range(15)]
    assert [row.kept for row in initial] == [True] * 16 + [False] * 5
    # Line 9's pack shares all five words of the question, that of chunk 20 two; others none, in the order of the first ranking.
    assert [(row.rank, row.chunk, row.dense) for row in reranked[:3]] == [(0, 9, 5.0), (1, 20, 2.0), (2, 0, 0.0)]
    assert [row.rank for row in reranked] == list(range(16))
    assert [row.chunk for row in reranked if row.kept] == [9, 20, 0, 1]
    assert {row.query for row in reranked} == {"By what does fear fade?"}
    assert (
        "[1] Line 0 tells of topic0.\nNotes: none\n\n[2] Line 1 tells of topic1.\nNotes: none\n\n"
        "[3] Line 9 tells of topic9.\nNotes: what does fear fade by\n\n[4] Fear fades by exposure.\nNotes: none\n\nQuestion:"
    ) in transcript(solved)[0].request.messages[1].content
    keys = {request.key for request in roles.sage.asked}
    assert {row.helper_call_key for row in reranked} == keys


async def test_a_conversation_is_enriched_as_a_whole() -> None:
    roles = ScriptedRoles(sage=ScriptedModel(saying("The client was noted 9 times."), "sage"))
    solved = await roles.solve(MC, "coem")
    (text,) = roles.sage.texts
    # All twelve of the client's messages share two words or more; of the counselor's, noted 3 shares two, the first three one.
    numbers = sorted([*range(0, 24, 2), 7, 1, 3, 5])
    lines = HISTORY.splitlines()
    pieces = "\n\n".join(f"[{place}] {lines[number]}" for place, number in enumerate(numbers, start=1))
    assert text.startswith(
        f"Parts of a counselling dialogue:\n{pieces}\n\nIts last messages:\n{LAST}\n\nWrite two short paragraphs."
    )
    initial, reranked = solved.retrieved[:24], solved.retrieved[24:]
    assert [row.kept for row in initial] == [True] * 16 + [False] * 8
    assert {row.query for row in initial} == {LAST}
    (_, _), (raw, query) = roles.retriever.queries
    assert query == "The client was noted 9 times."
    assert set(raw) == {lines[number] for number in numbers}
    # The client's worry 9 shares client and 9; others share one word, client or noted; best first as in the first ranking.
    assert [row.chunk for row in reranked if row.kept] == [18, 6, 0, 2]
    assert [row.rank for row in reranked] == list(range(16))
    assert {(row.query, row.enriched, row.helper) for row in reranked} == {(query, query, "sage")}
    text = transcript(solved)[0].request.messages[1].content
    assert text.startswith(f"The dialogue so far, without its last messages:\n{HISTORY}\n\nParts of this dialogue")
    assert (
        "[1] Client: worry 0\n\n[2] Client: worry 1\n\n[3] Client: worry 3\n\n[4] Client: worry 9\n\n"
        f"Notes of a colleague on these parts:\nThe client was noted 9 times.\n\nThe last messages:\n{LAST}\n\n"
    ) in text


async def test_aspects_are_enriched_each_on_its_own() -> None:
    roles = ScriptedRoles()
    solved = await roles.solve(ES, "coem")
    assert len(roles.sage.asked) == 5 * 8
    assert roles.sage.texts[0].startswith(
        "Aspect: Causes\nQuestion: What brought the client's psychological problem about?\n\n"
        "Passage of a counselling report:\nSession 0 went well.\n\nCopy from the passage only"
    )
    counts = Counter((row.query_number, row.stage, row.kept) for row in solved.retrieved)
    for number in range(5):
        assert (counts[number, "initial", True], counts[number, "initial", False]) == (8, 4)
        assert (counts[number, "reranked", True], counts[number, "reranked", False]) == (4, 4)
    text = transcript(solved)[0].request.messages[1].content
    assert text.count("Notes: insight") == 20
    assert "## Symptoms\n[1] Session 0 went well.\nNotes: insight\n\n[2]" in text


async def test_enriched_chunks_are_ranked_again() -> None:
    def note(request: ChatRequest) -> ChatReply:
        return ChatReply(text="Mara and Mara" if "wept" in request.messages[1].content else "none of her")

    solved = await ScriptedRoles(sage=ScriptedModel(note, "sage")).solve(EC, "coem", RetrievalOptions(initial_k=4))
    assert [(row.chunk, row.kept) for row in solved.retrieved[4:]] == [(1, True), (3, False), (0, False), (2, False)]


@pytest.mark.parametrize("asked_item", [EC, ED, QA, ES, MC], ids=lambda asked_item: asked_item.item_id)
async def test_a_sage_that_fails_ends_the_item(asked_item: AskedItem) -> None:
    roles = ScriptedRoles(sage=ScriptedModel(saying(FAILED), "sage"))
    solved = await roles.solve(asked_item, "coem")
    assert set(failed_calls(solved)) == {("sage", "enrich", "HTTP 500")}
    assert [call.request for call in solved.calls] == roles.sage.asked
    (answer,) = solved.answers
    assert (answer.failed_role, answer.text, answer.rests_on) == ("sage", None, solved.calls[:1])
    assert roles.model.asked == []
    assert {row.stage for row in solved.retrieved} == (set() if asked_item is ED else {"initial"})


async def test_failed_chunk_ends_item_and_keeps_rows() -> None:
    def answer(request: ChatRequest) -> ChatReply:
        symptoms = request.messages[1].content.startswith("Aspect: Symptoms")
        return ChatReply(failure="timeout_total") if symptoms else ChatReply(text="none")

    roles = ScriptedRoles(sage=ScriptedModel(answer, "sage"))
    solved = await roles.solve(ES, "coem")
    assert {(call.role, call.reply.failure) for call in solved.calls if call.reply.failure} == {("sage", "timeout_total")}
    assert len(solved.calls) == len(roles.sage.asked)
    assert [answer.failed_role for answer in solved.answers] == ["sage"]
    assert {row.query_number for row in solved.retrieved if row.stage == "reranked"} == {0, 2, 3, 4}
    assert roles.model.asked == []
