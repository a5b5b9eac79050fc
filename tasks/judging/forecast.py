"""What a judge would be asked, without asking it."""

from collections.abc import Iterable, Mapping
from typing import Any

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from tasks.judging.executor import Judge
from tasks.judging.rubrics import Rubric

NOT_SENT = ChatReply(failure="budget", error="not sent: this is a forecast")


async def plan_ratings(
    answers: Iterable[tuple[Mapping[str, Any], str]], judge: ModelEntry, rubric: Rubric, repetitions: int = 1
) -> list[ChatRequest]:
    """The first call for each rating of each answer; a reply that cannot be read is asked for again, which is not known here.

    Args:
        answers: row of the items layer, and the answer to it; an empty text where it is not known yet.
        judge: the judging model.
        rubric: what it rates.
        repetitions: times it rates each answer.
    """
    planned: list[ChatRequest] = []

    async def note(request: ChatRequest) -> ChatReply:
        planned.append(request)
        return NOT_SENT

    judging = Judge(judge, rubric, note, lambda _reply: None)
    for row, answer in answers:
        for repetition in range(repetitions):
            await judging.rate(row, answer, repetition)
    return planned
