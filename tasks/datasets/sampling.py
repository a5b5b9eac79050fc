"""Which items are asked: the same ones on every machine, whatever the order of the rows in their file."""

from hashlib import sha256

import polars as pl


def rank_row(seed: int, row_sha256: str) -> str:
    """Place of a row in the draw, as a hash; it depends on nothing but the seed and the row's content."""
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
