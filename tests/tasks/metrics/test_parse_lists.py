"""Contract of multiple-answer and order replies, and of free text."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tasks.metrics.list_forms import REMARK
from tasks.metrics.parsing import (
    ORDER_FORMS,
    SET_FORMS,
    UNFINISHED,
    Parse,
    parse_choices,
    parse_free_text,
    parse_order,
    parse_ranking,
)
from tests.rows import each_row

FEELINGS = ("gratitude", "grief", "relief", "anger")
FEELINGS_ZH = ("感激", "悲痛", "释然", "温和")
EVENTS = ("Ida misses the bus.", "Ida oversleeps.", "Ida apologises.", "Ida runs to the stop.")
EVENTS_ZH = ("小宁误了车。", "小宁睡过头。", "小宁道了歉。", "小宁跑向车站。")
PREMISES = ("True: all of it follows", "False: the opposite follows", "Uncertain: the premises imply neither")
SYMPTOMS = ("loss of appetite", "loss of sleep", "bad dreams and sweating", "headache")
THIRTY = tuple(f"label {number}" for number in range(30))

READ_SETS: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {
    ("letters", FEELINGS, (0, 2)): [
        *("A, C", "A,C", "A，C", "(A), (C)", "A) and C)", "Options A and C", "选项A和C", "选AC", "答案：A、C。", "Both A and C"),
    ],
    ("letters", FEELINGS, (0, 2, 3)): ["A, C and D.", "A, C, and D", "A、C和D"],
    ("letters", FEELINGS, (2,)): ["C", "Only C"],
    ("letters", FEELINGS, (0, 1, 2, 3)): ["A, B, C, D"],
    ("letters", THIRTY, (25, 27)): ["Z, AB"],
    ("statement", FEELINGS, (0, 2)): [
        *("The answers are A and C.", "The correct options are: A, C", "The correct answers are A and C because both are named."),
        *("She thanks him and breathes again. Therefore, the answers are A and C.", "A and C are correct, B and D are not."),
        *("I think A and C are correct.", "答案是A、C。", "A, C (both)", "A, C — she thanks him."),
    ],
    ("statement", FEELINGS, (2,)): ["The answer is C."],
    ("letters with texts", FEELINGS, (2,)): ["Answer: C. relief", "C. relief"],
    ("statement", FEELINGS_ZH, (0, 2)): ["她松了口气，所以选AC。"],
    ("letters with texts", FEELINGS, (0, 2)): [
        *("A. gratitude\nC. relief", "A) gratitude\nC) relief", "- **A. gratitude**\n- **C. relief**"),
    ],
    ("list", FEELINGS, (0, 2)): [
        *("The message expresses:\n\n- A. gratitude\n- C. relief\n\nBoth are plain to see.", "1. gratitude\n2. relief"),
        "gratitude\nrelief",
    ],
    ("letters with texts", FEELINGS_ZH, (0, 2)): ["A. 感激\nC. 释然", "A感激 C释然"],
    ("list", FEELINGS, (2,)): ["relief"],
    ("list", SYMPTOMS, (0, 2)): ["A. appetite\nC. bad dreams", "A. loss of appetite\nC. bad dreams", "A. loss\nC. sweating"],
    ("part of a text", SYMPTOMS, (2,)): ["bad dreams", "Sweating."],
    ("option texts", FEELINGS, (0, 2)): ["gratitude, relief", "Gratitude and relief."],
    ("option texts", FEELINGS_ZH, (0, 2)): ["感激、释然", "感激和释然"],
    ("option texts", FEELINGS_ZH, (2, 3)): ["温和，释然"],
    ("JSON", FEELINGS, (0, 2)): ['{"answer": ["A", "C"]}', '{"answer": "A, C"}', '["C", "A"]'],
}

UNREAD_SETS: dict[tuple[tuple[str, ...], str], list[str]] = {
    (FEELINGS, "holds no word"): ["", "-"],
    (FEELINGS, "E is not an option"): ["A, E", "The answers are A and E.", "A. gratitude\nE. joy"],
    (FEELINGS, "states no answer"): ["AE", "The options are A, B, C and D.", "None"],
    (FEELINGS, "gives alternatives"): ["A or C", "A, B or C", "The answers are A or C."],
    (FEELINGS, "names A more than once"): ["A, A"],
    (FEELINGS, "repeats the list of options"): [
        *("A. gratitude\nB. grief\nC. relief\nD. anger", "gratitude, grief, relief, anger"),
        "Answer: A. gratitude, B. grief, C. relief, D. anger",
    ],
    (FEELINGS_ZH, "repeats the list of options"): ["A. 感激\nB. 悲痛\nC. 释然\nD. 温和\n\n这条消息表"],
    (FEELINGS, "some letters have their text beside them and some have not"): ["A. gratitude\nB. grief\nC. relief\nD. "],
    (FEELINGS, "what stands beside a letter is not its option's text"): [
        *("A. gratitude\nB. grief\nC. rel", "A. correct\nB. incorrect\nC. correct", "A: yes\nB: no\nC: yes\nD: no"),
    ],
    (FEELINGS, "letter and text beside it are different options"): ["A. relief\nB. anger", "Answer: A. relief"],
    (SYMPTOMS, "letter and text beside it are different options"): [
        *("A. sleep\nC. bad dreams", "A. appetite\nC. sleep", "D. sleep"),
    ],
    (SYMPTOMS, "what stands beside a letter is not its option's text"): ["A. appet\nC. bad dreams", "A. of\nC. and"],
    (SYMPTOMS, "repeats the list of options"): ["A. appetite\nB. sleep\nC. bad dreams\nD. headache"],
    (SYMPTOMS, "states no answer"): ["loss", "loss of", "not bad dreams"],
    (FEELINGS, "contradicts itself"): ["The answers are A and B. The answers are A and C."],
    (THIRTY[:27], "AB is not an option"): ["AB"],
}

READ_ORDERS: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {
    ("letters", EVENTS, (1, 3, 0, 2)): [
        *("B, D, A, C", "B,D,A,C", "B > D > A > C", "B -> D -> A -> C", "B->D->A->C", "B-D-A-C", "B - D - A - C", "B D A C"),
        *("(B), (D), (A), (C)", "1. B, 2. D, 3. A, 4. C", "First B, then D, then A, finally C.", "B, then D, A, and C"),
        "先B，再D，然后A，最后C",
    ],
    ("statement", EVENTS, (1, 3, 0, 2)): [
        *("The correct order is B, D, A, C.", "The order is: B > D > A > C, since she was asleep first."),
        *("She sleeps first. Therefore, the order is BDAC.", "B, D, A, C (earliest to latest)"),
    ],
    ("statement", EVENTS_ZH, (1, 3, 0, 2)): ["正确顺序是B、D、A、C。", "正确的顺序是：B→D→A→C"],
    ("letters with texts", EVENTS, (1, 3, 0, 2)): [
        "1. B. Ida oversleeps.\n2. D. Ida runs to the stop.\n3. A. Ida misses the bus.\n4. C. Ida apologises.",
        "B. Ida oversleeps. -> D. Ida runs to the stop. -> A. Ida misses the bus. -> C. Ida apologises.",
        "B. Ida oversleeps.\nD. Ida runs to the stop.\nA. Ida misses the bus.\nC. Ida apologises.",
        "First: B. Ida oversleeps.\nThen: D. Ida runs to the stop.\nThen: A. Ida misses the bus.\nFinally: C. Ida apologises.",
    ],
    ("list", EVENTS, (1, 3, 0, 2)): [
        "1. B - it starts there\n2. D - late\n3. A - too late\n4. C - at last",
        "The order is:\n\n1. B\n2. D\n3. A\n4. C\n\nShe was asleep first.",
        "1. Ida oversleeps.\n2. Ida runs to the stop.\n3. Ida misses the bus.\n4. Ida apologises.",
    ],
    ("letters with texts", EVENTS_ZH, (1, 3, 0, 2)): ["B. 小宁睡过头。\nD. 小宁跑向车站。\nA. 小宁误了车。\nC. 小宁道了歉。"],
    ("letters with texts", EVENTS, (0, 1, 2, 3)): [
        "A. Ida misses the bus.\nB. Ida oversleeps.\nC. Ida apologises.\nD. Ida runs to the stop.",
    ],
    ("option texts", EVENTS, (1, 3, 0, 2)): ["Ida oversleeps. > Ida runs to the stop. > Ida misses the bus. > Ida apologises."],
    ("option texts", EVENTS_ZH, (1, 3, 0, 2)): ["小宁睡过头→小宁跑向车站→小宁误了车→小宁道了歉"],
    ("JSON", EVENTS, (1, 3, 0, 2)): ['{"order": ["B", "D", "A", "C"]}', '{"answer": "B > D > A > C"}', '["B", "D", "A", "C"]'],
    ("list", PREMISES, (2, 0, 1)): ["C. Uncertain\nA. True\nB. False", "1. C. Uncertain\n2. A. True\n3. B. False"],
    ("list", PREMISES, (2,)): ["C. Uncertain"],
    ("part of a text", PREMISES, (2,)): ["Uncertain", "the premises imply neither"],
    ("letters", EVENTS, (1,)): ["B"],
    ("letters", EVENTS, (1, 3)): ["B, D"],
    ("letters with texts", EVENTS, (1,)): ["B. Ida oversleeps."],
    ("statement", EVENTS, (1,)): ["The answer is B."],
}

UNREAD_ORDERS: dict[tuple[tuple[str, ...], str], list[str]] = {
    (EVENTS, "holds no word"): ["", "> > >"],
    (EVENTS, "E is not an option"): ["B, D, A, E"],
    (EVENTS, "names B more than once"): ["B, D, A, B"],
    (EVENTS, "letters without a gap do not name every option"): ["BDA", "BAD"],
    (EVENTS, "gives alternatives"): ["B, D, A, C or D, B, A, C"],
    (EVENTS, "contradicts itself"): ["The order is B, D, A, C.\nThe order is D, B, A, C."],
    (EVENTS, "more letters follow the order"): ["The order is B, D. Then comes C."],
    (EVENTS, "numbered, but not from 1 upwards"): ["2. B\n1. D\n3. A\n4. C"],
    (EVENTS, "what stands beside a letter is not its option's text"): [
        *("A: 3\nB: 1\nC: 4\nD: 2", "A. third\nB. first\nC. last\nD. second"),
    ],
    (EVENTS, "letter and text beside it are different options"): [
        *("A. Ida oversleeps.\nB. Ida misses the bus.", "1. B. Ida apologises.\n2. A. Ida misses the bus."),
    ],
    (PREMISES, "letter and text beside it are different options"): ["A. Uncertain", "C. Uncertain\nA. False"],
    (PREMISES, "states no answer"): ["follows", "not Uncertain", "True or False"],
    (EVENTS, "states no answer"): ["B < D < A < C", "Ida oversleeps and then she apologises.", "A dog comes first, I think."],
    (EVENTS, "names an option more than once"): ["1. Ida misses the bus.\n2. Ida misses the bus."],
}


READ_BEST: dict[tuple[str, int], list[str]] = {
    ("statement", 2): [
        *(
            "C is the best answer.",
            "Option C fits best.",
            "C, because nothing follows.",
            "C最合适。",
            "C. Nothing follows from it.",
        ),
    ],
    ("text at an edge", 2): ["Uncertain: the premises imply neither, since Bo may have left.\nNothing else is said."],
    ("list", 2): ["C. Uncertain"],
}
UNREAD_BEST = [
    *("C is wrong.", "C or A", "A. Uncertain", "A. third\nB. first\nC. second", "A: 3\nB: 1\nC: 2", "not C"),
    *("B. D is next", "C < A < B", "C. Nothing follows, A. neither", "A is the best answer. B is the best answer."),
]


def cases(table: Mapping[Any, Sequence[str]]) -> list[tuple[Any, ...]]:
    return [(*key, reply) for key, replies in table.items() for reply in replies]


@each_row(("form", "options", "expected", "reply"), cases(READ_SETS))
def test_set_is_read_by_its_form(form: str, options: tuple[str, ...], expected: tuple[int, ...], reply: str) -> None:
    assert parse_choices(reply, options) == Parse(expected, form)


@each_row(("options", "reason", "reply"), cases(UNREAD_SETS))
def test_set_is_refused_with_its_reason(options: tuple[str, ...], reason: str, reply: str) -> None:
    assert parse_choices(reply, options) == Parse(None, reason)


@each_row(("form", "options", "expected", "reply"), cases(READ_ORDERS))
def test_order_is_read_by_its_form(form: str, options: tuple[str, ...], expected: tuple[int, ...], reply: str) -> None:
    assert parse_order(reply, options) == Parse(expected, form)


@each_row(("options", "reason", "reply"), cases(UNREAD_ORDERS))
def test_order_is_refused_with_its_reason(options: tuple[str, ...], reason: str, reply: str) -> None:
    assert parse_order(reply, options) == Parse(None, reason)


@each_row(("form", "expected", "reply"), cases(READ_BEST))
def test_best_alone_is_ranking_of_one(form: str, expected: int, reply: str) -> None:
    assert parse_ranking(reply, PREMISES) == Parse((expected,), form)


@each_row("reply", UNREAD_BEST)
def test_denied_or_shared_best_is_no_ranking(reply: str) -> None:
    assert parse_ranking(reply, PREMISES).indices is None


def test_an_order_is_read_before_its_best() -> None:
    assert parse_ranking("C is the best answer.\n\nC, A, B", PREMISES) == Parse((2, 0, 1), "statement")


def test_first_of_cut_ranking_is_not_best() -> None:
    assert parse_ranking("C. Uncertain", PREMISES, cut=True) == Parse(None, UNFINISHED)
    # Read where the reply was not cut off.
    assert parse_ranking("C. Nothing follows from it.", PREMISES, cut=True) == Parse(None, REMARK.reason)


def test_every_form_is_covered() -> None:
    assert {form for form, *_ in READ_SETS} == {*SET_FORMS, "JSON"}
    assert {form for form, *_ in READ_ORDERS} == {*ORDER_FORMS, "JSON"}


@pytest.mark.parametrize("reply", ["A. gratitude\nC. relief\nD. ", "A. gratitude\nC. relief", "A, C", "gratitude, relief"])
def test_list_that_was_cut_off_may_lack_options(reply: str) -> None:
    assert parse_choices(reply, FEELINGS, cut=True).indices is None
    assert parse_order(reply, FEELINGS, cut=True).indices is None


def test_statement_before_the_cut_counts() -> None:
    reply = "The answers are A and C because she"
    assert parse_choices(reply, FEELINGS, cut=True) == Parse((0, 2), "statement")


@each_row(
    ("reply", "text"),
    [
        ("Her cousin Tess.", "Her cousin Tess."),
        (" 表姐。\n", "表姐。"),
        ("7", "7"),
        ("<think>Who was it?</think>\nTess", "Tess"),
        ("Who was it? Tess?</think>Tess", "Tess"),
        *((nothing, None) for nothing in ("", " \n\t", "…！？", "—", "🙂", "<think>Tess</think>", "<think>Tess, or maybe")),
    ],
)
def test_free_text(reply: str, text: str | None) -> None:
    assert parse_free_text(reply) == text
