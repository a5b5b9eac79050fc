"""Rows of `items`: made of items, parted by the rules of their layer, drawn into the sample."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import dataframely as dy
import polars as pl

from schemas.item import Item, Record
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items


@dataclass(frozen=True)
class BuiltItems:
    """The items of one dataset that were sampled.

    `contexts` has one row for each item whose context was built for it. `rejected` has the columns of `items`, `broken_rules` and
    `reason`: why an item could not be built, of which only its source is known then.
    """

    items: dy.DataFrame[Items]
    contexts: dy.DataFrame[Contexts]
    rejected: pl.DataFrame


def item_row(dataset: str, record: Record, item: Item | None, item_id: str) -> dict[str, Any]:
    """Return an item as a row of `Items`; of an item that could not be made only where it comes from."""
    return {
        **(item.model_dump() if item else {}),
        "dataset": dataset,
        "item_id": item_id,
        "cluster": (item and item.cluster) or item_id,
        "source_file": record.file,
        "source_row": record.row,
        "source_row_sha256": record.sha256,
    }


def split_by_rules(candidates: pl.DataFrame, schema: type[dy.Schema] | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that break no rule of a schema, and the others with the names of those they break in `broken_rules`.

    A rule that cannot be decided for a row counts as broken. The schema is `Items` unless another is given.
    """
    # dataframely lists its rules nowhere else, and its own filter() lets undecided rules pass.
    rules = (schema or Items)._validation_rules(with_cast=False)  # noqa: SLF001
    broken = [
        # Rules named column|check are dataframely's own: undecided means that a column which may be null is null.
        pl.when(~rule.expr.fill_null(value="|" in name)).then(pl.lit(name))
        for name, rule in rules.items()
    ]
    judged = candidates.with_columns(pl.concat_list(broken).list.drop_nulls().alias("broken_rules"))
    is_good = pl.col("broken_rules").list.len() == 0
    return judged.filter(is_good).drop("broken_rules"), judged.filter(~is_good)


def rank_row(seed: int, row_sha256: str) -> str:
    """Return the place of a row in the draw, as a hash; it depends on nothing but the seed and the row's content."""
    return sha256(f"{seed}:{row_sha256}".encode()).hexdigest()


def sample_items(items: pl.DataFrame, size: int | None, seed: int) -> pl.DataFrame:
    """Keep the `size` rows that rank first; all of them if there are fewer, or if `size` is null.

    Since the rank of a row does not depend on the other rows, one that is added later displaces at most one member. Rows of equal
    content rank equal and are told apart by item_id.

    Args:
        items: columns `item_id` (unique) and `source_row_sha256` at least.
        size: number of rows to keep.
        seed: another seed, another draw.

    Returns: the rows kept, sorted by item_id.
    """
    if size is None or items.height <= size:
        return items.sort("item_id")
    ranks = [rank_row(seed, row) for row in items["source_row_sha256"]]
    ranked = items.with_columns(pl.Series("rank", ranks, dtype=pl.String)).sort("rank", "item_id")
    return ranked.head(size).drop("rank").sort("item_id")
