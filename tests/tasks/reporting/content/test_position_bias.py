"""Places of options: accuracy, shares and stability, each counted by hand."""

from typing import Any

import polars as pl
import pytest

from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.tables.scores import ItemScores
from tasks.reporting.content.position_bias import (
    HOW_TO_TELL,
    PositionRow,
    Stability,
    describe_positions,
    find_stability,
    position_rows,
)
from tasks.rows.patterns import answers_by_position
from tests.tasks.replies import answers_of_replies
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import ALPHA, empty_data, example_data
from tests.tasks.reporting.pages import render_html

CYCLES = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
SCHEMA: dict[str, Any] = {
    "dataset": pl.String,
    "item_id": pl.String,
    "option_order": pl.List(pl.Int64),
    "chosen_place": pl.Int64,
    "gold_place": pl.Int64,
}


def answers(*rows: tuple[str, list[int] | None, int | None, int]) -> pl.DataFrame:
    return pl.DataFrame([("d", *row) for row in rows], schema=SCHEMA, orient="row")


def in_all_orders(item: str, chosen: list[int | None], gold: int = 0) -> list[tuple[str, list[int] | None, int | None, int]]:
    """The same item in three orders; `gold` is the item's own index of the right option."""
    return [(item, order, place, order.index(gold)) for order, place in zip(CYCLES, chosen, strict=True)]


def test_accuracy_by_place_of_the_right_option() -> None:
    # Right at A twice: A chosen, C chosen. Right at B twice: B chosen, unreadable.
    asked = answers(("1", None, 0, 0), ("2", None, 2, 0), ("3", None, 1, 1), ("4", None, None, 1))
    rows = position_rows(asked)
    # Of the 3 readable replies 2 have their gold at A and 1 at B.
    assert rows == (
        PositionRow("A", golds=2, right=1, read=3, chosen=1, golds_read=2),
        PositionRow("B", golds=2, right=1, read=3, chosen=1, golds_read=1),
        PositionRow("C", golds=0, right=0, read=3, chosen=1, golds_read=0),
    )
    assert [row.accuracy for row in rows] == [0.5, 0.5, None]
    assert [row.chosen_share for row in rows] == [1 / 3] * 3
    assert [row.gold_share for row in rows] == [2 / 3, 1 / 3, 0]
    (unread,) = position_rows(answers(("1", None, None, 0)))
    assert (unread.accuracy, unread.chosen_share, unread.gold_share) == (0.0, None, None)


# Option 2 stands at C, B and A: the same content each time. Always A, where options 0, 1 and 2 stood. Options 0, 1, 1 at A, A, C.
MOVED = (("content", [2, 1, 0]), ("letter", [0, 0, 0]), ("mixed", [0, 0, 2]))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([row for name, chosen in MOVED for row in in_all_orders(name, [*chosen])], Stability(3, 1, 1, 1, 0)),
        # Two readable replies suffice; with one nothing can be told.
        ([*in_all_orders("two", [0, None, 0]), *in_all_orders("one", [0, None, None])], Stability(1, 0, 1, 0, 1)),
        ([("1", None, 0, 0), ("2", None, 0, 1)], None),
        ([("1", [1, 0], 0, 0), ("2", [0, 1], 0, 1)], None),
    ],
    ids=["all three", "unreadable ones", "no order", "one order each"],
)
def test_what_choices_followed(asked: list[Any], found: Stability | None) -> None:
    assert find_stability(answers(*asked)) == found


def test_what_choices_followed_in_words() -> None:
    assert Stability(items=3, content=1, letter=1, mixed=1, unread=0).sentence == (
        "In 1 of 3 items the choice followed the letter, not the content; in 1 it stayed with the content, in 1 with neither."
    )


def test_items_of_two_datasets_are_never_one() -> None:
    one = answers(("1", [0, 1], 0, 0))
    assert find_stability(pl.concat([one, one.with_columns(dataset=pl.lit("e"))])) is None


def permuted_frames(chosen: list[int]) -> dict[str, Any]:
    """mood-0 of alpha asked in three orders and, after that, in the first one again."""
    score = next(row for row in example_items.item_scores().to_dicts() if row["item_id"] == "mood-0")
    reply = next(row for row in example_items.responses().to_dicts() if row["item_id"] == "mood-0")
    asked = list(enumerate(zip([*CYCLES, CYCLES[0]], [*chosen, chosen[0]], strict=True)))
    scores = [
        score | {"repetition": n, "chosen_place": place, "gold_place": order.index(1), "method": method}
        for n, (order, place) in asked
        for method in ("choice", "second")
    ]
    replies = [reply | {"repetition": n, "option_order": order} for n, (order, _) in asked]
    return {"item_scores": make_table(ItemScores, scores), "responses": make_table(Responses, replies)}


def test_an_order_that_comes_again_counts_once() -> None:
    frames = permuted_frames([0, 0, 0])
    found = answers_by_position(frames["item_scores"], answers_of_replies(frames["responses"], None))
    assert found.select("item_id", "option_order", "chosen_place", "gold_place").rows() == [
        ("mood-0", [0, 1, 2], 0, 1),
        ("mood-0", [1, 2, 0], 0, 0),
        ("mood-0", [2, 0, 1], 0, 2),
    ]


def test_failed_calls_are_in_no_place() -> None:
    data = example_data()
    gamma = data.item_scores.filter(pl.col("model") == "gamma")
    assert answers_by_position(gamma, data.answers.filter(pl.col("model") == "gamma")).is_empty()


def test_one_order_says_how_to_get_more(example_html: str) -> None:
    data = example_data()
    found = describe_positions(data, ALPHA)
    assert found is not None
    assert (found.stability, found.sentences[0]) == (None, HOW_TO_TELL)
    # mood: gold B B B A, chosen B C A and unreadable; kind: gold A, chosen A.
    assert [(row.letter, row.golds, row.right) for row in found.places] == [("A", 2, 1), ("B", 3, 1), ("C", 0, 0)]
    assert [part.title for part in found.datasets] == ["Kind", "Mood"]
    assert "Run with --set permute=4 to find out." in example_html
    assert "Followed the letter" not in example_html


def test_several_orders_say_what_was_followed() -> None:
    text = render_html(example_data(**permuted_frames([0, 0, 0])))
    assert "In 1 of 1 items the choice followed the letter, not the content" in text
    assert "Followed the letter" in text
    assert "--set permute=4 to see" not in text


def test_the_lowest_and_the_favourite_place_are_named() -> None:
    # Right at A: 10 of 10; right at B: 5 of 10, the others answered A. Right at C: none of 10, all answered B; only these items
    # have a C, so it is not compared. A is chosen in 15 of 30 and right in 10 of 30.
    rows = [(f"a{n}", 0, 0) for n in range(10)] + [(f"b{n}", n % 2, 1) for n in range(10)] + [(f"c{n}", 1, 2) for n in range(10)]
    score, item = example_items.item_scores().to_dicts()[0], example_items.items().to_dicts()[0]
    scores = [score | {"item_id": name, "chosen_place": chosen, "gold_place": gold} for name, chosen, gold in rows]
    shown = [
        item | {"item_id": name, "gold_indices": [gold], "options": ["x", "y", "z"][: max(2, gold + 1)]} for name, _, gold in rows
    ]
    data = example_data(item_scores=make_table(ItemScores, scores), items=make_table(Items, shown))
    found = describe_positions(data, ALPHA)
    assert found is not None
    assert found.sentences[1:] == (
        "Accuracy is 1.00 where the right option is A (10 replies) and 0.50 where it is B (10 replies).",
        "A is chosen in 50\u00a0% of the readable replies and right in 33\u00a0%.",
    )


def test_without_single_choices_there_is_no_section() -> None:
    assert describe_positions(empty_data(), ALPHA) is None
    assert "Place of the options" not in render_html(empty_data())
