"""Chunks as rows and back, segments as chunks, and which chunk holds the needle."""

from collections.abc import Sequence

import polars as pl
import pytest

from schemas.context import Chunk, Context
from schemas.errors import ScoringError
from schemas.item import Item
from schemas.tables.items import Chunks
from tasks.solvers.chunk_rows import chunk_rows, mark_needle, read_chunks, segments_of

ITEM = Item(language="en", question_type="extractive", context="x", question="q", references=("x",))
ODD = Item(language="en", question_type="odd_one_out", question="q", options=("a", "b", "c"), gold_indices=(1,))


def chunks(*spans: tuple[int, int]) -> tuple[Chunk, ...]:
    return tuple(Chunk(number, "t", start, end, start, end) for number, (start, end) in enumerate(spans))


@pytest.mark.parametrize(
    ("spans", "needle", "holder"),
    [
        (((0, 10), (10, 20)), (12, 14), 1),
        # 3 of its characters, then 5.
        (((0, 10), (10, 20)), (7, 15), 1),
        # The same number in both: the first.
        (((0, 10), (10, 20)), (8, 12), 0),
        # Overlapping chunks that both hold all of it.
        (((0, 12), (6, 20)), (7, 11), 0),
        # 15, 15 and 18 of a needle longer than any chunk.
        (((0, 20), (15, 30), (22, 40)), (5, 40), 2),
    ],
)
def test_chunk_with_most_of_needle_holds_it(spans: Sequence[tuple[int, int]], needle: tuple[int, int], holder: int) -> None:
    context = Context(task="ec_emobench", tokens=20, needle_start=needle[0], needle_end=needle[1])
    assert mark_needle(chunks(*spans), ITEM, context) == tuple(number == holder for number in range(len(spans)))


@pytest.mark.parametrize("needle", [(21, 30), (7, 7)])
def test_needle_that_no_chunk_holds_is_error(needle: tuple[int, int]) -> None:
    context = Context(task="ec_emobench", tokens=20, needle_start=needle[0], needle_end=needle[1])
    with pytest.raises(ScoringError, match="no chunk contains any part of the needle") as caught:
        mark_needle(chunks((0, 10), (10, 20)), ITEM, context)
    assert caught.value.got == f"needle at {needle[0]} to {needle[1]}; 2 chunks up to 20"


def test_without_a_needle_nothing_is_known() -> None:
    context = Context(task="qa", tokens=20)
    assert mark_needle(chunks((0, 5), (5, 9)), ITEM, context) == (None, None)
    assert mark_needle((), ITEM, Context(task="ec_emobench", tokens=0, needle_start=0, needle_end=1)) == ()


def test_the_needle_of_segments_is_the_odd_one() -> None:
    context = Context(task="ed", tokens=3)
    assert mark_needle(segments_of(("a", "b", "c")), ODD, context) == (False, True, False)


def test_segments_stand_one_after_the_other() -> None:
    first, second = segments_of(("a cat", "two dogs"))
    assert (first.text, first.start, first.end) == ("a cat", 0, 5)
    assert (second.number, second.start, second.end) == (1, 6, 14)
    assert (first.token_start, first.token_end, second.token_start, second.token_end) == (0, 2, 2, 4)


def test_rows_are_read_back_without_foreign_corpora() -> None:
    made = chunks((0, 5), (3, 9), (7, 12))
    rows = [
        *chunk_rows("d", "a", "context", made, (None, True, False)),
        *chunk_rows("d", "a", "written-0-2", made[:1], (None,)),
        *chunk_rows("d", "b", "context", made[:1], (None,)),
    ]
    table = Chunks.validate(pl.DataFrame(rows[::-1], schema=Chunks.create_empty().schema).sort(Chunks.primary_key()))
    assert read_chunks(table) == {"a": made, "b": made[:1]}
    assert table.filter(item_id="a", corpus="context")["holds_needle"].to_list() == [None, True, False]
