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
    ("answer", "forms"),
    [
        ("$2$", ("2",)),
        (r"-\tfrac27", (r"-\tfrac27", "-2/7")),
        (r"2\frac{3}{11}", (r"2\frac{3}{11}", "2 3/11")),
        (r"$y=\frac{2}{\mathrm{e}}x$", (r"y=\frac{2}{\mathrm{e}}x", "y=(2/e)x")),
        (r"$\frac{4\sqrt{7}}{9}$;$3$", (r"\frac{4\sqrt{7}}{9};3", "4√7/9;3")),
        (r"12,\!345", (r"12,\!345", "12,345")),
        (r"30^\circ", (r"30^\circ", "30°")),
        (r"$\textcircled{1}\textcircled{3}$", (r"\textcircled{1}\textcircled{3}", "①③")),
        (r"\$7.25", (r"\$7.25", "$7.25")),
        (".5", (".5", "0.5")),
        (r"\begin{pmatrix} 3 \\ 8 \end{pmatrix}", (r"\begin{pmatrix} 3 \\ 8 \end{pmatrix}",)),
        (r"\sqrt{}", (r"\sqrt{}", "√()")),
        (r"\frac{}{2}", (r"\frac{}{2}", "()/2")),
        (r"\frac{1}{}", (r"\frac{1}{}", "1/()")),
        (r"\frac{}{}x", (r"\frac{}{}x", "(()/())x")),
        (r"1 \frac12", (r"1 \frac12", "1 1/2")),
        (r"1   \frac12", (r"1   \frac12", "1 1/2")),
        (r"a  \frac12", (r"a  \frac12", "a1/2")),
        (r"x=  \frac12  \frac34", (r"x=  \frac12  \frac34", "x=1/23/4")),
        ("", ()),
    ],
)
def test_mathematical_answers_have_plain_forms(answer: str, forms: tuple[str, ...]) -> None:
    assert plain_forms(answer) == forms
