"""`self_rag`: marks, verdicts, and what is left when the critic dismisses chunks."""

import pytest

from schemas.chat import ChatReply, ChatRequest
from schemas.context import RetrievalOptions
from tasks.benchmarks.longemotion.solvers.rag import read_marks
from tasks.solvers.state import AskedItem
from tests.tasks.benchmarks.longemotion.solvers.long_items import EC, ED, ES, HISTORY, LAST, MC, QA
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import (
    FAILED,
    ScriptedModel,
    ScriptedRoles,
    failed_calls,
    saying,
    transcript,
)


@pytest.mark.parametrize(
    ("reply", "useful"),
    [
        ("[Fully supported]", True),
        ("It says so. [PARTIALLY SUPPORTED][Utility:5]", True),
        ("[No support / Contradictory]", False),
        ("[Irrelevant]", False),
        ("[Relevant] The letter is lost.", True),
        ("[Relevant] The letter is lost. [No support / Contradictory]", False),
        ("[Irrelevant][Fully supported]", False),
        ("Not [Irrelevant] but [Relevant].", True),
        ("[No support / Contradictory] no, [Partially supported]", True),
        ("Relevant, fully supported.", None),
        ("", None),
    ],
)
def test_marks(reply: str, useful: bool | None) -> None:
    assert read_marks(reply) is useful


def dismissing(*texts: str) -> ScriptedModel:
    def answer(request: ChatRequest) -> ChatReply:
        paragraph = request.messages[1].content.partition("Paragraph:\n")[2]
        return ChatReply(text="[Irrelevant]" if paragraph in texts else f"[Relevant] {paragraph[:6]} [Fully Supported]")

    return ScriptedModel(answer, "critic")


async def test_what_the_critic_is_asked() -> None:
    roles = ScriptedRoles()
    await roles.solve(QA, "self_rag")
    assert len(roles.critic.asked) == 8
    system, user = roles.critic.asked[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert system.content.startswith("You judge whether a paragraph helps with a task. First write [Relevant] or [Irrelevant].\n")
    assert user.content == "Instruction: By what does fear fade?\n\nParagraph:\nFear fades by exposure."


@pytest.mark.parametrize(
    ("asked_item", "instruction"),
    [
        (EC, "What does Mara end up feeling?"),
        (ED, "Which emotion does this paragraph express?"),
        (MC, f"Write the counselor's next reply to this dialogue:\n{LAST}"),
        (ES, "What brought the client's psychological problem about?"),
    ],
)
async def test_the_instruction_is_that_of_the_task(asked_item: AskedItem, instruction: str) -> None:
    roles = ScriptedRoles()
    await roles.solve(asked_item, "self_rag")
    assert roles.critic.texts[0].startswith(f"Instruction: {instruction}\n\nParagraph:\n")


async def test_dismissed_chunks_alone_are_left_out() -> None:
    roles = ScriptedRoles(critic=dismissing("Line 0 tells of topic0.", "Line 3 tells of topic3."))
    solved = await roles.solve(QA, "self_rag")
    text = transcript(solved)[0].request.messages[1].content
    pieces = text.partition("looked up for the question:\n")[2].partition("\n\nQuestion:")[0]
    expected = [*(f"Line {number} tells of topic{number}." for number in (1, 2, 4, 5, 6)), "Fear fades by exposure."]
    assert pieces == "\n\n".join(
        f"[{place}] {line}\nRemark: [Relevant] {line[:6]} [Fully Supported]" for place, line in enumerate(expected, start=1)
    )
    rows = solved.retrieved
    assert {row.stage for row in rows} == {"initial"}
    assert [row.chunk for row in rows[:8]] == [20, *range(7)]
    assert [row.chunk for row in rows if row.kept] == [20, 1, 2, 4, 5, 6]
    assert [row.enriched for row in rows[:2]] == ["[Relevant] Fear f [Fully Supported]", "[Irrelevant]"]
    assert [row.helper_call_key for row in rows[:8]] == [request.key for request in roles.critic.asked]
    assert {(row.kept, row.enriched, row.helper) for row in rows[8:]} == {(False, None, None)}


async def test_emotion_classification_and_conversations_show_the_chunk_alone() -> None:
    for asked_item, piece in ((EC, "[1] Mara lost her letter.\n\nQuestion:"), (MC, "[4] Client: worry 3\n\nThe last messages:")):
        solved = await ScriptedRoles().solve(asked_item, "self_rag")
        text = transcript(solved)[0].request.messages[1].content
        assert piece in text
        assert "Remark:" not in text


async def test_the_verdict_on_the_one_chunk_counts() -> None:
    roles = ScriptedRoles(critic=ScriptedModel(saying("[Irrelevant]"), "critic"))
    solved = await roles.solve(EC, "self_rag")
    base = await ScriptedRoles().solve(EC, "base")
    assert transcript(solved)[0].request.messages == transcript(base)[0].request.messages
    assert [row.kept for row in solved.retrieved] == [False] * 4
    # A conversation without pieces still has its last messages.
    (call,) = transcript(await roles.solve(MC, "self_rag"))
    shown = f"The dialogue so far, without its last messages:\n{HISTORY}\n\nThe last messages:\n{LAST}\n\n"
    assert call.request.messages[1].content.startswith(shown)


async def test_segments_are_kept_with_the_critic_s_words() -> None:
    roles = ScriptedRoles(critic=ScriptedModel(saying("[Irrelevant] dread"), "critic"))
    solved = await roles.solve(ED, "self_rag")
    assert len(roles.critic.asked) == 8
    text = transcript(solved)[0].request.messages[1].content
    assert r'{"index": 4, "context": "He \"shook\" with dread", "note": "[Irrelevant] dread"}' in text
    assert [row.kept for row in solved.retrieved] == [True] * 8 + [False] * 2


async def test_a_heading_without_pieces_is_left_out() -> None:
    def answer(request: ChatRequest) -> ChatReply:
        symptoms = "Which symptoms" in request.messages[1].content
        return ChatReply(text="[Irrelevant]" if symptoms else "[Relevant]")

    solved = await ScriptedRoles(critic=ScriptedModel(answer, "critic")).solve(ES, "self_rag")
    text = transcript(solved)[0].request.messages[1].content
    assert "## Symptoms" not in text
    assert text.count("## ") == 4


async def test_silent_critic_keeps_no_model_from_answering() -> None:
    roles = ScriptedRoles(critic=ScriptedModel(saying("Hm."), "critic"))
    solved = await roles.solve(QA, "self_rag", RetrievalOptions(top_k=2))
    assert [request.repetition for request in roles.critic.asked] == [0, 0]
    assert [call.reply.text for call in transcript(solved)] == ["done"]
    assert [row.kept for row in solved.retrieved] == [False] * 21
    assert [row.enriched for row in solved.retrieved[:3]] == ["Hm.", "Hm.", None]


async def test_a_critic_that_fails_ends_the_item() -> None:
    roles = ScriptedRoles(critic=ScriptedModel(saying("[Relevant]", "[Irrelevant]", FAILED, "[Relevant]"), "critic"))
    solved = await roles.solve(QA, "self_rag")
    assert failed_calls(solved) == [("critic", "criticise", "HTTP 500")]
    assert [(answer.failed_role, answer.text) for answer in solved.answers] == [("critic", None)]
    assert roles.model.asked == []
    assert len(roles.critic.asked) == 8
    assert [row.enriched for row in solved.retrieved[:4]] == ["[Relevant]", "[Irrelevant]", None, "[Relevant]"]
