"""Mathematical answers: signs count, ways of writing do not."""

import pytest

from tasks.text.mathematics import is_mathematical, plain_forms, same_answer
from tests.rows import each_row


@each_row(
    ("said", "true"),
    [
        ("33(30)", r"33\sqrt{30}"),
        ("3-1", r"\sqrt{3}-1"),
        ("3-2√2", r"3+2\sqrt{2}"),
        ("(10, 11)", r"\frac{10}{11}"),
        ("4+i", r"4-\mathrm{i}"),
        ("3", "-3"),
        ("x = 3", "-3"),
        ("5", "5%"),
        ("[1, 2)", "(1, 2)"),
        ("1011", "(10, 11)"),
        ("0.5", r"\frac{1}{2}"),
    ],
)
def test_a_sign_makes_another_answer(said: str, true: str) -> None:
    assert not same_answer(said, true)


@each_row(
    ("said", "true"),
    [
        ("33√30", r"33\sqrt{30}"),
        (r"$33 \sqrt{30}$", r"33\sqrt{30}"),
        (r"$\sqrt{3} - 1$.", r"\sqrt{3}-1"),
        ("√3 − 1", r"\sqrt{3}-1"),
        ("3 + 2√2", r"3+2\sqrt{2}"),
        ("10/11", r"\frac{10}{11}"),
        (r"\dfrac{10}{11}", r"\frac{10}{11}"),
        ("4-i", r"4-\mathrm{i}"),
        ("x = -3", "-3"),
        (r"So we get \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        ("1,234", "1234"),
        (r"\left(1, 2\right)", "(1,2)"),
        ("(2,100)", "(2, 100)"),
    ],
)
def test_ways_of_writing_one_answer(said: str, true: str) -> None:
    assert same_answer(said, true)


@pytest.mark.parametrize(
    ("answer", "mathematical"),
    [
        (r"\frac{1}{2}", True),
        ("-3", True),
        ("5%", True),
        ("the 49ers", False),
        ("Lisbon", False),
        ("花盆下面", False),
        ("x", False),
    ],
)
def test_numbers_and_formulas_are_told_from_words(answer: str, mathematical: bool) -> None:
    assert is_mathematical(answer) is mathematical


@each_row(
    ("latex", "plain"),
    [
        (r"\sqrt{}", "√()"),
        (r"\frac{}{2}", "()/2"),
        (r"\frac{1}{}", "1/()"),
        (r"\frac{}{}x", "(()/())x"),
        (r"1 \frac12", "1 1/2"),
        (r"1   \frac12", "1 1/2"),
        (r"a  \frac12", "a1/2"),
        (r"x=  \frac12  \frac34", "x=1/23/4"),
    ],
)
def test_what_is_left_empty_and_blanks_before_fraction(latex: str, plain: str) -> None:
    assert plain_forms(latex)[-1] == plain
