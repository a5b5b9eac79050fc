"""`search_o1`: when the model searches, what comes back, and when it has to answer."""

import pytest

from schemas.chat import ChatReply
from schemas.context import RetrievalOptions
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.benchmarks.longemotion.solvers.search_o1 import find_query, without_searches
from tasks.solvers.state import AskedItem
from tests.tasks.benchmarks.longemotion.solvers.long_items import EC, ED, ES, HISTORY, LAST, MC, QA
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import (
    FAILED,
    ScriptedModel,
    ScriptedRoles,
    query,
    saying,
    transcript,
)

LINES = "a\nb"
TEXTS = LongEmotionPrompts.load().search.en
LAST_WORD = TEXTS.last_results


def left(searches: int) -> str:
    return TEXTS.results.replace("{left}", str(searches))


def searching(*replies: str | ChatReply) -> ScriptedRoles:
    return ScriptedRoles(ScriptedModel(saying(*replies)))


async def test_without_search_first_reply_is_answer() -> None:
    roles = searching("exposure")
    solved = await roles.solve(QA, "search_o1")
    assert [call.reply.text for call in transcript(solved)] == ["exposure"]
    assert solved.retrieved == ()
    (system, user) = roles.model.asked[0].messages
    base = transcript(await ScriptedRoles().solve(QA, "base"))[0].request.messages
    assert user == base[1]
    assert system.content == f"{base[0].content}\n\n{TEXTS.system.replace('{searches}', '5')}"


async def test_one_search() -> None:
    roles = searching(f"Let me see. {query(' topic7 fear ')} and so it is love", "exposure")
    solved = await roles.solve(QA, "search_o1", repetition=3)
    assert [call.reply.text for call in transcript(solved)][-1] == "exposure"
    first, second = roles.model.asked
    assert second.messages[:2] == first.messages
    said, told = second.messages[2:]
    assert (said.role, said.content) == ("assistant", f"Let me see. {query(' topic7 fear ')}")
    assert (told.role, told.content) == (
        "user",
        (
            "<|begin_search_result|>\n[1] Line 0 tells of topic0.\n\n[2] Line 1 tells of topic1.\n\n"
            f"[3] Line 7 tells of topic7.\n\n[4] Fear fades by exposure.\n<|end_search_result|>\n\n{left(4)}"
        ),
    )
    assert {request.repetition for request in roles.model.asked} == {3}
    rows = solved.retrieved
    assert [(row.rank, row.chunk) for row in rows[:4]] == [(0, 7), (1, 20), (2, 0), (3, 1)]
    assert [row.rank for row in rows] == list(range(21))
    assert {(row.query_number, row.stage, row.query, row.corpus) for row in rows} == {(0, "search", "topic7 fear", "context")}
    assert [row.kept for row in rows] == [True] * 4 + [False] * 17


async def test_two_searches_in_a_row() -> None:
    roles = searching(f"{query('topic1')} {query('topic2')}", query("topic2"), "exposure")
    solved = await roles.solve(QA, "search_o1")
    assert len(transcript(solved)) == 3
    # The second query of the first reply was written without the first one's result and is cut off.
    assert roles.model.asked[1].messages[2].content == query("topic1")
    assert roles.model.asked[2].messages[4].content == query("topic2")
    assert {(row.query_number, row.query) for row in solved.retrieved} == {(0, "topic1"), (1, "topic2")}


async def test_after_last_search_answer_is_asked_for() -> None:
    roles = searching(*(query(f"topic{number}") for number in range(9)))
    solved = await roles.solve(QA, "search_o1")
    assert len(transcript(solved)) == 6
    endings = [text.rpartition("\n\n")[2] for text in roles.model.texts[1:]]
    assert endings == [left(4), left(3), left(2), left(1), LAST_WORD]
    assert {row.query_number for row in solved.retrieved} == set(range(5))
    assert transcript(solved)[-1].reply.text == query("topic5")


async def test_the_number_of_searches_is_an_option() -> None:
    roles = searching(query("topic1"), query("topic2"))
    solved = await roles.solve(QA, "search_o1", RetrievalOptions(most_searches=1, top_k=1))
    assert len(transcript(solved)) == 2
    assert "at most 1 times" in roles.model.asked[0].messages[0].content
    assert roles.model.texts[1] == f"<|begin_search_result|>\n[1] Line 1 tells of topic1.\n<|end_search_result|>\n\n{LAST_WORD}"


async def test_a_query_in_the_reasoning_counts() -> None:
    thought = ChatReply(text="I guess love.", reasoning=f"I need to know. {query('topic7')} Perhaps love.")
    roles = searching(thought, "exposure")
    solved = await roles.solve(QA, "search_o1")
    assert [call.reply.text for call in transcript(solved)] == ["I guess love.", "exposure"]
    assert roles.model.asked[1].messages[2].content == f"I need to know. {query('topic7')}"
    assert solved.retrieved[0].query == "topic7"


async def test_repeated_query_uses_search_up() -> None:
    roles = searching(query("Topic7"), query(" topic7 "), "exposure")
    solved = await roles.solve(QA, "search_o1")
    assert len(transcript(solved)) == 3
    assert roles.model.texts[2] == f"You have searched for this before; the result stands above.\n\n{left(3)}"
    assert {row.query_number for row in solved.retrieved} == {0}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (ChatReply(text="exposure", reasoning=f"I asked {query('topic7')} before."), None),
        (ChatReply(text=f"{query('topic7')} again {query('topic8')}"), ("topic8", False, False)),
        (ChatReply(text=query("topic7")), ("topic7", False, True)),
        (ChatReply(text=query("topic8"), reasoning=query("topic9")), ("topic9", True, False)),
        (ChatReply(text=query("  ")), None),
        (ChatReply(text="<|begin_search_query|>topic8"), None),
        (ChatReply(text=f"<|begin_search_query|>oh {query('topic8')}"), ("topic8", False, False)),
        (ChatReply(text=f"I may write {query('Your query')}"), None),
        (ChatReply(text="topic8<|end_search_query|>"), None),
        (ChatReply(failure="timeout_total"), None),
    ],
)
def test_which_query_is_answered(reply: ChatReply, expected: tuple[str, bool, bool] | None) -> None:
    found = find_query(reply, {"topic7"}, {"your query"})
    assert (found and (found.query, found.in_reasoning, found.repeated)) == expected


def test_texts_without_searches() -> None:
    text = f"I am sad. {query(LINES)}<|begin_search_result|>[1] c<|end_search_result|> Still. <|end_search_query|>"
    assert without_searches(text) == "I am sad.  Still."
    open_ended = (
        "<|end_search_result|>a<|begin_search_result|>b<|begin_search_result|>c<|end_search_result|>d<|begin_search_result|>e"
    )
    assert without_searches(open_ended) == "ade"


async def test_a_failed_call_ends_the_search() -> None:
    roles = searching(query("topic7"), FAILED)
    solved = await roles.solve(QA, "search_o1")
    assert [call.reply.failure for call in transcript(solved)] == [None, "http_5xx"]
    assert len(solved.retrieved) == 21


@pytest.mark.parametrize(
    ("asked_item", "hits"),
    [
        (EC, "[1] Mara lost her letter."),
        (ES, "[1] Session 0 went well.\n\n[2] Session 1 went well.\n\n[3] Session 2 went well."),
        (MC, "[1] Client: worry 0\n\n[2] Counselor: noted 0\n\n[3] Client: worry 1\n\n[4] Counselor: noted 1"),
        (
            ED,
            (
                '{"index": 0, "context": "calm morning number0 by the lake"}\n'
                '{"index": 1, "context": "calm morning number1 by the lake"}\n'
                '{"index": 2, "context": "calm morning number2 by the lake"}\n'
                r'{"index": 4, "context": "He \"shook\" with dread"}'
            ),
        ),
    ],
    ids=lambda value: value.item_id if isinstance(value, AskedItem) else "",
)
async def test_hits_of_each_task(asked_item: AskedItem, hits: str) -> None:
    roles = searching(query("dread went lost"), "done")
    await roles.solve(asked_item, "search_o1")
    assert roles.model.texts[1].startswith(f"<|begin_search_result|>\n{hits}\n<|end_search_result|>\n\n")


async def test_a_conversation_is_searched_without_its_last_messages() -> None:
    roles = searching(query("exam"), "I hear you.")
    solved = await roles.solve(MC, "search_o1")
    assert roles.model.texts[0].startswith(f"The dialogue so far:\n{HISTORY}\n{LAST}\n\n")
    assert len(solved.retrieved) == 24
    assert {row.dense for row in solved.retrieved} == {0.0}
