"""What became of cards: the funnel of all steps, how far annotators agree, and the graded cards as items of a benchmark."""

from collections import Counter
from typing import Any

import polars as pl

from schemas.tables.role_cards import CARD_STEPS
from tasks.cards.pipeline import taxonomy_leaves
from tasks.datasets.esc_eval import card_item
from tasks.judging.agreement import krippendorff_alpha


def funnel(cards: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a row per step: how many cards entered, and were kept, dropped by reason, or failed, which is all of them."""
    rows = []
    for step in CARD_STEPS:
        ends = cards.filter(pl.col("step") == step)
        status = Counter(ends["status"])
        dropped = Counter(sorted(ends.filter(pl.col("status") == "dropped")["reason"]))
        rows.append(
            {"step": step, "entered": ends.height, "kept": status["kept"], "dropped": dropped, "failed": status["failed"]}
        )
    return [row for row in rows if row["entered"]]


def card_agreement(cards: pl.DataFrame) -> list[dict[str, Any]]:
    """Return how far two annotators agree on category and on grade: Krippendorff's alpha of categories, null where undefined."""
    pairs = cards.filter(pl.col("step") == "annotate", pl.col("status") == "kept")["annotations"].to_list()
    rows = []
    for name in ("category", "grade"):
        said = [[one[name] for one in pair] for pair in pairs]
        number = {value: place for place, value in enumerate(sorted({value for pair in said for value in pair}))}
        alpha = krippendorff_alpha([[number[value] for value in pair] for pair in said], level="nominal")
        rows.append({"of": name, "cards": len(said), "alike": sum(left == right for left, right in said), "alpha": alpha})
    return rows


def card_items(cards: pl.DataFrame, quality: str) -> list[dict[str, Any]]:
    """Return the cards of a quality as own items, by id, with all three levels of their category among their groups."""
    leaves, items = taxonomy_leaves(), []
    for row in cards.filter(pl.col("quality") == quality).sort("card_id").iter_rows(named=True):
        levels = zip(("domain", "category2", "category3"), (level["id"] for level in leaves[row["category"]]), strict=True)
        known = {name: row[name] for name in ("card_id", "source", "quality")}
        item = card_item(row["text"], row["language"], **known, **dict(levels))
        items.append(item.model_dump(mode="json", exclude_unset=True))
    return items
