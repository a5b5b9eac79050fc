"""Ratings by people, as a file holds them: one row per rating."""

import dataframely as dy
import polars as pl

UNIT = ["source", "system", "unit_id"]
"""Columns that name what was rated."""


class HumanRatings(dy.Schema):
    """Key: (source, system, unit_id, turn, dimension, rater). A file may lack columns that would be empty or true throughout."""

    source = dy.String(min_length=1, description="dataset")
    unit_id = dy.String(min_length=1, description="item; of an item with several answers ITEM/PART")
    turn = dy.Int64(nullable=True, description="of a dialogue; null = the whole")
    cluster_id = dy.String(nullable=True, description="what units share; null = the unit alone")
    system = dy.String(nullable=True, description="who wrote it; null = the only system of the run")
    dimension = dy.String(min_length=1)
    higher_is_better = dy.Bool()
    rater = dy.String(min_length=1)
    rater_kind = dy.Enum(["expert", "crowd", "user", "aggregate", "judge"])
    rater_known = dy.Bool(description="false = `rater` is a running number per unit")
    rating = dy.Float64(nullable=True, description="null = not given, or not applicable")
    scale = dy.List(dy.Float64(), description="all ratings that could be given, ascending")
    text_sha256 = dy.String(nullable=True, description="of the very text that was rated")

    @dy.rule()
    def scale_ascends(cls) -> pl.Expr:
        return (pl.col("scale").list.diff(null_behavior="drop").list.min() > 0).fill_null(value=False)

    @dy.rule()
    def rating_is_on_its_scale(cls) -> pl.Expr:
        rating, scale = pl.col("rating"), pl.col("scale")
        mean = (pl.col("rater_kind") == "aggregate") & rating.is_between(scale.list.min(), scale.list.max())
        return rating.is_null() | scale.list.contains(rating) | mean

    @dy.rule()
    def rated_once(cls) -> pl.Expr:
        return pl.len().over([*UNIT, "turn", "dimension", "rater"]) == 1

    @dy.rule()
    def one_cluster_per_unit(cls) -> pl.Expr:
        return pl.col("cluster_id").drop_nulls().n_unique().over("source", "unit_id") <= 1

    @dy.rule()
    def one_scale_and_direction_per_dimension(cls) -> pl.Expr:
        return pl.struct("scale", "higher_is_better").n_unique().over("source", "dimension") == 1
