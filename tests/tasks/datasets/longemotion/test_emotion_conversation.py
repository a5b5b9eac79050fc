"""Emotion Conversation: where checkpoints stand, what is shown of a dialogue and what never is."""

from typing import Any

import pytest

from schemas.context import ContextOptions
from schemas.item import Record
from schemas.vocabulary import ContextTask
from tasks.datasets.longemotion.emotion_conversation import STAGES, checkpoints_of

NAMES = ("Opening", "Diagnosis", "Work", "End")


def stage(number: int, clients: int, *, counselor_first: bool = False) -> dict[str, Any]:
    """Messages `c1.0 k1.0 c1.1 k1.1 ...`: c by the client, k by the counselor, stage and number."""
    messages: list[dict[str, str]] = []
    for turn in range(clients):
        pair = [
            {"role": "Client", "context": f"c{number}.{turn}"},
            {"role": "Counselor", "context": f"k{number}.{turn}"},
        ]
        messages += pair[::-1] if counselor_first else pair
    return {"stage": NAMES[number - 1], "conversations": messages}


def dialogue(clients: tuple[int, int, int, int] = (8, 3, 5, 4), **changes: Any) -> Record:
    stages = [stage(number, count, counselor_first=number > 1) for number, count in enumerate(clients, start=1)]
    return Record(fields={"id": 12, "description": ["A case."], "stages": stages} | changes, file="f", row=0)


def last_messages(record: Record, task: ContextTask) -> list[str]:
    samples = checkpoints_of(task)([record], ContextOptions(), 0)
    return [sample.build()[0].question.split("\n")[-1] for sample in samples]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("mc1", [2, 4, 6]),  # n = 8: 8 div 4, 8 div 2, 24 div 4
        ("mc2", [0, 1, 2]),  # n = 3: 3 div 4, 3 div 2, 9 div 4
        ("mc3", [1, 2, 3]),  # n = 5: 5 div 4, 5 div 2, 15 div 4
        ("mc4", [1, 2, 3]),  # n = 4: 4 div 4, 4 div 2, 12 div 4
    ],
)
def test_checkpoints_are_the_messages_of_the_client_at_the_quarters(task: ContextTask, expected: list[int]) -> None:
    assert last_messages(dialogue(), task) == [f"Client: c{task[-1]}.{number}" for number in expected]


def test_context_and_question_are_all_that_was_said_so_far() -> None:
    samples = checkpoints_of("mc2")([dialogue((3, 4, 3, 3))], ContextOptions(), 0)
    item, context = samples[0].build()
    # Stage 1 in full, then stage 2 up to its client's message 1: k2.0 c2.0 k2.1 c2.1.
    assert item.context == (
        "Client: c1.0\nCounselor: k1.0\nClient: c1.1\nCounselor: k1.1\nClient: c1.2\nCounselor: k1.2\nCounselor: k2.0"
    )
    assert item.question == "Client: c2.0\nCounselor: k2.1\nClient: c2.1"
    assert (item.subset, context.task, context.query) == ("Diagnosis", "mc2", None)
    assert (item.question_type, item.references, item.options) == ("counselor_reply", ("k2.2",), None)
    assert [sample.item_id for sample in samples] == ["mc2-12-1", "mc2-12-2", "mc2-12-3"]


@pytest.mark.parametrize("task", STAGES)
def test_nothing_that_comes_later_is_in_the_item(task: ContextTask) -> None:
    record = dialogue((8, 8, 8, 8))
    said = [f"{one['role']}: {one['context']}" for part in record.fields["stages"] for one in part["conversations"]]
    for sample in checkpoints_of(task)([record], ContextOptions(), 0):
        item, _ = sample.build()
        shown = f"{item.context}\n{item.question}".split("\n")
        assert shown == said[: len(shown)]
        assert shown[-1].startswith("Client: ")


def test_a_dialogue_that_has_only_begun_has_no_context_yet() -> None:
    first, second, _ = checkpoints_of("mc1")([dialogue((3, 3, 3, 3))], ContextOptions(), 0)
    item, context = first.build()
    assert (item.context, item.question, context.tokens) == ("", "Client: c1.0", 0)
    item, _ = second.build()
    assert (item.context, item.question) == ("", "Client: c1.0\nCounselor: k1.0\nClient: c1.1")


def test_where_the_stage_ends_there_is_no_gold_reply() -> None:
    spoken = stage(1, 3)
    spoken["conversations"] = spoken["conversations"][:-1]  # up to the client's last message, which is the third point
    record = dialogue(stages=[spoken, *(stage(number, 3) for number in (2, 3, 4))])
    items = [sample.build()[0] for sample in checkpoints_of("mc1")([record], ContextOptions(), 0)]
    assert [item.references for item in items] == [("k1.0",), ("k1.1",), None]


def test_the_case_description_changes_nothing() -> None:
    without = {name: value for name, value in dialogue().fields.items() if name != "description"}
    samples = [
        checkpoints_of("mc4")([record], ContextOptions(), 0) for record in (dialogue(), Record(fields=without, file="f", row=0))
    ]
    assert [sample.build() for sample in samples[0]] == [sample.build() for sample in samples[1]]


def test_a_message_is_one_line() -> None:
    spoken = stage(1, 3)
    spoken["conversations"][0]["context"] = " Good day.\nI am tired. "
    record = dialogue(stages=[spoken, *(stage(number, 3) for number in (2, 3, 4))])
    item, _ = checkpoints_of("mc1")([record], ContextOptions(), 0)[0].build()
    assert item.question == "Client: Good day. I am tired."


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (dialogue((2, 3, 3, 3)), "needs 3 messages of the client or more, this one has 2"),
        (dialogue(stages=[stage(1, 3)]), "a dialogue has 4 stages, this one has 1"),
        (
            dialogue(stages=[{"stage": "Opening", "conversations": [{"role": "Friend", "context": "Hi"}]}] * 4),
            "this one by Friend",
        ),
        (
            dialogue(stages=[{"stage": "Opening", "conversations": [{"role": "Client", "context": ""}]}] * 4),
            "context is empty",
        ),
    ],
)
def test_a_dialogue_without_three_different_points_is_no_item(record: Record, said: str) -> None:
    for sample in checkpoints_of("mc1")([record], ContextOptions(), 0):
        with pytest.raises(ValueError, match=said):
            sample.build()
