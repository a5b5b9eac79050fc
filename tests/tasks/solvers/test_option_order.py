"""Orders of options: balanced over places, repeatable, and only where an order says nothing."""

from typing import Any

import pytest

from schemas.item import Item
from tasks.solvers.presentation import option_orders, show_in_order


def row(**changed: Any) -> dict[str, Any]:
    return {
        "dataset": "any",
        "item_id": "any-1",
        "question_type": "single_choice",
        "options": ["ant", "bee", "cow"],
        "fixed_order": False,
        **changed,
    }


def test_cyclic_orders_place_each_option_everywhere() -> None:
    orders = option_orders(row(), 3, 7)
    for place in range(3):
        assert sorted(order[place] for order in orders if order) == [0, 1, 2]
    # Further orders repeat the first ones; without any an item is asked once as it is.
    assert option_orders(row(), 5, 7) == (*orders, *orders[:2])
    assert option_orders(row(), 0, 7) == (None,)


def test_seed_and_item_draw_first_order() -> None:
    drawn = {option_orders(row(item_id=f"any-{number}"), 1, 7) for number in range(60)}
    assert len(drawn) == 6  # all orders of three options
    assert option_orders(row(), 1, 7) == option_orders(row(), 1, 7)
    assert {option_orders(row(), 1, seed) for seed in range(60)} == drawn


@pytest.mark.parametrize("changed", [{"fixed_order": True}, {"question_type": "questionnaire"}, {"question_type": "ranking"}])
def test_other_items_keep_their_order(changed: dict[str, Any]) -> None:
    assert option_orders(row(**changed), 3, 7) == (None, None, None)


def test_shown_options_are_those_of_the_order() -> None:
    item = Item(language="en", question_type="single_choice", question="?", options=("ant", "bee", "cow"), gold_indices=(0,))
    shown = show_in_order(item, (2, 0, 1))
    assert shown.options == ("cow", "ant", "bee")
    assert shown.gold_indices == (0,)
    assert show_in_order(item, None) == item
