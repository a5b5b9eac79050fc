"""What a judge would be asked is what it is asked."""

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from tasks.judging.executor import Judge, plan_ratings
from tasks.judging.rubrics import load_rubric

RUBRIC = load_rubric("mc_stage1")
JUDGE = ModelEntry(name="j", base_url="http://127.0.0.1:9/v1")
ITEM = {"language": "en", "context": "Client: Hello.", "question": "Client: I am tired."}


async def test_planned_calls_are_those_that_are_made() -> None:
    made: list[ChatRequest] = []

    async def chat(request: ChatRequest) -> ChatReply:
        made.append(request)
        return ChatReply(text="{" + ", ".join(f'"{name}": 0' for name in RUBRIC.names) + "}")

    answers = ("What tires you?", "Go on.")
    for answer in answers:
        for repetition in range(3):
            await Judge(JUDGE, RUBRIC, chat).rate(ITEM, answer, repetition)
    planned = await plan_ratings([(ITEM, answer) for answer in answers], JUDGE, RUBRIC, 3)
    assert [request.key for request in planned] == [request.key for request in made]
    assert len({request.key for request in planned}) == 6


async def test_each_answer_is_rated_once_unless_said_otherwise() -> None:
    planned = await plan_ratings([(ITEM, "Go on."), (ITEM, "")], JUDGE, RUBRIC)
    assert [request.repetition for request in planned] == [0, 0]
