"""One digit as a judge's reply: the table of the how-to, row by row."""

import re

from tasks.judging.contract import Contract
from tasks.judging.rubrics import Scale, load_rubric
from tests.flows.served import ROOT
from tests.rows import each_row

ROWS = re.findall(r"^\| `(.+)` \| ([0-4-]) \| ", (ROOT / "docs/how-to/own-judge.md").read_text(encoding="utf-8"), re.MULTILINE)
CONTRACT = Contract({"fluency": Scale(lowest=0, highest=4)}, reply="digit")


@each_row(("reply", "read"), ROWS)
def test_a_reply_is_read_as_the_table_says(reply: str, read: str) -> None:
    parsed = CONTRACT.parse(reply.replace(r"\n", "\n"))
    assert parsed.ratings == (None if read == "-" else {"fluency": int(read)})
    assert (parsed.reason == "not one digit of the scale") == (read == "-")


@each_row("reply", ["3/4", "2 out of 4", '"3"', "3.0", "'1'", "Score: 3 / 4", "{'fluency': 3}", "<think>4?</think>3/4"])
def test_another_form_than_a_bare_digit_is_repaired(reply: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert (parsed.ratings is not None, parsed.repaired) == (True, True)


@each_row(
    "reply", ["3", "**3**.", "Score: 2.", "评分：4分", "3 (on a 0-4 scale)", "<think>4?</think>3", "3\nOne of {stiff, plain}."]
)
def test_digit_with_words_for_it_is_not_repaired(reply: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert (parsed.ratings is not None, parsed.repaired) == (True, False)


@each_row(
    "reply",
    ["3/5", "3/3", "Rating: [[3]]", "3.5/4", "There are 2 reasons for a 3.", "3-4", "3\n(of 5)", "<think>3", "03", "33", "0 3"],
)
def test_nothing_is_picked_out_of_another_form(reply: str) -> None:
    assert CONTRACT.parse(reply).ratings is None


def test_table_has_cases_that_released_code_misreads() -> None:
    # Its rule, the smallest digit 0 to 4 anywhere, takes these for 0: of "4/10" and of "0-4".
    assert len(ROWS) == 21
    assert {("4/10", "-"), ("3 (on a 0-4 scale)", "3")} < set(ROWS)


def test_one_dimension_asks_for_digit() -> None:
    rubric = load_rubric("esc_eval_released")
    one, every = (Contract.of(rubric, asked) for asked in (rubric.dimensions[:1], rubric.dimensions))
    assert one.instruction("en") == "Reply with a whole number from 0 to 4, one digit and nothing else."
    assert one.instruction("zh") == "只回复一个数字，即0 到 4 的整数，不要写任何其他内容。"
    assert every.instruction("en").startswith("Reply with one JSON object")
