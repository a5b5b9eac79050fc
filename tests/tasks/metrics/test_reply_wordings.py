"""Wordings of replies over options of several kinds: what has not given an answer is never read, plain ones nearly always."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from schemas.item import option_letters
from tasks.metrics.parsing import Parse, parse_choice, parse_choices, parse_order, parse_ranking
from tests.rows import each_row
from tests.tasks.metrics.reply_wordings import CORRECTED, PLAIN, STATED, UNMEANT

FEELINGS, FEELINGS_ZH = ("joy", "sadness", "anger", "fear"), ("快乐", "悲伤", "愤怒", "恐惧")
SENTENCES = (
    "She is glad that her friend came.",
    "She misses the dog she lost.",
    "She is angry with her brother.",
    "She is afraid of the dark.",
)
PREMISES = ("True: the premises imply the conclusion", "False: the premises imply the opposite", "Uncertain: they imply neither")
PLACES = ((1, 0), (0, 2))
"""The option that is named, and the other one."""


def replies(wording: str) -> Iterator[tuple[str, Sequence[str], int]]:
    """A wording for every kind of options and every place, with the option {x}."""
    for options in (FEELINGS, FEELINGS_ZH, SENTENCES, PREMISES):
        letters = option_letters(len(options))
        for named, other in PLACES:
            yield wording.format(x=letters[named], y=letters[other], t=options[named]), options, named


@each_row("wording", UNMEANT)
def test_answer_that_is_not_meant_is_not_read(wording: str) -> None:
    assert [(reply, options) for reply, options, _ in replies(wording) if parse_choice(reply, options).indices is not None] == []


@each_row("wording", [*CORRECTED, *STATED])
def test_stated_answer_is_read_in_every_item(wording: str) -> None:
    assert [reply for reply, options, named in replies(wording) if parse_choice(reply, options).indices != (named,)] == []


@each_row("reply", PLAIN)
def test_plain_reply_is_read(reply: str) -> None:
    languages = [options for options, word in ((FEELINGS, "悲伤"), (FEELINGS_ZH, "sadness")) if word not in reply.casefold()]
    assert languages
    assert [parse_choice(reply, options).indices for options in languages] == [(1,)] * len(languages)


GRATITUDE = ("gratitude", "grief", "relief", "anger")
SETS = [
    "(A, C)",
    "(A)(C)",
    "{A, C}",
    "ANSWER: A,C,",
    "$A, C$",
    "✅ A\n✅ C",
    "- A. gratitude: she thanks him\n- C. relief: she breathes again",
    "The answers are:\n- A: she thanks him\n- C: she rests",
    "The correct options are:\n\n- **A. gratitude** – she thanks him\n- **C. relief** – she breathes again.",
    '{"correct_options": ["A", "C"]}',
    '{"labels": ["gratitude", "relief"], "reason": "she rests"}',
    "<final_answer>A, C</final_answer>",
    "A, C, not B",
    "A和C，不是B",
    "Answer: A, B. Wait, no. Answer: A, C",
    "不是A、B，而是A、C",
    "**A, C**\n\n- A: she thanks him",
    "- **A**: she thanks her friend\n- **C**: she can rest at last",
    "A and C apply.",
    "正确选项有A、C。",
    "Answer: A, B\n\nWait, I misread B.\n\nAnswer: A, C",
    "Both A and C are correct.",
    "\\boxed{A}, \\boxed{C}",
    "Options A and C apply.",
    "A and C, but not B.",
    "A and C are correct. B is not.",
    "不选B，应选A和C。",
]
ONES = ["Only B is correct.", "只有B正确。", "B, not A.", "B (rather than A or C)", "B，而不是A"]
NO_SETS = [
    "Answer: A, B\nAnswer: A, C",
    "The answer is A. The answer is also C.",
    '{"answer": ["A"]}\n{"answer": ["C"]}',
    "- A: she might thank her friend\n- C: she would rest at last",
    "The incorrect options are A and C.",
    "错误的选项是A、C",
    "A, C?",
    "I thought it was A and C.",
    "Many would choose A and C.",
    "If she were glad, the answers would be A and C.",
    "A, C: no",
    "The answers are A and C. No, that is wrong.",
    "A, C. Wait, no.",
    "gratitude, relief?",
    "❌ A, C",
    "- A. gratitude: no\n- C. relief: no",
    "A, possibly C",
    "Maybe A and C",
    '{"wrong": ["A", "C"]}',
    "A: she thanks him\nB: she lost him\nC: she breathes\nD: she shouts",
    "None of the options is right.",
    "A、C都不正确。",
]


@each_row(
    ("reply", "expected"),
    [*((reply, (0, 2)) for reply in SETS), *((reply, (1,)) for reply in ONES), *((reply, None) for reply in NO_SETS)],
)
def test_set_is_read_where_it_is_meant(reply: str, expected: tuple[int, ...] | None) -> None:
    assert parse_choices(reply, GRATITUDE).indices == expected


@each_row(
    ("reply", "expected"),
    [
        ("The answer is C. Neither A nor B follows.", (2,)),
        ("The best answer is C, because neither A nor B follows.", (2,)),
        ("C\n\nThe premises do not say whether A or B holds.", (2,)),
        ("**C. Uncertain**\n\nWhy not the others:\n- A. True: not implied\n- B. False: not implied", (2,)),
        ("If Bo left, the statement is true; he may not have. So the answer is C (Uncertain), not A or B.", (2,)),
        ("A. Wait, no: C", (2,)),
        ("The best option is C, followed by A.", (2, 0)),
        ("应选C，而不是A。", (2,)),
        ("Answer: B\nAnswer: C", None),
        ("C is the best answer; A comes next.", None),
        ("I thought it was C.", None),
        ("Is it C?", None),
    ],
)
def test_best_of_a_ranking_is_read_in_prose(reply: str, expected: tuple[int, ...] | None) -> None:
    assert parse_ranking(reply, PREMISES).indices == expected


@each_row("reply", ["From best to worst: B, A, C, D", "Ranking: B > A > C > D", "排序：B, A, C, D"])
def test_order_is_read(reply: str) -> None:
    assert parse_order(reply, GRATITUDE).indices == (1, 0, 2, 3)


@each_row(
    "reply", ["Answer: B\nAnswer: C", "The wrong order is B, A, C", "B, A, C, D?", "I first thought the order was B, A, C."]
)
def test_order_that_is_not_meant_is_not_read(reply: str) -> None:
    assert parse_order(reply, GRATITUDE).indices is None


def test_heading_of_answer_is_no_part_of_option() -> None:
    assert [parse_choice(heading, ("Her cousin", "Cannot answer")).indices for heading in ("Answer:", "答案：")] == [None, None]
    assert parse_choice("Cannot answer", ("Her cousin", "Cannot answer")).indices == (1,)


@pytest.mark.parametrize("parse", [parse_choice, parse_choices, parse_order, parse_ranking])
@each_row("reply", ['{"answer": [""]}', '{"answer": "**"}', "```", "| |", "->"])
def test_reply_without_an_answer_is_not_read(parse: Callable[..., Parse], reply: str) -> None:
    assert parse(reply, FEELINGS).indices is None


@pytest.mark.parametrize("parse", [parse_choice, parse_choices, parse_order, parse_ranking])
def test_deeply_nested_answer_is_read(parse: Callable[..., Parse]) -> None:
    assert parse('{"a":' * 900 + '"B"' + "}" * 900, FEELINGS).indices == (1,)


def test_long_reply_is_read_by_its_end() -> None:
    thoughts = "She lost her dog in the park. " * 2_000
    assert parse_choice(thoughts + "The answer is B.", FEELINGS).indices == (1,)
    assert parse_choice("A. joy\n" * 3_000 + "The answer is B.", FEELINGS).indices == (1,)
    assert parse_choice("A. " + thoughts, FEELINGS).indices is None
