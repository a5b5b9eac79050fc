"""Calls about a conversation: how many, side by side, whose fault a missing answer is, and what becomes of a draft."""

import asyncio

import pytest

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.usage import TESTED
from tasks.benchmarks.attunebench.annotate import annotate, read_draft
from tasks.solvers.state import RoleModel, SolverOptions, SolverOutput, SolverResources
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.annotate.asked import OWN_WORDS, annotated, ask, asked_last, speak
from tests.tasks.benchmarks.attunebench.datasets.conversations import conversation
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import FAILED, Answer


def failing(words: str) -> Answer:
    return lambda request: FAILED if words in request.messages[-1].content else speak(request)


def missing(solved: SolverOutput) -> list[tuple[str, str | None]]:
    return [(answer.part, answer.failed_role) for answer in solved.answers if answer.text is None]


async def test_turn_has_five_calls_four_unjudged() -> None:
    judged, alone = await ask(conversation(1, turns=5)), await ask(conversation(1, turns=5), judge=None)
    assert (len(judged.calls), len(alone.calls)) == (26, 21)
    assert [call.step for call in judged.calls][:5] == [
        f"turn 1 {call}" for call in ("draft", "judge", "review", "hp_binary", "pairwise")
    ]
    assert [answer.part for answer in judged.answers] == [call.step for call in judged.calls]
    assert {call.step for call in judged.calls if call.role != TESTED} == {f"turn {number} judge" for number in range(1, 6)}
    assert not missing(judged)


async def test_what_nobody_answered_is_not_asked() -> None:
    fields = conversation(1, turns=1)
    said = fields["turns"][0]["annotations"]
    said["pairwiseComparisons"], said["selectedPairwiseQuestions"] = [], []
    for judged in said["binaryJudgements"]:
        judged |= {"observedBehavior": "na", "preferredBehavior": "na"}
    del said["alternateResponses"]["humanEdited"]
    asked = asked_last(await ask(fields))
    # With neither question nor edit there is nothing to judge a draft by.
    assert list(asked) == ["turn 1 draft", "turn 1 review", "post"]
    assert "leave both maps of answers empty" in asked["turn 1 review"]


async def test_all_calls_run_together_but_judge() -> None:
    flying: list[str] = []
    most: dict[str, int] = {}

    def role(name: str) -> RoleModel:
        async def chat(request: ChatRequest) -> ChatReply:
            flying.append(name)
            most[name] = max(most.get(name, 0), flying.count(name))
            for _ in range(5):
                await asyncio.sleep(0)
            flying.remove(name)
            return speak(request)

        return RoleModel(ModelEntry(name=name, base_url="http://localhost/v1"), chat)

    resources = SolverResources({name: role(name) for name in ("tested", "draft_judge")})
    await annotate(annotated(conversation(1, turns=5)), SolverOptions("annotate"), resources, 0)
    assert most == {"tested": 21, "draft_judge": 5}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("Turn 2. The participant writes", [("turn 2 draft", "tested"), ("turn 2 judge", "tested")]),
        ("Turn 1 again", [("turn 1 review", "tested")]),
        ("The conversation is over", [("post", "tested")]),
    ],
)
async def test_a_failed_call_costs_its_own_part(words: str, parts: list[tuple[str, str]]) -> None:
    solved = await ask(conversation(1), answer=failing(words))
    assert missing(solved) == parts
    assert len(solved.answers) == 11
    # The judge of a draft that did not come is not asked.
    assert len(solved.calls) == 11 - (len(parts) - 1)
    assert {answer.text for answer in solved.answers if answer.text} == {f'{{"drafted_response": "{OWN_WORDS}"}}'}


async def test_judge_that_fails_is_not_models_fault() -> None:
    solved = await ask(conversation(1), judge=failing("Message 2."))
    assert missing(solved) == [("turn 2 judge", "draft_judge")]


@each_row(
    ("reply", "draft"),
    [
        ('```json\n{"drafted_response": "I see."}\n```', "I see."),
        ("<think>{Hm.</think>I see.", "I see."),
        ('{"reply": "I see."}', '{"reply": "I see."}'),
        ('{"drafted_response": ["I see."]}', '{"drafted_response": ["I see."]}'),
    ],
)
def test_odd_draft_is_judged_as_given(reply: str, draft: str) -> None:
    assert read_draft(reply) == draft


async def test_no_reply_is_asked_for_again() -> None:
    solved = await ask(conversation(1), answer=lambda _: ChatReply(text="no JSON"), judge=None)
    assert (len(solved.calls), len({call.request.key for call in solved.calls})) == (9, 9)
    assert {answer.text for answer in solved.answers} == {"no JSON"}
