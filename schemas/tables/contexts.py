"""Layers `contexts` (built), `chunks` and `retrievals` (written by infer, for settings that retrieve)."""

from typing import get_args

import dataframely as dy
import polars as pl

from schemas.tables.columns import OfAskedItem, OfItem
from schemas.vocabulary import RetrievalStage


class Contexts(OfItem):
    """One row per long item; the text is in `items`. Key: (dataset, item_id). Written by build."""

    task = dy.String(min_length=1)
    query = dy.String(nullable=True)
    tokens = dy.Int64(min=0)
    target_tokens = dy.Int64(nullable=True, min=1)
    needle = dy.String(nullable=True)
    needle_id = dy.String(nullable=True)
    needle_start = dy.Int64(nullable=True, min=0, description="characters into the context")
    needle_end = dy.Int64(nullable=True, min=1, description="exclusive")
    needle_token_start = dy.Int64(nullable=True, min=0)
    needle_token_end = dy.Int64(nullable=True, min=1, description="exclusive")
    target_depth_percent = dy.Float64(nullable=True, min=0, max=100)
    depth_percent = dy.Float64(nullable=True, min=0, max=100)
    haystack = dy.String(nullable=True)
    needle_style = dy.String(nullable=True)
    renamed = dy.List(dy.List(dy.String()), description="pairs of a proper noun and what it was changed to")

    @dy.rule()
    def a_placed_needle_has_a_span(cls) -> pl.Expr:
        start, end = pl.col("needle_start"), pl.col("needle_end")
        return start.is_null() == end.is_null()

    @dy.rule()
    def spans_are_not_empty(cls) -> pl.Expr:
        characters = (pl.col("needle_start") < pl.col("needle_end")).fill_null(value=True)
        tokens = (pl.col("needle_token_start") < pl.col("needle_token_end")).fill_null(value=True)
        return characters & tokens


class Chunks(OfItem):
    """One row per chunk. Key: (dataset, item_id, corpus, chunk). Written by infer.

    `corpus` says which text it is a piece of: `context`, or, where a model retrieves from what it wrote itself, `written` and the
    numbers of repetition and step.
    """

    corpus = dy.String(primary_key=True, min_length=1)
    chunk = dy.Int64(primary_key=True, min=0, description="in the order of the text")
    text = dy.String(min_length=1)
    start = dy.Int64(min=0, description="characters into the text")
    end = dy.Int64(min=1, description="exclusive")
    token_start = dy.Int64(min=0)
    token_end = dy.Int64(min=1, description="exclusive")
    holds_needle = dy.Bool(nullable=True, description="of all chunks this one holds most of the needle; null = there is none")

    @dy.rule()
    def spans_are_not_empty(cls) -> pl.Expr:
        return (pl.col("start") < pl.col("end")) & (pl.col("token_start") < pl.col("token_end"))


class Retrievals(OfAskedItem):
    """One row per ranked chunk; key: dataset, item_id, model, setting, repetition, query_number, stage, rank. By infer."""

    query_number = dy.Int64(primary_key=True, min=0, description="aspect, step or search; 0 where there is one query")
    stage = dy.Enum(get_args(RetrievalStage), primary_key=True)
    rank = dy.Int64(primary_key=True, min=0, description="0 = best")
    corpus = dy.String(min_length=1)
    chunk = dy.Int64(min=0)
    query = dy.String(nullable=True, description="null = none: the chunks were ranked against each other")
    dense = dy.Float64(nullable=True)
    bm25 = dy.Float64(nullable=True)
    fused = dy.Float64(nullable=True)
    kept = dy.Bool(description="went on to the next stage or into the prompt")
    holds_needle = dy.Bool(nullable=True)
    enriched = dy.String(nullable=True, description="what a helper wrote about it; null = not asked")
    helper = dy.String(nullable=True, description="model that wrote `enriched`")
    helper_call_key = dy.String(nullable=True, regex=r"^[0-9a-f]{64}$", description="key of its reply in the journal")
