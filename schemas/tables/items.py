"""Layers of the build: `items`, one row per sampled evaluation item, and the contexts of long ones with what is retrieved."""

from typing import get_args

import dataframely as dy
import polars as pl

from schemas.question_types import QUESTION_TYPES, AnswerForm, answered_by
from schemas.tables.columns import OfAskedItem, OfItem
from schemas.vocabulary import LANGUAGES, OptionRole, RetrievalStage

_CHOICES: tuple[AnswerForm, ...] = ("letter", "letters", "order", "ranking", "label", "index")


class Items(OfItem):
    """One row per sampled item. Key: (dataset, item_id). Written by build."""

    source_file = dy.String(min_length=1, description="file that the item was read from")
    source_row = dy.Int64(min=0, description="0-based, header not counted")
    source_row_sha256 = dy.String(regex=r"^[0-9a-f]{64}$", description="hash of that row")
    language = dy.Enum(list(LANGUAGES), description="of its texts")
    question_type = dy.String(min_length=1, description="form of the question: decides prompt, parser and metrics")
    cluster = dy.String(min_length=1, description="what it shares with others; else its own id")
    subset = dy.String(nullable=True, description="part of the dataset that it belongs to; null = none")
    groups = dy.List(dy.Struct({"name": dy.String(), "value": dy.String()}), nullable=True, description="to break down by")
    context = dy.String(nullable=True, description="text that the question is about; null = none")
    question = dy.String(min_length=1, description="what is asked")
    options = dy.List(dy.String(), nullable=True, description="answers to choose from, in their own order; null = none")
    gold_indices = dy.List(dy.Int64(), nullable=True, description="0-based, of the right options; null = none is right")
    references = dy.List(dy.String(), nullable=True, description="right answers as texts; null = none")
    option_points = dy.List(dy.Float64(nullable=True), nullable=True, description="null = options earn no points")
    option_roles = dy.List(dy.Enum(get_args(OptionRole)), nullable=True, description="what each stands for; null = nothing")
    wrong_references = dy.List(dy.String(), nullable=True, description="wrong answers as texts; null = none")
    fixed_order = dy.Bool(description="the options must be shown in this order")
    reference_gold_indices = dy.List(dy.Int64(), nullable=True, description="gold of the released code where it is not ours")

    @dy.rule()
    def choices_have_two_options_or_more(cls) -> pl.Expr:
        needs = pl.col("question_type").is_in(answered_by(*_CHOICES, "scale"))
        return ~needs | (pl.col("options").list.len() > 1).fill_null(value=False)

    @dy.rule()
    def options_are_distinct_and_not_empty(cls) -> pl.Expr:
        options = pl.col("options")
        distinct = options.list.n_unique() == options.list.len()
        filled = options.list.eval(pl.element().str.strip_chars().str.len_chars() > 0).list.all()
        return options.is_null() | (distinct & filled).fill_null(value=False)

    @dy.rule()
    def gold_indices_point_at_options(cls) -> pl.Expr:
        gold = pl.col("gold_indices")
        inside = (gold.list.min() >= 0) & (gold.list.max() < pl.col("options").list.len())
        distinct = gold.list.n_unique() == gold.list.len()
        return ~pl.col("question_type").is_in(answered_by(*_CHOICES)) | (inside & distinct & (gold.list.len() > 0)).fill_null(
            value=False
        )

    @dy.rule()
    def single_choice_has_one_gold(cls) -> pl.Expr:
        of_one = pl.col("question_type").is_in(answered_by("letter", "label", "index"))
        return ~of_one | (pl.col("gold_indices").list.len() == 1).fill_null(value=False)

    @dy.rule()
    def ordered_recall_orders_every_option(cls) -> pl.Expr:
        complete = pl.col("gold_indices").list.len() == pl.col("options").list.len()
        return ~pl.col("question_type").is_in(answered_by("order")) | complete.fill_null(value=False)

    @dy.rule()
    def references_are_given_and_not_empty(cls) -> pl.Expr:
        references = pl.col("references")
        filled = references.list.eval(pl.element().str.strip_chars().str.len_chars() > 0).list.all()
        referenced = [name for name, row in QUESTION_TYPES.items() if row.has_references]
        return ~pl.col("question_type").is_in(referenced) | (filled & (references.list.len() > 0)).fill_null(value=False)

    @dy.rule()
    def every_option_has_points(cls) -> pl.Expr:
        same = pl.col("option_points").list.len() == pl.col("options").list.len()
        return ~pl.col("question_type").is_in(answered_by("scale")) | same.fill_null(value=False)

    @dy.rule()
    def every_option_has_a_role(cls) -> pl.Expr:
        roles = pl.col("option_roles")
        return roles.is_null() | (roles.list.len() == pl.col("options").list.len()).fill_null(value=False)

    @dy.rule()
    def reference_gold_points_at_options(cls) -> pl.Expr:
        gold = pl.col("reference_gold_indices")
        inside = (gold.list.min() >= 0) & (gold.list.max() < pl.col("options").list.len())
        return gold.is_null() | (gold.list.len() == 0) | inside.fill_null(value=False)


class RejectedItems(Items):
    """One row per item that breaks a rule; it stands beside `items`, and nothing validates it. Written by build."""

    broken_rules = dy.List(dy.String(), description="rules that the item breaks")
    reason = dy.String(nullable=True, description="why it could not be built, if it could not")
    rows_in_all = dy.Int32(description="items that the dataset would have if no row broke a rule")


class Contexts(OfItem):
    """One row per long item; the text is in `items`. Key: (dataset, item_id). Written by build."""

    task = dy.String(min_length=1, description="kind of long task, which decides how it is asked")
    query = dy.String(nullable=True, description="whom or what the question is about; null = not stated apart")
    tokens = dy.Int64(min=0, description="length of the context")
    target_tokens = dy.Int64(nullable=True, min=1, description="length that was aimed at; null = as it came")
    needle = dy.String(nullable=True, description="passage to be found; null = none")
    needle_id = dy.String(nullable=True, description="id of the needle; null = it has none")
    needle_start = dy.Int64(nullable=True, min=0, description="characters into the context")
    needle_end = dy.Int64(nullable=True, min=1, description="exclusive")
    needle_token_start = dy.Int64(nullable=True, min=0, description="tokens into the context")
    needle_token_end = dy.Int64(nullable=True, min=1, description="exclusive")
    target_depth_percent = dy.Float64(nullable=True, min=0, max=100, description="depth that was aimed at; null = as it came")
    depth_percent = dy.Float64(nullable=True, min=0, max=100, description="where it begins; null = no needle was placed")
    haystack = dy.String(nullable=True, description="source of the text around the needle; null = none was added")
    needle_style = dy.String(nullable=True, description="how the needle is made to fit the text; null = no needle was placed")
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

    corpus = dy.String(primary_key=True, min_length=1, description="text that it is a piece of")
    chunk = dy.Int64(primary_key=True, min=0, description="in the order of the text")
    text = dy.String(min_length=1, description="the piece")
    start = dy.Int64(min=0, description="characters into the text")
    end = dy.Int64(min=1, description="exclusive")
    token_start = dy.Int64(min=0, description="tokens into the text")
    token_end = dy.Int64(min=1, description="exclusive")
    holds_needle = dy.Bool(nullable=True, description="of all chunks this one holds most of the needle; null = there is none")

    @dy.rule()
    def spans_are_not_empty(cls) -> pl.Expr:
        return (pl.col("start") < pl.col("end")) & (pl.col("token_start") < pl.col("token_end"))


class Retrievals(OfAskedItem):
    """One row per ranked chunk; key: dataset, item_id, model, setting, repetition, query_number, stage, rank. By infer."""

    query_number = dy.Int64(primary_key=True, min=0, description="aspect, step or search; 0 where there is one query")
    stage = dy.Enum(get_args(RetrievalStage), primary_key=True, description="step of the retrieval")
    rank = dy.Int64(primary_key=True, min=0, description="0 = best")
    corpus = dy.String(min_length=1, description="text that the chunk is a piece of, as in `chunks`")
    chunk = dy.Int64(min=0, description="number of the chunk, as in `chunks`")
    query = dy.String(nullable=True, description="null = none: the chunks were ranked against each other")
    dense = dy.Float64(nullable=True, description="cosine of the embeddings; null = not computed")
    bm25 = dy.Float64(nullable=True, description="score by words; null = not computed")
    fused = dy.Float64(nullable=True, description="score of both rankings fused; null = not computed")
    kept = dy.Bool(description="went on to the next stage or into the prompt")
    holds_needle = dy.Bool(nullable=True, description="as in `chunks`")
    enriched = dy.String(nullable=True, description="what a helper wrote about it; null = not asked")
    helper = dy.String(nullable=True, description="model that wrote `enriched`")
    helper_call_key = dy.String(nullable=True, regex=r"^[0-9a-f]{64}$", description="key of its reply in the journal")
