"""The constant answer to beat."""

import polars as pl

from tasks.reporting.baselines import ConstantAnswer, constant_answers
from tests.tasks.reporting import example_items


def test_best_letter_and_its_share_of_the_gold() -> None:
    # Gold of mood: B B B A, so B is right in 3 of 4; kind has the one gold A.
    assert constant_answers(example_items.items()) == {"kind": ConstantAnswer("A", 1.0), "mood": ConstantAnswer("B", 0.75)}


def test_of_equal_letters_the_first() -> None:
    two = example_items.items().filter(pl.col("item_id").is_in(["mood-0", "mood-3"]))
    assert constant_answers(two) == {"mood": ConstantAnswer("A", 0.5)}
