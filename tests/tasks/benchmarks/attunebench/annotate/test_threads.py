"""What each call is shown: no annotation and no answer of the model's own, and of texts what its place in the thread allows."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any, get_args

import pytest

from schemas.attunebench import VisibleConversation
from tasks.benchmarks.attunebench.annotate import NEUTRAL, PORT_LABELS, AnnotateOptions, Threads
from tasks.benchmarks.attunebench.metrics.replies import RATINGS, missing_keys
from tests.tasks.benchmarks.attunebench.annotate.asked import OWN_WORDS, annotated, ask, asked_last, sent
from tests.tasks.benchmarks.attunebench.datasets.conversations import conversation

Fields = dict[str, Any]
CHOICES = [get_args(AnnotateOptions.model_fields[name].annotation) for name in ("mode", "strategy", "labels")]
EVERY = [AnnotateOptions(mode=mode, strategy=strategy, labels=labels) for mode, strategy, labels in product(*CHOICES)]
FIRST = ["Message 1.", "Reply 1."]
EDITS = ["Better reply {}.", "Edited reply {}."]


def original() -> Fields:
    fields = conversation(1)
    fields["prePanas"]["responses"] |= {"Interested": 1, "Proud": 7}
    for turn in fields["turns"]:
        first = turn["annotations"]["binaryJudgements"][0]
        first["observedBehavior"] = first["preferredBehavior"] = "yes"
    return fields


def not_applicable(fields: Fields) -> None:
    fields["turns"][0]["annotations"]["binaryJudgements"][0] |= {"observedBehavior": "na", "preferredBehavior": "na"}


def swapped(fields: Fields) -> None:
    compared = fields["turns"][1]["annotations"]["pairwiseComparisons"][0]
    compared["responseA"], compared["responseB"] = compared["responseB"], compared["responseA"]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (not_applicable, {"turn 1 review", "turn 1 hp_binary", "turn 1 judge"}),
        (swapped, {"turn 2 pairwise"}),
    ],
)
async def test_annotations_decide_what_is_asked_and_nothing_else(change: Callable[[Fields], None], parts: set[str]) -> None:
    changed = original()
    change(changed)
    one, other = asked_last(await ask(original())), asked_last(await ask(changed))
    assert {part for part in one if one[part] != other[part]} == parts
    for part in parts:
        lines = [set(asked[part].splitlines()) for asked in (one, other)]
        # The line of the question is gone, or that of the comparison is another one.
        assert (len(lines[0] - lines[1]), len(lines[1] - lines[0])) == (1, int(change is swapped))


async def test_each_call_sees_its_part_of_the_conversation() -> None:
    shown = sent(await ask(original()))
    texts = [text for n in (1, 2) for text in (f"Message {n}.", f"Reply {n}.", *(edit.format(n) for edit in EDITS))]
    seen = {part: [text for text in (*texts, OWN_WORDS) if f"\\n{text}\\n" in said] for part, said in shown.items()}
    second = [*FIRST, "Message 2.", "Reply 2."]
    assert seen == {
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
    messages = json.loads(shown["post"])
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 4, "user"]
    assert {message["content"] for message in messages if message["role"] == "assistant"} == {'{"elided": true}'}
    # No call but post repeats the questions of hp_binary or the comparisons.
    assert "two of them at a time" not in shown["post"] + shown["turn 2 review"] + shown["turn 1 hp_binary"]


@pytest.mark.parametrize("own", EVERY, ids=lambda own: f"{own.mode}-{own.strategy}-{own.labels}")
async def test_mode_and_strategy_add_what_they_say(own: AnnotateOptions) -> None:
    fields = original()
    adjectives, values = shown_of(fields).codebook.adjectives, fields["prePanas"]["responses"]
    positive, negative = (sum(values[name.capitalize()] for name in names) for names in (adjectives[:10], adjectives[10:]))
    sums = f"positive affect {positive}, negative affect {negative}"
    solved = await ask(fields, own)
    shown, last = sent(solved), asked_last(solved)
    tested = {part: said for part, said in shown.items() if not part.endswith("judge")}
    assert {"Chile" in said for said in tested.values()} == {own.mode.endswith("omniscient")}
    assert "Chile" in last["turn 1 draft"] or not own.mode.endswith("omniscient")
    assert not any("P00001" in said for said in shown.values())
    assert {part for part, said in last.items() if sums in said} == {
        *({"turn 1 draft"} if own.mode.endswith("omniscient") else ()),
        *({"post"} if own.strategy != "blind_delta" else ()),
    }
    assert {part for part, said in last.items() if "_reasoning" in said} == (
        {f"turn {number} {call}" for number in (1, 2) for call in ("draft", "review")}
        if own.mode.startswith("verbose")
        else set()
    )
    for part, asked in last.items():
        form = json.loads(asked.splitlines()[-1])
        assert missing_keys(part, form) == ()
        assert not part.endswith("judge") or set(form) >= set(RATINGS)
    form = json.loads(last["post"].splitlines()[-1])
    key = "post_panas" if own.strategy == "absolute" else "panas_changes"
    assert list(form) == [key, "conversation_wide"]
    assert list(form[key]) == [*adjectives]


def shown_of(fields: Fields) -> VisibleConversation:
    return VisibleConversation.model_validate_json(annotated(fields).item.context or "")


def test_neutral_names_hide_authors_and_keep_sides() -> None:
    shown = shown_of(conversation(1, turns=12))
    names = [Threads(shown).names(turn) for turn in shown.turns]
    assert all(tuple(of_turn.values()) == NEUTRAL for of_turn in names)
    assert len({tuple(of_turn) for of_turn in names}) > 1
    assert names == [Threads(shown).names(turn) for turn in shown.turns]
    for labels in ("neutral", "port"):
        own = AnnotateOptions.model_validate({"labels": labels})
        (asked,) = (call.messages[-1].content for call in Threads(shown, own).plan() if call.part == "turn 3 pairwise")
        named = Threads(shown, own).names(shown.turns[2])
        lines = [line for line in asked.splitlines() if line.startswith('"')]
        sides = [f"A is {named[one.label_a]}, B is {named[one.label_b]}." for one in shown.turns[2].comparisons]
        assert [line.partition("? ")[2] for line in lines] == sides
        assert [line.partition(":")[0] for line in lines] == [f'"{number}"' for number in range(12)]
        for label, name in named.items():
            assert f'<reply name="{name}">\n{shown.turns[2].reply(label)}\n</reply>' in asked
        assert (named == PORT_LABELS) == ("original" in asked) == (labels == "port")
