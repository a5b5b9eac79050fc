"""Find what was chosen of an item's options in each order in which they were shown."""

import polars as pl

from schemas.metrics import sort_keys
from tasks.solvers.answers import ITEM


def answers_by_position(item_scores: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Return the answered single choices of one system, once per item and order of its options.

    An order that comes again is answered by the same stored reply, so it counts once; so does an item that several methods score.

    Returns:
        columns dataset, item_id, repetition, option_order (null = as the item has them), chosen_place (null = unreadable),
        gold_place.
    """
    key = [*ITEM, "repetition"]
    answered = item_scores.filter(pl.col("gold_place").is_not_null() & pl.col("status").is_in(["scored", "unparsed"]))
    once = answered.sort(sort_keys((*key, "method", "metric"))).unique(key, keep="first", maintain_order=True)
    orders = given.sort(*key, "part").unique(key, keep="last").select(*key, "option_order")
    joined = once.join(orders, on=key, how="left").sort(key)
    distinct = joined.with_columns(order=pl.col("option_order").cast(pl.List(pl.String)).list.join(",")).unique(
        [*ITEM, "order"], keep="first", maintain_order=True
    )
    return distinct.select(*ITEM, "repetition", "option_order", "chosen_place", "gold_place")
