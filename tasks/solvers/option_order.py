"""Permute and repeat items: options in several orders, so that position bias can be told from a preference for an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import dataframely as dy

from schemas.item import Item
from schemas.question_types import answered_by
from schemas.tables.items import Items

Order = tuple[int, ...] | None
"""Index of the item's option shown at each place; null = as the item has them."""


class Presentation(NamedTuple):
    """One item, as a row of `items`, in one order of its options.

    `repetition` numbers all times it is asked, `draw` those that ask for the same again: their calls are others.
    """

    row: Mapping[str, Any]
    repetition: int
    order: Order
    draw: int = 0


@dataclass(frozen=True)
class Epochs:
    """How often an item is asked: in `permute` orders of its options drawn by `seed` (0 = its own), all that `repeat` times."""

    permute: int = 0
    seed: int = 0
    repeat: int = 1

    @property
    def settings(self) -> dict[str, Any]:
        """What of it changes the calls; the seed draws orders of options, so it counts only where they are permuted."""
        permuted = {"permute": {"orders": self.permute, "seed": self.seed}} if self.permute else {}
        return {**permuted, **({"repeat": self.repeat} if self.repeat > 1 else {})}


def plan_epochs(items: dy.DataFrame[Items], epochs: Epochs = Epochs()) -> list[Presentation]:
    """List every item as often as it is asked."""
    return [
        Presentation(row, draw * len(orders) + place, order, draw)
        for row in items.iter_rows(named=True)
        for orders in [option_orders(row, epochs.permute, epochs.seed)]
        for draw in range(epochs.repeat)
        for place, order in enumerate(orders)
    ]


def option_orders(row: Mapping[str, Any], permute: int, seed: int) -> tuple[Order, ...]:
    """Return the orders an item, a row of `items`, is asked in, one per repetition; of 0 orders its own, once.

    A single choice starts from an order drawn by seed and moves on by one place each time, so that over as many orders as there
    are options each of them stands at each place once. With more orders than options the first ones come again, answered by the
    same stored replies. Whatever else there is to ask, and options that name each other, keep their order.
    """
    if permute == 0:
        return (None,)
    if row["question_type"] not in answered_by("letter") or row["fixed_order"]:
        return (None,) * permute
    first = list(range(len(row["options"])))
    Random(f"{seed}/{row['dataset']}/{row['item_id']}").shuffle(first)  # noqa: S311 - a repeatable draw, not a secret
    starts = [place % len(first) for place in range(permute)]
    return tuple((*first[start:], *first[:start]) for start in starts)


def show_in_order(item: Item, order: Order) -> Item:
    """Return the item as it is shown: its options in this order. Gold and points still name the item's own order."""
    if order is None or item.options is None:
        return item
    return item.model_copy(update={"options": tuple(item.options[index] for index in order)})
