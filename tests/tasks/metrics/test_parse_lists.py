"""Contract of multiple-answer and order replies, and of free text."""

import pytest

from tasks.metrics.parsing import (
    ORDER_FORMS,
    SET_FORMS,
    ChoicesParse,
    OrderParse,
    TextParse,
    parse_choices,
    parse_free_text,
    parse_order,
)

FEELINGS = ("gratitude", "grief", "relief", "anger")
FEELINGS_ZH = ("感激", "悲痛", "释然", "温和")
EVENTS = ("Ida misses the bus.", "Ida oversleeps.", "Ida apologises.", "Ida runs to the stop.")
EVENTS_ZH = ("小宁误了车。", "小宁睡过头。", "小宁道了歉。", "小宁跑向车站。")
THIRTY = tuple(f"label {number}" for number in range(30))

READ_SETS = [
    *(
        ("letters", reply, FEELINGS, {0, 2})
        for reply in (
            *("A, C", "A,C", "A，C", "A、C", "A;C", "A；C", "A/C", "A & C", "A C", "AC", "CA", "a, c", "A and C", "A和C"),
            *("(A), (C)", "[A, C]", "**A**, **C**", "A) and C)", "Ａ，Ｃ", "A\nC", "- A\n- C", "A.\nC.", "Options A and C"),
            *("选项A和C", "选AC", "Answer: A, C", "答案：A、C。", "<think>B?</think>A, C", "Both A and C"),
        )
    ),
    ("letters", "A, C and D.", FEELINGS, {0, 2, 3}),
    ("letters", "A, C, and D", FEELINGS, {0, 2, 3}),
    ("letters", "A、C和D", FEELINGS, {0, 2, 3}),
    ("letters", "C", FEELINGS, {2}),
    ("letters", "A, B, C, D", FEELINGS, {0, 1, 2, 3}),
    ("letters", "Z, AB", THIRTY, {25, 27}),
    ("statement", "The answers are A and C.", FEELINGS, {0, 2}),
    ("statement", "The correct options are: A, C", FEELINGS, {0, 2}),
    ("statement", "The correct answers are A and C because both are named.", FEELINGS, {0, 2}),
    ("statement", "**Answer: A, C** because both are named.", FEELINGS, {0, 2}),
    ("statement", "\\boxed{A, C}", FEELINGS, {0, 2}),
    ("statement", "<answer>A, C</answer>", FEELINGS, {0, 2}),
    ("statement", "She thanks him and breathes again. Therefore, the answers are A and C.", FEELINGS, {0, 2}),
    ("statement", "She thanks him.\n\nA, C", FEELINGS, {0, 2}),
    ("statement", "A, C\n\nShe thanks him and breathes again.", FEELINGS, {0, 2}),
    ("statement", "A. gratitude\nB. grief\nC. relief\nD. anger\n\nAnswer: A, C", FEELINGS, {0, 2}),
    ("statement", "A and C are correct, B and D are not.", FEELINGS, {0, 2}),
    ("statement", "I think A and C are correct.", FEELINGS, {0, 2}),
    ("statement", "Here is what fits. The answers are:\nA (gratitude), C (relief)", FEELINGS, {0, 2}),
    ("statement", "The answer is C.", FEELINGS, {2}),
    ("letters with texts", "Answer: C. relief", FEELINGS, {2}),
    ("statement", "答案是A、C。", FEELINGS, {0, 2}),
    ("statement", "她松了口气，所以选AC。", FEELINGS_ZH, {0, 2}),
    ("letters with texts", "A. gratitude\nC. relief", FEELINGS, {0, 2}),
    ("letters with texts", "A) gratitude\nC) relief", FEELINGS, {0, 2}),
    ("letters with texts", "- **A. gratitude**\n- **C. relief**", FEELINGS, {0, 2}),
    ("letters with texts", "A. gratitude\n\nC. relief", FEELINGS, {0, 2}),
    ("list", "The message expresses:\n\n- A. gratitude\n- C. relief\n\nBoth are plain to see.", FEELINGS, {0, 2}),
    ("list", "1. gratitude\n2. relief", FEELINGS, {0, 2}),
    ("letters with texts", "C. relief", FEELINGS, {2}),
    ("letters with texts", "A. 感激\nC. 释然", FEELINGS_ZH, {0, 2}),
    ("list", "gratitude\nrelief", FEELINGS, {0, 2}),
    ("list", "relief", FEELINGS, {2}),
    ("letters with texts", "A (gratitude) and C (relief)", FEELINGS, {0, 2}),
    ("letters with texts", "A. gratitude, C. relief", FEELINGS, {0, 2}),
    ("letters with texts", "A感激 C释然", FEELINGS_ZH, {0, 2}),
    ("statement", "A, C (both)", FEELINGS, {0, 2}),
    ("statement", "A, C — she thanks him.", FEELINGS, {0, 2}),
    ("letters", "Only C", FEELINGS, {2}),
    ("option texts", "gratitude, relief", FEELINGS, {0, 2}),
    ("option texts", "Gratitude and relief.", FEELINGS, {0, 2}),
    ("option texts", "感激、释然", FEELINGS_ZH, {0, 2}),
    ("option texts", "感激和释然", FEELINGS_ZH, {0, 2}),
    ("option texts", "温和，释然", FEELINGS_ZH, {2, 3}),
    ("JSON", '{"answer": ["A", "C"]}', FEELINGS, {0, 2}),
    ("JSON", '{"answer": "A, C"}', FEELINGS, {0, 2}),
    ("JSON", '["C", "A"]', FEELINGS, {0, 2}),
    ("JSON", '```json\n{"answers": ["gratitude", "relief"]}\n```', FEELINGS, {0, 2}),
]

UNREAD_SETS = [
    ("", FEELINGS, "holds no word"),
    ("-", FEELINGS, "holds no word"),
    ("A, E", FEELINGS, "E is not an option"),
    ("AE", FEELINGS, "states no answer"),
    ("The answers are A and E.", FEELINGS, "E is not an option"),
    ("A. gratitude\nE. joy", FEELINGS, "E is not an option"),
    ('{"answer": ["A", "E"]}', FEELINGS, "E is not an option"),
    ("A or C", FEELINGS, "gives alternatives"),
    ("A, B or C", FEELINGS, "gives alternatives"),
    ("The answers are A or C.", FEELINGS, "gives alternatives"),
    ("A, A", FEELINGS, "names A more than once"),
    ("A. gratitude\nB. grief\nC. relief\nD. anger", FEELINGS, "repeats the list of options"),
    ("A. 感激\nB. 悲痛\nC. 释然\nD. 温和\n\n这条消息表", FEELINGS_ZH, "repeats the list of options"),
    ("gratitude, grief, relief, anger", FEELINGS, "repeats the list of options"),
    ("A. gratitude\nB. grief\nC. relief\nD. ", FEELINGS, "some letters have their text beside them and some have not"),
    ("A. gratitude\nB. grief\nC. rel", FEELINGS, "what stands beside a letter is not its option's text"),
    ("A. correct\nB. incorrect\nC. correct", FEELINGS, "what stands beside a letter is not its option's text"),
    ("A: yes\nB: no\nC: yes\nD: no", FEELINGS, "what stands beside a letter is not its option's text"),
    ("A. relief\nB. anger", FEELINGS, "letter and text beside it are different options"),
    ("Answer: A. relief", FEELINGS, "letter and text beside it are different options"),
    ("The answers are A and B. The answers are A and C.", FEELINGS, "contradicts itself"),
    ("The options are A, B, C and D.", FEELINGS, "states no answer"),
    ("Answer: A. gratitude, B. grief, C. relief, D. anger", FEELINGS, "repeats the list of options"),
    ("None", FEELINGS, "states no answer"),
    ("None of them", FEELINGS, "states no answer"),
    ("答案是None", FEELINGS, "states no answer"),
    ("not A, C", FEELINGS, "states no answer"),
    ("The answers are not A and C.", FEELINGS, "states no answer"),
    ("I think A, C are wrong.", FEELINGS, "states no answer"),
    ("So A and C are out.", FEELINGS, "states no answer"),
    ("A dog and a cat", FEELINGS, "states no answer"),
    ("I think all of it is sad.", FEELINGS, "states no answer"),
    ("gratitude, hope", FEELINGS, "states no answer"),
    ('{"answer": []}', FEELINGS, "states no answer"),
    ("AB", THIRTY[:27], "AB is not an option"),
]

READ_ORDERS = [
    ("letters", "B, D, A, C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B,D,A,C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B > D > A > C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B -> D -> A -> C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B->D->A->C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B → D → A → C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B-D-A-C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B - D - A - C", EVENTS, (1, 3, 0, 2)),
    ("letters", "BDAC", EVENTS, (1, 3, 0, 2)),
    ("letters", "B D A C", EVENTS, (1, 3, 0, 2)),
    ("letters", "b, d, a, c", EVENTS, (1, 3, 0, 2)),
    ("letters", "B、D、A、C", EVENTS, (1, 3, 0, 2)),
    ("letters", "B，D，A，C。", EVENTS, (1, 3, 0, 2)),
    ("letters", "[B, D, A, C]", EVENTS, (1, 3, 0, 2)),
    ("letters", "(B), (D), (A), (C)", EVENTS, (1, 3, 0, 2)),
    ("letters", "**B, D, A, C**", EVENTS, (1, 3, 0, 2)),
    ("letters", "B\nD\nA\nC", EVENTS, (1, 3, 0, 2)),
    ("letters", "1. B\n2. D\n3. A\n4. C", EVENTS, (1, 3, 0, 2)),
    ("letters", "1) B\n2) D\n3) A\n4) C", EVENTS, (1, 3, 0, 2)),
    ("letters", "1. B, 2. D, 3. A, 4. C", EVENTS, (1, 3, 0, 2)),
    ("letters", "First B, then D, then A, finally C.", EVENTS, (1, 3, 0, 2)),
    ("letters", "B, then D, A, and C", EVENTS, (1, 3, 0, 2)),
    ("letters", "先B，再D，然后A，最后C", EVENTS, (1, 3, 0, 2)),
    ("letters", "Order: B, D, A, C", EVENTS, (1, 3, 0, 2)),
    ("letters", "答案：B、D、A、C", EVENTS, (1, 3, 0, 2)),
    ("statement", "The correct order is B, D, A, C.", EVENTS, (1, 3, 0, 2)),
    ("statement", "The order is: B > D > A > C, since she was asleep first.", EVENTS, (1, 3, 0, 2)),
    ("statement", "正确顺序是B、D、A、C。", EVENTS_ZH, (1, 3, 0, 2)),
    ("statement", "正确的顺序是：B→D→A→C", EVENTS_ZH, (1, 3, 0, 2)),
    ("statement", "She sleeps first. Therefore, the order is BDAC.", EVENTS, (1, 3, 0, 2)),
    ("statement", "She sleeps first.\n\nB, D, A, C", EVENTS, (1, 3, 0, 2)),
    ("statement", "\\boxed{B, D, A, C}", EVENTS, (1, 3, 0, 2)),
    (
        "letters with texts",
        "1. B. Ida oversleeps.\n2. D. Ida runs to the stop.\n3. A. Ida misses the bus.\n4. C. Ida apologises.",
        EVENTS,
        (1, 3, 0, 2),
    ),
    ("statement", "B, D, A, C (earliest to latest)", EVENTS, (1, 3, 0, 2)),
    (
        "letters with texts",
        "B. Ida oversleeps. -> D. Ida runs to the stop. -> A. Ida misses the bus. -> C. Ida apologises.",
        EVENTS,
        (1, 3, 0, 2),
    ),
    ("list", "1. B - it starts there\n2. D - late\n3. A - too late\n4. C - at last", EVENTS, (1, 3, 0, 2)),
    ("list", "The order is:\n\n1. B\n2. D\n3. A\n4. C\n\nShe was asleep first.", EVENTS, (1, 3, 0, 2)),
    ("list", "1. Ida oversleeps.\n2. Ida runs to the stop.\n3. Ida misses the bus.\n4. Ida apologises.", EVENTS, (1, 3, 0, 2)),
    (
        "letters with texts",
        "B. Ida oversleeps.\nD. Ida runs to the stop.\nA. Ida misses the bus.\nC. Ida apologises.",
        EVENTS,
        (1, 3, 0, 2),
    ),
    (
        "letters with texts",
        "First: B. Ida oversleeps.\nThen: D. Ida runs to the stop.\nThen: A. Ida misses the bus.\nFinally: C. Ida apologises.",
        EVENTS,
        (1, 3, 0, 2),
    ),
    ("letters with texts", "B. 小宁睡过头。\nD. 小宁跑向车站。\nA. 小宁误了车。\nC. 小宁道了歉。", EVENTS_ZH, (1, 3, 0, 2)),
    (
        "letters with texts",
        "A. Ida misses the bus.\nB. Ida oversleeps.\nC. Ida apologises.\nD. Ida runs to the stop.",
        EVENTS,
        (0, 1, 2, 3),
    ),
    ("option texts", "Ida oversleeps. > Ida runs to the stop. > Ida misses the bus. > Ida apologises.", EVENTS, (1, 3, 0, 2)),
    ("option texts", "小宁睡过头→小宁跑向车站→小宁误了车→小宁道了歉", EVENTS_ZH, (1, 3, 0, 2)),
    ("JSON", '{"order": ["B", "D", "A", "C"]}', EVENTS, (1, 3, 0, 2)),
    ("JSON", '{"answer": "B > D > A > C"}', EVENTS, (1, 3, 0, 2)),
    ("JSON", '["B", "D", "A", "C"]', EVENTS, (1, 3, 0, 2)),
]

PARTIAL_ORDERS = [
    ("letters", "B", EVENTS, (1,)),
    ("letters", "B, D", EVENTS, (1, 3)),
    ("letters with texts", "B. Ida oversleeps.", EVENTS, (1,)),
    ("statement", "The answer is B.", EVENTS, (1,)),
]

UNREAD_ORDERS = [
    ("", EVENTS, "holds no word"),
    ("> > >", EVENTS, "holds no word"),
    ("B, D, A, E", EVENTS, "E is not an option"),
    ("B, D, A, B", EVENTS, "names B more than once"),
    ("BDA", EVENTS, "letters without a gap do not name every option"),
    ("BAD", EVENTS, "letters without a gap do not name every option"),
    ("B, D, A, C or D, B, A, C", EVENTS, "gives alternatives"),
    ("The order is B, D, A, C.\nThe order is D, B, A, C.", EVENTS, "contradicts itself"),
    ("The order is B, D. Then comes C.", EVENTS, "more letters follow the order"),
    ("2. B\n1. D\n3. A\n4. C", EVENTS, "numbered, but not from 1 upwards"),
    ("A: 3\nB: 1\nC: 4\nD: 2", EVENTS, "what stands beside a letter is not its option's text"),
    ("A. third\nB. first\nC. last\nD. second", EVENTS, "what stands beside a letter is not its option's text"),
    ("A. Ida oversleeps.\nB. Ida misses the bus.", EVENTS, "letter and text beside it are different options"),
    ("1. B. Ida apologises.\n2. A. Ida misses the bus.", EVENTS, "letter and text beside it are different options"),
    ("B < D < A < C", EVENTS, "states no answer"),
    ("Ida oversleeps and then she apologises.", EVENTS, "states no answer"),
    ("A dog comes first, I think.", EVENTS, "states no answer"),
    ("1. Ida misses the bus.\n2. Ida misses the bus.", EVENTS, "names an option more than once"),
    ("The order is not B, D, A, C.", EVENTS, "states no answer"),
]


@pytest.mark.parametrize(("form", "reply", "options", "expected"), READ_SETS)
def test_set_is_read_by_its_form(form: str, reply: str, options: tuple[str, ...], expected: set[int]) -> None:
    assert parse_choices(reply, options) == ChoicesParse(frozenset(expected), form)


@pytest.mark.parametrize(("reply", "options", "reason"), UNREAD_SETS)
def test_set_is_refused_with_its_reason(reply: str, options: tuple[str, ...], reason: str) -> None:
    assert parse_choices(reply, options) == ChoicesParse(None, reason)


@pytest.mark.parametrize(("form", "reply", "options", "expected"), READ_ORDERS)
def test_order_is_read_by_its_form(form: str, reply: str, options: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert parse_order(reply, options) == OrderParse(expected, complete=True, how=form)


@pytest.mark.parametrize(("form", "reply", "options", "expected"), PARTIAL_ORDERS)
def test_partial_order_is_marked(form: str, reply: str, options: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert parse_order(reply, options) == OrderParse(expected, complete=False, how=form)


@pytest.mark.parametrize(("reply", "options", "reason"), UNREAD_ORDERS)
def test_order_is_refused_with_its_reason(reply: str, options: tuple[str, ...], reason: str) -> None:
    assert parse_order(reply, options) == OrderParse(None, complete=False, how=reason)


def test_every_form_is_covered() -> None:
    assert {form for form, *_ in READ_SETS} == {form.name for form in SET_FORMS} | {"JSON"}
    assert {form for form, *_ in READ_ORDERS} == {form.name for form in ORDER_FORMS} | {"JSON"}


@pytest.mark.parametrize("reply", ["A. gratitude\nC. relief\nD. ", "A. gratitude\nC. relief", "A, C", "gratitude, relief"])
def test_list_that_was_cut_off_may_lack_options(reply: str) -> None:
    assert parse_choices(reply, FEELINGS, cut=True).indices is None
    assert parse_order(reply, FEELINGS, cut=True).indices is None


def test_statement_before_the_cut_counts() -> None:
    reply = "The answers are A and C because she"
    assert parse_choices(reply, FEELINGS, cut=True) == ChoicesParse(frozenset({0, 2}), "statement")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Her cousin Tess.", TextParse("Her cousin Tess.", "text")),
        (" 表姐。\n", TextParse("表姐。", "text")),
        ("7", TextParse("7", "text")),
        ("<think>Who was it?</think>\nTess", TextParse("Tess", "text")),
        ("Who was it? Tess?</think>Tess", TextParse("Tess", "text")),
        ("", TextParse(None, "holds no word")),
        (" \n\t", TextParse(None, "holds no word")),
        ("…！？", TextParse(None, "holds no word")),
        ("—", TextParse(None, "holds no word")),
        ("🙂", TextParse(None, "holds no word")),
        ("<think>Tess</think>", TextParse(None, "holds no word")),
        ("<think>Tess, or maybe", TextParse(None, "holds no word")),
    ],
)
def test_free_text(reply: str, expected: TextParse) -> None:
    assert parse_free_text(reply) == expected
