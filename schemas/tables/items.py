"""Layer `items`: one row per sampled evaluation item."""

from typing import get_args

import dataframely as dy
import polars as pl

from schemas.question_types import QUESTION_TYPES, AnswerForm, answered_by
from schemas.tables.columns import OfItem
from schemas.vocabulary import LANGUAGES, OptionRole

_CHOICES: tuple[AnswerForm, ...] = ("letter", "letters", "order", "ranking", "label", "index")


class Items(OfItem):
    """Key: (dataset, item_id). Written by build."""

    source_file = dy.String(min_length=1)
    source_row = dy.Int64(min=0, description="0-based, header not counted")
    source_row_sha256 = dy.String(regex=r"^[0-9a-f]{64}$")
    language = dy.Enum(list(LANGUAGES))
    question_type = dy.String(min_length=1)
    cluster = dy.String(min_length=1, description="what it shares with others; else its own id")
    subset = dy.String(nullable=True)
    groups = dy.List(
        dy.Struct({"name": dy.String(), "value": dy.String()}),
        nullable=True,
        description="to break down by",
    )
    context = dy.String(nullable=True)
    question = dy.String(min_length=1)
    options = dy.List(dy.String(), nullable=True)
    gold_indices = dy.List(dy.Int64(), nullable=True)
    references = dy.List(dy.String(), nullable=True)
    option_points = dy.List(dy.Float64(nullable=True), nullable=True)
    option_roles = dy.List(dy.Enum(get_args(OptionRole)), nullable=True)
    wrong_references = dy.List(dy.String(), nullable=True)
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
