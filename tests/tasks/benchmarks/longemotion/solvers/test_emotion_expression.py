"""Emotion expression: one conversation of six turns, in every setting."""

from collections import Counter

import pytest

from schemas.chat import ChatReply, ChatRequest
from schemas.context import RetrievalOptions
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tests.tasks.benchmarks.longemotion.solvers.long_items import EE
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import (
    FAILED,
    ScriptedModel,
    ScriptedRoles,
    failed_calls,
    numbering,
    query,
    saying,
    transcript,
)

TEMPLATE = LongEmotionPrompts.load().ee.en
SYSTEM, DEMAND = TEMPLATE.system, TEMPLATE.length_demand
SITUATION = "Situation:\nYour train leaves without you.\n\nTask: Live through this."
OPENING = SITUATION + "\n\n" + TEMPLATE.ratings.replace("{adjectives}", "Upset\nProud")


def step(number: int, *, demand: bool = True) -> str:
    of_step = TEMPLATE.steps[number - 1]
    text = f"{of_step.text}\nBegin with this title on a line of its own: {of_step.title}"
    return f"{text}\n\n{DEMAND}" if demand else text


def many_lines() -> ScriptedModel:
    """Writes three lines each time: `text 1 line 1` and so on."""
    said = numbering("text")

    def answer(request: ChatRequest) -> ChatReply:
        text = said(request).text
        return ChatReply(text="\n".join(f"{text} line {line}" for line in (1, 2, 3)))

    return ScriptedModel(answer)


@pytest.mark.parametrize("setting", ["base", "rag", "coem", "self_rag", "search_o1", "retrieve_only"])
@pytest.mark.parametrize("demand", [True, False])
async def test_six_turns_with_same_demands_in_every_setting(setting: str, *, demand: bool) -> None:
    roles = ScriptedRoles(many_lines())
    solved = await roles.solve(EE, setting, length_demand=demand, repetition=1)
    assert len(transcript(solved)) == 6
    first = roles.model.asked[0].messages
    assert [(message.role, message.content) for message in first] == [("system", SYSTEM), ("user", OPENING)]
    for number in range(1, 6):
        assert step(number, demand=demand) in roles.model.texts[number]
    assert sum(DEMAND in text for text in roles.model.texts) == (5 if demand else 0)
    assert {request.repetition for request in roles.model.asked} == {1}


async def test_base_is_one_conversation() -> None:
    roles = ScriptedRoles(ScriptedModel(numbering("told")))
    solved = await roles.solve(EE, "base")
    assert (solved.retrieved, solved.written, roles.retriever.splits) == ((), (), [])
    assert [call.reply.text for call in transcript(solved)] == [f"told {number}" for number in range(1, 7)]
    last = [(message.role, message.content) for message in roles.model.asked[5].messages]
    expected = [("system", SYSTEM), ("user", OPENING), ("assistant", "told 1")]
    for number in range(1, 5):
        expected += [("user", step(number)), ("assistant", f"told {number + 1}")]
    assert last == [*expected, ("user", step(5))]


async def test_texts_are_chinese_where_the_item_is() -> None:
    roles = ScriptedRoles()
    item = EE.item.model_copy(update={"language": "zh"})
    await roles.solve(type(EE)(EE.item_id, item, EE.context), "base")
    assert roles.model.asked[0].messages[0].content == "你完全设身处地成为某个人，用第一人称讲述自己内心的经历。"
    assert roles.model.texts[5].endswith(
        "请以这个标题开头，标题单独成行：阶段五：回顾与整合\n\n这一阶段请写 3000 个词元（token）以上。"
    )


async def test_later_steps_retrieve_from_written_text() -> None:
    roles = ScriptedRoles(many_lines())
    solved = await roles.solve(EE, "rag", repetition=4)
    written = {text.corpus: [chunk.text for chunk in text.chunks] for text in solved.written}
    assert list(written) == [f"written-4-{number}" for number in (2, 3, 4, 5)]
    lines = [f"text {answer} line {line}" for answer in range(1, 6) for line in (1, 2, 3)]
    assert list(written.values()) == [lines[: 3 * answers] for answers in (2, 3, 4, 5)]
    assert [(chunk, overlap) for _, chunk, overlap in roles.retriever.splits] == [(128, 50)] * 4
    assert roles.retriever.splits[0][0] == "\n\n".join("\n".join(lines[start : start + 3]) for start in (0, 3))
    assert [asked for _, asked in roles.retriever.queries] == [TEMPLATE.steps[number].text for number in (1, 2, 3, 4)]
    assert [(row.query_number, row.corpus) for row in solved.retrieved if row.rank == 0] == [
        (number, f"written-4-{number}") for number in (2, 3, 4, 5)
    ]
    for number, kept in ((2, 2), (3, 4), (4, 4), (5, 4)):
        rows = [row for row in solved.retrieved if row.query_number == number]
        assert [row.rank for row in rows] == list(range(3 * number))
        assert [row.kept for row in rows] == [True] * kept + [False] * (3 * number - kept)
    assert roles.model.texts[1] == step(1)
    assert roles.model.texts[2] == (
        "Parts of what you have written so far that may matter most now:\n[1] text 1 line 1\n\n[2] text 1 line 2\n\n" + step(2)
    )
    # The conversation goes on as in base, with the pieces it was shown.
    speakers = [message.role for message in roles.model.asked[5].messages]
    assert speakers == ["system", *("user", "assistant") * 5, "user"]
    assert roles.model.asked[5].messages[5].content == roles.model.texts[2]


async def test_retrieve_only_shows_pieces_in_place_of_conversation() -> None:
    roles = ScriptedRoles(many_lines())
    await roles.solve(EE, "retrieve_only")
    assert [len(request.messages) for request in roles.model.asked] == [2, 4, 2, 2, 2, 2]
    assert [message.content for message in roles.model.asked[2].messages] == [
        SYSTEM,
        f"{SITUATION}\n\nParts of what you have written about this situation before:\n[1] text 1 line 1\n\n[2] text 1 line 2\n\n"
        + step(2),
    ]


async def test_coem_sums_up_chunks_of_each_step() -> None:
    roles = ScriptedRoles(many_lines())
    solved = await roles.solve(EE, "coem")
    assert roles.sage.texts[0].startswith("Passage that a person wrote about an experience:\ntext 1 line 1\n\nSum up the passage")
    kept = Counter((row.stage, row.query_number) for row in solved.retrieved if row.kept)
    assert [kept["initial", number] for number in (2, 3, 4, 5)] == [4, 8, 8, 8]
    assert [kept["reranked", number] for number in (2, 3, 4, 5)] == [2, 4, 4, 4]
    assert len(roles.sage.asked) == 4 + 8 + 8 + 8
    # The same text is the same request.
    assert len({request.key for request in roles.sage.asked}) == 8
    assert "[1] text 1 line 1\nNotes: insight\n\n[2] text 1 line 2\nNotes: insight\n\n" in roles.model.texts[2]


async def test_self_rag_shows_the_chunk_alone() -> None:
    roles = ScriptedRoles(many_lines(), critic=ScriptedModel(saying("[Irrelevant]", "[Partially Supported]"), "critic"))
    solved = await roles.solve(EE, "self_rag")
    assert roles.critic.texts[0] == (
        f"Instruction: Go on with a person's account of an experience. {TEMPLATE.steps[1].text}\n\nParagraph:\ntext 1 line 1"
    )
    assert "most now:\n[1] text 1 line 2\n\nTell how you make sense" in roles.model.texts[2]
    assert [row.kept for row in solved.retrieved[:3]] == [False, True, False]


@pytest.mark.parametrize("answered", range(6))
async def test_a_failed_step_ends_the_item(answered: int) -> None:
    roles = ScriptedRoles(ScriptedModel(saying(*(f"told {number}" for number in range(answered)), FAILED)))
    solved = await roles.solve(EE, "rag")
    assert [call.reply.failure for call in transcript(solved)] == [None] * answered + ["http_5xx"]
    assert [(answer.failed_role, answer.text) for answer in solved.answers] == [("tested", None)]
    assert len(roles.model.asked) == answered + 1


async def test_failed_sage_ends_item_after_steps_before() -> None:
    roles = ScriptedRoles(many_lines(), sage=ScriptedModel(saying(*["fine"] * 4, FAILED), "sage"))
    solved = await roles.solve(EE, "coem")
    assert [call.step for call in transcript(solved)] == ["step 0", "step 1", "step 2"]
    assert set(failed_calls(solved)) == {("sage", "enrich", "HTTP 500")}
    assert [(answer.failed_role, answer.text) for answer in solved.answers] == [("sage", None)]
    assert [text.corpus for text in solved.written] == ["written-0-2", "written-0-3"]
    assert {row.query_number for row in solved.retrieved} == {2, 3}


async def test_a_search_within_a_step_leaves_no_marks() -> None:
    replies = [
        "Upset 5",
        "Stage 1\nI freeze.",
        f"Stage 2\nI blame myself. {query('freeze')} cut off",
        f"It is my fault. {query('upset')}",
        "And it calms me.",
        "Stage 3",
        f"Stage 4 {query('upset')}",
        "I walk.",
        "Stage 5",
    ]
    roles = ScriptedRoles(ScriptedModel(saying(*replies)))
    solved = await roles.solve(EE, "search_o1")
    said = [call.reply.text for call in transcript(solved)]
    unmarked = {2: "Stage 2\nI blame myself.", 3: "It is my fault.", 6: "Stage 4"}
    assert said == [unmarked.get(place, reply) for place, reply in enumerate(replies)]
    (answer,) = solved.answers
    assert answer.text == (
        "[Step 0]\nUpset 5\n\n[Step 1]\nStage 1\nI freeze.\n\n"
        "[Step 2]\nStage 2\nI blame myself.\n\nIt is my fault.\n\nAnd it calms me.\n\n"
        "[Step 3]\nStage 3\n\n[Step 4]\nStage 4\n\nI walk.\n\n[Step 5]\nStage 5"
    )
    assert answer.rests_on == solved.calls
    assert roles.model.texts[1] == step(1)
    assert roles.model.texts[2].startswith(
        f"{step(2)}\n\nWhile writing you may look things up in what you have written so far, at most 5"
    )
    results = roles.model.texts[3]
    assert results == (
        "<|begin_search_result|>\n[1] Upset 5\n\n[2] I freeze.\n<|end_search_result|>\n\n"
        "Searches left: 4. Go on with your text where it stopped, without repeating any of it."
    )
    # What stays of the step in the conversation is its text alone.
    assert roles.model.asked[5].messages[6].content == "Stage 2\nI blame myself.\n\nIt is my fault.\n\nAnd it calms me."
    assert [text.corpus for text in solved.written] == ["written-0-2-0", "written-0-2-1", "written-0-4-0"]
    chunks = [chunk.text for chunk in solved.written[1].chunks]
    assert chunks == ["Upset 5", "Stage 1", "I freeze.", "Stage 2", "I blame myself.", "It is my fault."]
    numbered = [(row.query_number, row.query, row.corpus) for row in solved.retrieved if row.rank == 0]
    assert numbered == [(0, "freeze", "written-0-2-0"), (1, "upset", "written-0-2-1"), (2, "upset", "written-0-4-0")]
    assert [sum(row.kept for row in solved.retrieved if row.query_number == number) for number in range(3)] == [2, 2, 4]


async def test_query_in_reasoning_takes_text_after_it_away() -> None:
    thought = ChatReply(text="too early", reasoning=f"What did I feel? {query('upset')} Hm.")
    roles = ScriptedRoles(ScriptedModel(saying("Upset 5", "Stage 1", thought, "Stage 2", "Stage 3", "Stage 4", "Stage 5")))
    solved = await roles.solve(EE, "search_o1")
    assert [call.reply.text for call in transcript(solved)] == ["Upset 5", "Stage 1", "", *(f"Stage {n}" for n in (2, 3, 4, 5))]
    assert roles.model.asked[3].messages[-2].content == f"What did I feel? {query('upset')}"
    assert [chunk.text for chunk in solved.written[0].chunks] == ["Upset 5", "Stage 1", "What did I feel?"]


async def test_a_step_of_nothing_but_searches_has_failed() -> None:
    roles = ScriptedRoles(ScriptedModel(saying("Upset 5", "Stage 1", query("a"), query("b"))))
    solved = await roles.solve(EE, "search_o1", RetrievalOptions(most_searches=1))
    assert [call.reply.failure for call in transcript(solved)] == [None, None, None, "empty_content"]
    assert transcript(solved)[-1].reply.text is None
    assert roles.model.texts[3].endswith(
        "No searches are left. Go on with your text where it stopped, without repeating any of it and without any search."
    )
