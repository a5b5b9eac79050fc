"""Retrieved chunks that went into prompts, with their texts."""

from collections.abc import Mapping

import polars as pl

SHOWN = pl.Schema(
    {
        "dataset": pl.String,
        "item_id": pl.String,
        "model": pl.String,
        "setting": pl.String,
        "repetition": pl.Int64,
        "query_number": pl.Int64,
        "rank": pl.Int64,
        "text": pl.String,
        "holds_needle": pl.Boolean,
    }
)
STAGES = ("initial", "search", "reranked")
"""Stages in the order in which they come: what the last one keeps goes into the prompt."""

ASKED = ["dataset", "item_id", "model", "setting", "repetition"]


def last_stage(retrievals: pl.DataFrame) -> pl.DataFrame:
    """Rows of `retrievals` that belong to the last stage of their item."""
    place = pl.col("stage").cast(pl.String).replace_strict({name: at for at, name in enumerate(STAGES)}, return_dtype=pl.Int64)
    ordered = retrievals.with_columns(place=place)
    return ordered.filter(pl.col("place") == pl.col("place").max().over(ASKED)).drop("place")


def shown_chunks(chunks: pl.DataFrame, retrievals: pl.DataFrame, place: Mapping[str, str]) -> pl.DataFrame:
    """Texts of the chunks of one partition that went into prompts.

    Args:
        chunks: rows of one partition of `chunks`. Another partition may have cut the same text in other places.
        retrievals: rows of `retrievals`, of any partitions.
        place: partition keys of `chunks`; those that `retrievals` has as columns say which of its rows refer to them.

    Returns:
        columns SHOWN.
    """
    mine = retrievals.filter(*(pl.col(name) == value for name, value in place.items() if name in retrievals.columns))
    kept = last_stage(mine).filter("kept")
    texts = chunks.select("dataset", "item_id", "corpus", "chunk", "text")
    return kept.join(texts, on=["dataset", "item_id", "corpus", "chunk"], how="inner").select(*SHOWN).cast(SHOWN)
