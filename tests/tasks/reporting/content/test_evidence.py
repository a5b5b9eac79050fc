"""What stands behind the score of a long item."""

from typing import Any

from schemas.table import Cell
from tasks.reporting.content.evidence import (
    AROUND,
    NeedleExcerpt,
    make_needle_excerpt,
    prompt_chunks,
    ratings_table,
)

CONTEXT: dict[str, Any] = {"needle_start": 4, "needle_end": 10, "tokens": 3, "depth_percent": 40.0}


def rating(dimension: str, judge: str, given: int | None, scale: tuple[int, int] = (0, 5)) -> dict[str, Any]:
    return {"dimension": dimension, "judge": judge, "rating": given, "lowest": scale[0], "highest": scale[1]}


def test_a_needle_stands_in_the_words_around_it() -> None:
    assert make_needle_excerpt("one needle two", CONTEXT) == NeedleExcerpt("one ", "needle", " two", 0, 0, 3, 40.0)
    found = make_needle_excerpt("word " * 1000 + "needle" + " word" * 1000, CONTEXT | {"needle_start": 5000, "needle_end": 5006})
    assert found is not None
    # 300 characters before are 60 words with a space each; of those after, the last whole word ends at 300.
    assert len(found.before) <= AROUND
    assert (found.left_before, found.left_after) == (5000 - len(found.before), 5000 - len(found.after))
    assert found.before.strip("word ") == ""


def test_a_context_without_needle_has_no_excerpt() -> None:
    assert make_needle_excerpt("one two", CONTEXT | {"needle_start": None, "needle_end": None}) is None
    # A text that was withheld is shorter than where its needle stood.
    assert make_needle_excerpt("withheld", CONTEXT) is None


def test_ratings_stand_on_their_own_scale() -> None:
    table = ratings_table(
        [rating("warmth", "b", 4), rating("warmth", "a", 2), rating("warmth", "a", 3), rating("depth", "a", 80, (0, 100))]
    )
    assert [column.title for column in table.columns] == ["Dimension", "Scale", "a", "b"]
    assert table.rows == [("warmth", (0, 5), Cell(2.5, "mean of 2"), 4), ("depth", (0, 100), 80, None)]


def test_an_unread_rating_is_no_zero() -> None:
    assert ratings_table([rating("deep_needs", "a", None)]).rows == [("deep needs", (0, 5), None)]
    assert ratings_table([rating("x", "a", None), rating("x", "a", 4)]).rows == [("x", (0, 5), Cell(4.0, "mean of 1"))]


def test_chunks_of_a_prompt_are_shown_once() -> None:
    rows = [
        {"query_number": query, "rank": rank, "text": f"text {query}{rank}" if rank else "the same", "holds_needle": None}
        for query in (1, 0)
        for rank in range(4)
    ]
    texts = enumerate(("the same", "text 01", "text 02", "text 03"), start=1)
    assert prompt_chunks(rows) == [(rank, text, None) for rank, text in texts]
