"""Calls about a conversation: how many, what each is shown, whose fault a missing answer is, and which draft is judged."""

import asyncio
import json
from collections.abc import Callable
from itertools import product
from typing import get_args

import pytest

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.usage import TESTED
from tasks.benchmarks.attunebench.annotate import NEUTRAL, PORT_LABELS, AnnotateOptions, Threads, annotate, read_draft
from tasks.benchmarks.attunebench.conversation import VisibleConversation
from tasks.benchmarks.attunebench.metrics.replies import RATINGS, missing_keys
from tasks.solvers.state import RoleModel, SolverOptions, SolverOutput, SolverResources
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.asking import OWN_WORDS, annotated, ask, last_messages, speak
from tests.tasks.benchmarks.attunebench.datasets.conversations import JUDGED, NOTES, Fields, at, conversation
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import FAILED, Answer

CHOICES = [get_args(AnnotateOptions.model_fields[name].annotation) for name in ("mode", "strategy", "labels")]
EVERY = [AnnotateOptions(mode=mode, strategy=strategy, labels=labels) for mode, strategy, labels in product(*CHOICES)]
FIRST = ["Message 1.", "Reply 1."]
NOT_APPLICABLE = {"observedBehavior": "na", "preferredBehavior": "na"}


def missing(output: SolverOutput) -> list[tuple[str, str | None]]:
    return [(answer.part, answer.failed_role) for answer in output.answers if answer.text is None]


async def test_turn_has_five_calls_four_unjudged() -> None:
    judged, alone = await ask(conversation(1, turns=5)), await ask(conversation(1, turns=5), judge=None)
    assert (len(judged.calls), len(alone.calls)) == (26, 21)
    first = [f"turn 1 {call}" for call in ("draft", "judge", "review", "hp_binary", "pairwise")]
    assert [call.step for call in judged.calls][:5] == first
    assert [answer.part for answer in judged.answers] == [call.step for call in judged.calls]
    assert {call.step for call in judged.calls if call.role != TESTED} == {f"turn {number} judge" for number in range(1, 6)}
    assert not missing(judged)


async def test_unannotated_part_is_not_asked() -> None:
    fields = conversation(1, turns=1)
    at(*NOTES, "pairwiseComparisons", value=[])(fields)
    at(*NOTES, "alternateResponses", "humanEdited", drop=True)(fields)
    at(*JUDGED, value=[row | NOT_APPLICABLE for row in fields["turns"][0]["annotations"]["binaryJudgements"]])(fields)
    messages = last_messages(await ask(fields))
    # With neither question nor edit there is nothing to judge a draft by.
    assert list(messages) == ["turn 1 draft", "turn 1 review", "post"]
    assert "leave both maps of answers empty" in messages["turn 1 review"]


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
    await annotate(annotated(conversation(1, turns=5)), SolverOptions("annotate", own=AnnotateOptions()), resources, 0)
    assert most == {"tested": 21, "draft_judge": 5}


@pytest.mark.parametrize(
    ("role", "words", "parts"),
    [
        # The judge of a draft that did not come is not called.
        ("answer", "Turn 2. The participant writes", [("turn 2 draft", "tested"), ("turn 2 judge", "tested")]),
        ("answer", "Turn 1 again", [("turn 1 review", "tested")]),
        ("answer", "The conversation is over", [("post", "tested")]),
        ("judge", "Message 2.", [("turn 2 judge", "draft_judge")]),
    ],
)
async def test_failed_call_costs_its_own_part(role: str, words: str, parts: list[tuple[str, str]]) -> None:
    def fail(request: ChatRequest) -> ChatReply:
        return FAILED if words in request.messages[-1].content else speak(request)

    answers: dict[str, Answer] = {"answer": speak, "judge": speak, role: fail}
    output = await ask(conversation(1), answer=answers["answer"], judge=answers["judge"])
    assert missing(output) == parts
    assert len(output.answers) == 11
    assert len(output.calls) == 11 - (len(parts) - 1)
    assert {answer.text for answer in output.answers if answer.text} == {f'{{"drafted_response": "{OWN_WORDS}"}}'}


@each_row(
    ("reply", "draft"),
    [
        ('```json\n{"drafted_response": "I see."}\n```', "I see."),
        ("<think>{Hm.</think>I see.", "I see."),
        ('{"reply": "I see."}', '{"reply": "I see."}'),
        ('{"drafted_response": ["I see."]}', '{"drafted_response": ["I see."]}'),
    ],
)
def test_odd_draft_is_judged_as_written(reply: str, draft: str) -> None:
    assert read_draft(reply) == draft


async def test_unreadable_reply_is_not_asked_again() -> None:
    output = await ask(conversation(1), answer=lambda _: ChatReply(text="no JSON"), judge=None)
    assert (len(output.calls), len({call.request.key for call in output.calls})) == (9, 9)
    assert {answer.text for answer in output.answers} == {"no JSON"}


def original() -> Fields:
    fields = conversation(1)
    fields["prePanas"]["responses"] |= {"Interested": 1, "Proud": 7}
    for turn in fields["turns"]:
        turn["annotations"]["binaryJudgements"][0] |= {"observedBehavior": "yes", "preferredBehavior": "yes"}
    return fields


def hide_a_question(fields: Fields) -> None:
    fields["turns"][0]["annotations"]["binaryJudgements"][0] |= NOT_APPLICABLE


def swap_sides(fields: Fields) -> None:
    row = fields["turns"][1]["annotations"]["pairwiseComparisons"][0]
    row["responseA"], row["responseB"] = row["responseB"], row["responseA"]


@pytest.mark.parametrize(
    ("change", "parts", "lines"),
    [
        # The line of the question is gone; that of the comparison is another one.
        (hide_a_question, {"turn 1 review", "turn 1 hp_binary", "turn 1 judge"}, (1, 0)),
        (swap_sides, {"turn 2 pairwise"}, (1, 1)),
    ],
)
async def test_annotations_decide_questions_and_nothing_else(
    change: Callable[[Fields], None], parts: set[str], lines: tuple[int, int]
) -> None:
    changed = original()
    change(changed)
    before, after = last_messages(await ask(original())), last_messages(await ask(changed))
    assert {part for part in before if before[part] != after[part]} == parts
    for part in parts:
        first, second = (set(messages[part].splitlines()) for messages in (before, after))
        assert (len(first - second), len(second - first)) == lines


async def test_each_call_sees_its_part_of_conversation() -> None:
    calls = {call.step: call.request.messages_json for call in (await ask(original())).calls}
    kinds = ("Message {}.", "Reply {}.", "Better reply {}.", "Edited reply {}.")
    texts = [*(kind.format(number) for number in (1, 2) for kind in kinds), OWN_WORDS]
    second = [*FIRST, "Message 2.", "Reply 2."]
    assert {part: [text for text in texts if f"\\n{text}\\n" in shown] for part, shown in calls.items()} == {
        "turn 1 draft": ["Message 1."],
        "turn 1 judge": ["Message 1.", "Edited reply 1.", OWN_WORDS],
        "turn 1 review": FIRST,
        "turn 1 hp_binary": FIRST,
        "turn 1 pairwise": [*FIRST, "Better reply 1.", "Edited reply 1."],
        "turn 2 draft": [*FIRST, "Message 2."],
        "turn 2 judge": ["Message 2.", "Edited reply 2.", OWN_WORDS],
        "turn 2 review": second,
        "turn 2 hp_binary": second,
        "turn 2 pairwise": [*second, "Better reply 2.", "Edited reply 2."],
        "post": second,
    }
    messages = json.loads(calls["post"])
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 4, "user"]
    assert {message["content"] for message in messages if message["role"] == "assistant"} == {'{"elided": true}'}
    # No call but post repeats the questions of hp_binary or the comparisons.
    assert "two of them at a time" not in calls["post"] + calls["turn 2 review"] + calls["turn 1 hp_binary"]


@pytest.mark.parametrize("own", EVERY, ids=lambda own: f"{own.mode}-{own.strategy}-{own.labels}")
async def test_mode_and_strategy_add_their_own(own: AnnotateOptions) -> None:
    fields = original()
    adjectives, values = visible(fields).codebook.adjectives, fields["prePanas"]["responses"]
    positive, negative = (sum(values[name.capitalize()] for name in names) for names in (adjectives[:10], adjectives[10:]))
    sums = f"positive affect {positive}, negative affect {negative}"
    output, omniscient = await ask(fields, own), own.mode.endswith("omniscient")
    calls, last = {call.step: call.request.messages_json for call in output.calls}, last_messages(output)
    assert {"Chile" in shown for part, shown in calls.items() if not part.endswith("judge")} == {omniscient}
    assert "Chile" in last["turn 1 draft"] or not omniscient
    assert not any("P00001" in shown for shown in calls.values())
    with_sums = {"turn 1 draft": omniscient, "post": own.strategy != "blind_delta"}
    assert {part for part, text in last.items() if sums in text} == {part for part, expected in with_sums.items() if expected}
    reasoned = [f"turn {number} {call}" for number in (1, 2) for call in ("draft", "review")] * own.mode.startswith("verbose")
    assert [part for part, text in last.items() if "_reasoning" in text] == reasoned
    forms = {part: json.loads(text.splitlines()[-1]) for part, text in last.items()}
    for part, form in forms.items():
        assert missing_keys(part, form) == ()
        assert not part.endswith("judge") or set(form) >= set(RATINGS)
    key = "post_panas" if own.strategy == "absolute" else "panas_changes"
    assert list(forms["post"]) == [key, "conversation_wide"]
    assert list(forms["post"][key]) == [*adjectives]


def visible(fields: Fields) -> VisibleConversation:
    return VisibleConversation.model_validate_json(annotated(fields).item.context or "")


def test_neutral_names_hide_authors_and_keep_sides() -> None:
    whole = visible(conversation(1, turns=12))
    turns, third = whole.turns, whole.turns[2]
    names = [Threads(whole).names(turn) for turn in turns]
    assert all(tuple(of_turn.values()) == NEUTRAL for of_turn in names)
    assert len({tuple(of_turn) for of_turn in names}) > 1
    assert names == [Threads(whole).names(turn) for turn in turns]
    for labels in ("neutral", "port"):
        threads = Threads(whole, AnnotateOptions.model_validate({"labels": labels}))
        (text,) = (call.messages[-1].content for call in threads.plan() if call.part == "turn 3 pairwise")
        by_label = threads.names(third)
        lines = [line for line in text.splitlines() if line.startswith('"')]
        sides = [f"A is {by_label[row.label_a]}, B is {by_label[row.label_b]}." for row in third.comparisons]
        assert [line.partition("? ")[2] for line in lines] == sides
        assert [line.partition(":")[0] for line in lines] == [f'"{number}"' for number in range(12)]
        for label, name in by_label.items():
            assert f'<reply name="{name}">\n{third.reply(label)}\n</reply>' in text
        assert (by_label == PORT_LABELS) == ("original" in text) == (labels == "port")
