"""Replies of several lines that begin with letters: one answer said again, or a list of the options."""

from tests.rows import each_row
from tests.tasks.readers import answering

read = answering("single_choice", options=["ice", "tea", "milk"], gold_indices=[0])


@each_row(
    ("reply", "index"),
    [
        ("A. ice\nA", 0),  # said again
        ("A. ice\nA. it is cold", 0),
        ("A. ice\nIt is cold.", 0),
        ("A. ice\n\nC. milk is wrong", 0),  # a blank line, and not the next letter
        ("A\n\nB. tea is warm", 0),
        ("A. ice\nIt is cold.\nB", 1),  # the last line alone
        ("A. ice\n\nB. tea", None),  # the options again
        ("A. ice\nIt is cold.\nB. tea", None),
        ("A. ice\nB. tea\nC. milk", None),
    ],
)
def test_lines_with_letters_are_answer_or_list(reply: str, index: int | None) -> None:
    answer = read(reply)
    assert (answer.indices if answer else None) == (None if index is None else (index,))
