"""Counts a person can compare with what the authors of a dataset say."""

from typing import Any

import polars as pl

from schemas.tables.items import Items
from tasks.verify.dataset_check import count_gold, count_repeats, describe_content
from tests.tasks.rows import item as item_row


def item(item_id: str, gold: list[int], options: list[str] | None = None, **changed: Any) -> dict[str, Any]:
    asked = {"question": "Which is warmer?", "options": options or ["ice", "tea"], "gold_indices": gold}
    return {**item_row(item_id, "single_choice", **asked), **changed}


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=Items.create_empty().schema)


def test_gold_is_counted_by_letter() -> None:
    several = item("d", [0, 2], ["ice", "tea", "milk"], question_type="multiple_answer")
    free = item("e", [], question_type="open_ended", gold_indices=None, options=None, references=["tea"])
    assert count_gold(frame(item("a", [1]), item("b", [1]), item("c", [0]), several, free)) == {"A": 2, "B": 2, "C": 1}


def test_an_item_asked_again_is_a_duplicate_whatever_the_order_of_its_options() -> None:
    assert count_repeats(frame(item("a", [1]), item("b", [0], ["tea", "ice"]))) == (1, 0)


def test_the_same_question_with_other_gold_contradicts() -> None:
    assert count_repeats(frame(item("a", [1]), item("b", [0]), item("c", [1]))) == (2, 1)


def test_other_contexts_make_other_questions() -> None:
    assert count_repeats(frame(item("a", [1], context="In June."), item("b", [0], context="In May."))) == (0, 0)


def test_rejected_items_are_counted_by_rule() -> None:
    rejected = frame(item("b", []), item("c", [5])).with_columns(
        broken_rules=pl.Series(
            [["single_choice_has_one_gold", "gold_indices_point_at_options"], ["gold_indices_point_at_options"]]
        )
    )
    content = describe_content(frame(item("a", [1])), rejected)
    assert (content.items_read, content.good) == (3, 1)
    assert content.rejected == {"gold_indices_point_at_options": 2, "single_choice_has_one_gold": 1}
    assert content.languages == {"en": 1}
    assert content.question_types == {"single_choice": 1}
