"""Stored answers, restated from the replies that they rest on."""

import pytest

from schemas.errors import LakeError
from tasks.solvers.answers import restate_answers
from tests.tasks.judging.rows import items
from tests.tasks.rows import Row, answer, answers, response, responses, turn

ASKED = items("role_play", "a", "b")


def key(number: int) -> str:
    return f"{number:064d}"


def call(item_id: str, number: int, reply: str | None, **more: object) -> Row:
    return response(item_id, reply, turn=number, call_key=key(number), **more)


def test_answer_is_reply_to_last_call() -> None:
    replies = responses(call("a", 0, "think"), call("a", 1, "B", finish_reason="length"), call("b", 1, "C"))
    stored = answers(answer("a", "forged", call_keys=[key(0), key(1)]), answer("b", "C", call_keys=[key(1)]))
    expected = answers(answer("a", "B", call_keys=[key(0), key(1)], finish_reason="length"), answer("b", "C", call_keys=[key(1)]))
    assert restate_answers(stored, replies, ASKED).equals(expected)


def test_turns_of_dialogue_are_replies_to_their_calls() -> None:
    replies = responses(call("a", 0, "It rains on me.", role="seeker"), call("a", 1, "I hear you."))
    stored = answers(
        answer(
            "a",
            None,
            status="answered",
            failed_role=None,
            failure=None,
            turns=[
                {**turn("seeker", "It rains.", language=None), "call_key": key(0)},
                {**turn("tested", "Hm."), "call_key": key(1)},
            ],
            call_keys=[key(0), key(1)],
        )
    )
    found = restate_answers(stored, replies, ASKED)["turns"].item().to_list()
    assert [(one["speaker"], one["text"], one["language"], one["characters"]) for one in found] == [
        ("seeker", "It rains on me.", "en", 15),
        ("tested", "I hear you.", "en", 11),
    ]


def test_failed_call_leaves_no_answer_whatever_is_stored() -> None:
    replies = responses(call("a", 0, "Hello."), call("a", 1, None, role="seeker"))
    stored = answers(answer("a", "forged", call_keys=[key(1)]))
    (found,) = restate_answers(stored, replies, ASKED).to_dicts()
    assert (found["status"], found["failed_role"], found["failure"], found["text"]) == ("failed", "seeker", "timeout_total", None)


def test_a_call_of_another_item_is_refused() -> None:
    stored = answers(answer("a", "C", call_keys=[key(1)]))
    with pytest.raises(LakeError, match="refers to a call without a reply"):
        restate_answers(stored, responses(call("a", 0, "B"), call("b", 1, "C")), ASKED)
