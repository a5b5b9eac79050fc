"""What the released code reads; expected letters are the observed ones of the data dictionary, section 3.5."""

import pytest

from tasks.metrics.reference.scoring import clean_span, extract_letter, extract_letters


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(C)", "C"),
        ("**C**", "C"),
        ("C.", "C"),
        ("Option B", "B"),
        ("选项C", "C"),
        ("我选择B", "B"),
        ("答案是B", "B"),
        ("The answer is C", "C"),
        # Chinese characters are word characters: no boundary before the letter.
        ("选B", "UNKNOWN"),
        ("应选B。", "UNKNOWN"),
        ("我认为是C", "UNKNOWN"),
        ("I think the answer is B.", "I"),
        ("I'd say C", "I"),
        ("A dog is shown, so the answer is C", "A"),
        ("答案是None", "N"),
        ("<think>a</think>B", "A"),
        ("", "UNKNOWN"),
        ("no idea", "UNKNOWN"),
    ],
)
def test_observed_letters(reply: str, letter: str) -> None:
    assert extract_letter(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A好, 但答案为：c", "C"),  # after 答案 before a letter that stands earlier
        ("答案是A，我选择B", "A"),  # 答案 before 选择
        ("B项比C好，选择：D", "D"),  # 选择 before a letter with 项
        ("I would take\nD\nand C项", "C"),  # a letter with 项 before a line of its own
        ("I would take\nD\n", "D"),  # a line of its own before a letter that stands alone
        ("I say 选项c", "C"),  # after 选项 before a letter that stands alone
    ],
)
def test_the_order_of_the_patterns_decides(reply: str, letter: str) -> None:
    assert extract_letter(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("A,B", {"A", "B"}),
        ("A，B", {"A"}),
        ("A、B", {"A"}),
        ("A B", {"A"}),
        ("AB", {"UNKNOWN"}),
        ("", {"UNKNOWN"}),
        # The piece after the last comma is read too.
        ("A, ", {"A", "UNKNOWN"}),
        ("b, B", {"B"}),
    ],
)
def test_observed_sets_of_letters(reply: str, letters: set[str]) -> None:
    assert extract_letters(reply) == letters


@pytest.mark.parametrize(
    ("reply", "span"),
    [
        ("“小明”", "小明"),
        ("答案是：小明。", "小明"),
        ("根据文本，答案是小明！", "小明"),
        ("小明的答案", "小明的答案"),
        ("", "UNKNOWN"),
        ("。", "UNKNOWN"),
        # 5 characters, 。, 200 characters: 206 are more than 200.
        ("他去了北京。" + "很" * 200, "他去了北京"),
        # 200 are not.
        ("他去了北京。" + "很" * 194, "他去了北京。" + "很" * 194),
    ],
)
def test_spans_lose_what_surrounds_them(reply: str, span: str) -> None:
    assert clean_span(reply) == span
