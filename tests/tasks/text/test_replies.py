"""What a model thought and what it answers: every form in which it may come, whole, cut, or spoken of."""

from typing import Any

import pytest

from tasks.text.replies import read_object, split_reasoning, strip_reasoning
from tests.rows import each_row
from tests.thinking import FORMS, THOUGHT

ANSWER = "B. I am sorry, and <b>here</b> for you."
FROM_ITS_BEGINNING = [name for name in FORMS if "no opening" not in name and "without its beginning" not in name]


@each_row("name", FORMS)
def test_no_thought_is_in_the_answer(name: str) -> None:
    thought, answer = split_reasoning(FORMS[name](THOUGHT, ANSWER))
    assert answer == ANSWER
    assert thought is not None
    assert THOUGHT in thought
    assert strip_reasoning(answer) == answer


@each_row("name", set(FORMS) - {"closed twice"})
def test_an_answer_is_found_behind_an_empty_thought(name: str) -> None:
    assert strip_reasoning(FORMS[name]("", "B")) == "B"


# Which of two marks without quotes is the real one, only what follows the second can tell.
@each_row("name", set(FORMS) - {"afterwards", "named without quotes"})
def test_a_thought_without_answer_is_none(name: str) -> None:
    assert strip_reasoning(FORMS[name](THOUGHT, "")) == ""


# Without its second mark Granite's first one is a sentence as any other.
@each_row("name", set(FROM_ITS_BEGINNING) - {"afterwards", "Granite", "empty before it", "named without quotes"})
def test_a_thought_that_was_cut_is_no_answer(name: str) -> None:
    whole = FORMS[name](THOUGHT, "B")
    assert strip_reasoning(whole[: whole.index(THOUGHT) + len(THOUGHT)]) == ""


@each_row(
    ("reply", "answer"),
    [
        ("I think B", "I think B"),
        ("", ""),
        ("Write <b>bold</b> or <i>thin</i>, x < 3 & y > 4.", "Write <b>bold</b> or <i>thin</i>, x < 3 & y > 4."),
        ("Analysis: she cries. Answer: B", "Analysis: she cries. Answer: B"),
        ("analysis of her mood says B", "analysis of her mood says B"),
        ("The assistant finally said B.", "The assistant finally said B."),
        ("Here is my response: B", "Here is my response: B"),
        ("Here is my thought process: she cries, so B.", "Here is my thought process: she cries, so B."),
        ("[thinking] I don't know ... [Relevant]", "[thinking] I don't know ... [Relevant]"),
        ("<answer>B</answer>", "<answer>B</answer>"),
        ("<|begin_search_query|>moods<|end_search_query|>", "<|begin_search_query|>moods<|end_search_query|>"),
        # spoken of: in quotes, or within a sentence that goes on
        ("Close it with `</think>`. B", "Close it with `</think>`. B"),
        ("Put “<think>” first and “</think>” last: B", "Put “<think>” first and “</think>” last: B"),
        ("A thought: <think> is a tag. B", "A thought: <think> is a tag. B"),
        ("<think>A?</think>B, as `<think>` is a tag", "B, as `<think>` is a tag"),
        ('{"rationale": "A stray </think> stands in turn 2.", "empathy": 3}',) * 2,
        # a thought within JSON goes, and what is left is JSON
        ('{"answer": "<think>A?</think>B"}', '{"answer": "B"}'),
        # quotes of their own on both sides of a mark do not quote it
        ('<think>She said "no."</think>"B"', '"B"'),
        ('<think>她说"不。"</think>"B"', '"B"'),
        ("<think>The tag `</think>` would end this. So A", ""),
        ("B\n<think>Or was it A", "B"),
        ("<think>A?</think>x<reasoning>C?</reasoning>B", "xB"),
        ("<think>A?</think>", ""),
        ("So A.</think>", ""),
        ("<think>a <think>b</think> c</think>", ""),
        ("<think/>B", "B"),
        # gpt-oss: what it says aloud is an answer where no other comes, a call of a tool is none
        ('<|channel|>commentary<|message|>{"choice": "B"}<|end|>', '{"choice": "B"}'),
        ('<|channel|>commentary to=functions.pick <|constrain|>json<|message|>{"choice": "B"}<|call|>', ""),
        ("<|start|>assistant<|channel|>final<|message|>B", "B"),
        ("assistantfinalB", "B"),
        ("B<|end|>", "B"),
    ],
)
def test_what_is_spoken_of_stays(reply: str, answer: str) -> None:
    assert strip_reasoning(reply) == answer


@pytest.mark.parametrize("reply", ["B\n", " \nB, A", '{"index": 3}\n', "[1, 2] ", "analysis\n"])
def test_a_reply_without_marks_is_left_untouched(reply: str) -> None:
    assert split_reasoning(reply) == (None, reply)


def test_thoughts_are_kept_one_after_the_other() -> None:
    assert split_reasoning("<think> one </think>\n<think>\n\n</think>[THINK]two[/THINK]B") == ("one\n\ntwo", "B")


@each_row(
    ("text", "read"),
    [
        (None, None),
        ('{"a": 1}', {"a": 1}),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
        ('Here: {no} ```json\n{"a": 1}\n``` {"a": 2}', {"a": 1}),
        ('It is {"a": {"b": 1}}, I think.', {"a": {"b": 1}}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('[1, {"a": 1}, {"a": 2}]', {"a": 1}),
        ("no JSON", {}),
        ("[]", {}),
        ("```" + " " * 10_000 + '{"a": 1}', {"a": 1}),
        ("{" * 100_000, {}),
    ],
)
def test_the_object_of_a_reply(text: str | None, read: Any) -> None:
    assert read_object(text) == read
