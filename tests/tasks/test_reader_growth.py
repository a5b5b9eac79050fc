"""Whatever reads model text takes CPU time in proportion to its length, whatever the text repeats."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.question_types import QUESTION_TYPES
from tests.rows import each_row
from tests.tasks.readers import READERS, SHAPES, UNITS, cpu_seconds, score_replies

FIRST, LAST, STEP = 80, 20_480, 4
"""Characters of the shortest and the longest text, and how often longer each is than the one before: a reader of cubic time is
found before it takes minutes."""

MOST_GROWTH, FLOOR_S = 10.0, 0.06
"""Of the CPU time where a text is four times as long: linear work grows by 4, quadratic by 16. Shorter times say nothing."""


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
@each_row("shape", SHAPES)
def test_time_grows_with_the_length(reader: str, shape: str) -> None:
    read, before = READERS[reader], None
    length = FIRST
    while length <= LAST:
        text = SHAPES[shape](length)
        taken = cpu_seconds(read, text)
        if before is not None and taken > MOST_GROWTH * before + FLOOR_S:
            # Measure again, since a pause of the machine looks like growth.
            before = min(before, cpu_seconds(read, SHAPES[shape](length // STEP)))
            taken = min(taken, *(cpu_seconds(read, text) for _ in range(4)))
            assert taken <= MOST_GROWTH * before + FLOOR_S, f"{length} characters: {taken:.3f} s, a quarter: {before:.3f} s"
        before, length = taken, length * STEP


REPLIES = st.one_of(st.text(), st.lists(st.sampled_from(UNITS), max_size=40).map("".join))
PER_EXAMPLE = 10
ONCE_ERRORS = (
    '{"answer": ""}',
    '{"answer": " "}',
    "\\sqrt{}",
    "\\frac{}{2}",
    "```json\n```",
    '{"post_panas": {"active": 1e999}}',
)
EXAMPLES = 2_000 // (PER_EXAMPLE * len(QUESTION_TYPES)) + 1


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(REPLIES, min_size=PER_EXAMPLE, max_size=PER_EXAMPLE))
@example([*ONCE_ERRORS, *[""] * (PER_EXAMPLE - len(ONCE_ERRORS))])
def test_no_reply_is_an_error(replies: list[str]) -> None:
    for question_type in QUESTION_TYPES:
        scores = score_replies(question_type, replies)
        assert scores["error"].drop_nulls().to_list() == []
        assert scores["repetition"].n_unique() == PER_EXAMPLE
