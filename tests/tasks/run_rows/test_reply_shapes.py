"""Shapes of replies that cannot be read, and messages of servers that say the same."""

from typing import Any

from tasks.rows.reply_shapes import describe_unread, fold_message
from tests.rows import each_row
from tests.tasks.rows import items
from tests.tasks.run_rows.asked_runs import choice, said

CHINESE = "我不知道她在想什么，也许很难过吧。"
CUT = {"finish_reason": "length"}


def shape(text: str, item: dict[str, Any] | None = None, **fields: Any) -> str:
    (row,) = items(item or choice("1")).to_dicts()
    nothing = dict.fromkeys(("finish_reason", "remark", "option_order"))
    return describe_unread(row, nothing | said("1", text, **fields))


@each_row(
    ("text", "fields", "expected"),
    [
        (" \n", {}, "empty"),
        ("", CUT, "empty, cut off at the token limit"),
        ("***", {}, "no word"),
        ("<think>She cries, so", CUT, "only a thought, no answer after it, cut off at the token limit"),
        ("<think>She cries.</think>", {}, "only a thought, no answer after it"),
        ("I would rather not.", {"remark": "refusal"}, "a refusal, marked as one by the server"),
        ("I’m sorry, but I can't choose between A and B.", {}, "a refusal in words"),
        ("作为一个AI，我没有感受。", {}, "a refusal in words"),
        ("E", {}, "a letter"),
        ("7", {}, "a number"),
        ("gloomy", {}, "a word, no letter named"),
        ("A or C", {}, "a few words, several letters named"),
        ("There is much that could be said about her", {}, "a sentence, no letter named"),
        ("She may feel many things. Nobody can tell.", {}, "several sentences, no letter named"),
        ("What does Mia feel? That is the question here.", {}, "repeats the question, no letter named"),
        (CHINESE, {}, "a sentence, no letter named, in another language than the item"),
        ("答案 is B? 不。", {}, "a few words, one letter named"),
        ('{"choice": null, "reason 12": "x"}', {}, "JSON with choice, reason 9"),
        ('```json\n{"choice": "', CUT, "JSON that is not closed, cut off at the token limit"),
        ('{"choice" "B"}', {}, "JSON that cannot be read"),
    ],
)
def test_a_shape_says_what_is_noticed_first(text: str, fields: dict[str, Any], expected: str) -> None:
    assert shape(text, **fields) == expected


def test_a_label_is_named_by_its_text() -> None:
    labels = choice("1") | {"question_type": "label_choice"}
    assert shape("Both joy and sadness, I would say.", labels) == "a sentence, several labels named"


def test_an_object_nested_too_deep_ends_nothing() -> None:
    assert shape('{"a":' * 100_000) == "JSON that is not closed"


def test_prose_in_place_of_a_number() -> None:
    segment = choice("1") | {"question_type": "odd_one_out"}
    assert shape("The fourth one seems to differ from the rest.", segment) == "a sentence, no number named"
    assert shape('{"segment": 3}', segment) == "JSON with segment"


@each_row(
    ("message", "expected"),
    [
        ("HTTP 500: worker 10.2.3.4:8000 died after 12.5s", "HTTP 500: worker <number> died after <number>s"),
        ("HTTP 400: no gpt-4o, see https://x.example/a?b=1.", "HTTP 400: no gpt-4o, see <address>"),
        ("request 550e8400-e29b-41d4-a716-446655440000 timed out", "request <id> timed out"),
    ],
)
def test_messages_that_say_the_same_are_one(message: str, expected: str) -> None:
    assert fold_message(message) == expected
