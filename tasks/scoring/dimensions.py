"""Reduce a judge's ratings to one mean per dimension, with its interval, in points of the dimension's own scale."""

from collections.abc import Mapping
from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Judgements
from schemas.tables.scores import DimensionScores
from tasks.scoring.clusters import place_clusters
from tasks.scoring.reduction import MEAN
from tasks.scoring.resampling import draw_weights
from tasks.scoring.uncertainty import LIMITS, Resampling, mean_limits

DIMENSIONS_VERSION = "2"
"""Bumped when means of dimensions are computed differently."""

KEY = ["model", "dataset", "setting", "rubric", "dimension"]
ASKED = [*KEY, "judge", "lowest", "highest"]
"""By whom a dimension was rated, and on which scale."""


def dimension_scores_rows(rows: Mapping[str, pl.DataFrame], settings: Mapping[str, Any], _own: object) -> pl.DataFrame:
    """Compute rows of `dimension_scores` of those of its parents, by layer, with the settings of its partition."""
    judgements, items = Judgements.cast(rows["judgements"]), Items.cast(rows["items"])
    return score_dimensions(judgements, items, Resampling(settings["resamples"], settings["seed"]))


def score_dimensions(
    judgements: dy.DataFrame[Judgements], items: dy.DataFrame[Items], resampling: Resampling
) -> dy.DataFrame[DimensionScores]:
    """Average ratings over a judge's repetitions, then an item's parts, then items; a rating that did not come is left out.

    Intervals are those of the mean in `tasks.scoring.uncertainty`: clusters of a dataset's items are drawn, by the same seed.
    There is a row per model, dataset, setting, rubric and dimension that a judge was asked for, sorted by key.
    """
    answers = rate_answers(judgements)
    counts = answers.group_by(ASKED).agg(n_answers=pl.col("value").count().cast(pl.Int64), n_total=pl.len().cast(pl.Int64))
    rated = rate_items(answers).join(items.select("dataset", "item_id", "cluster"), on=["dataset", "item_id"])
    means = rated.group_by(KEY).agg(MEAN, n_clusters=pl.col("cluster").n_unique().cast(pl.Int64))
    limits = [pl.DataFrame(schema={**rated.select(KEY).schema, **LIMITS})]
    for (dataset,), rows in rated.partition_by("dataset", as_dict=True).items():
        placed = place_clusters(rows)
        weights = draw_weights(str(dataset), placed["place"].n_unique(), resampling.resamples, resampling.seed)
        limits.append(mean_limits(placed, KEY, weights))
    scores = counts.join(means, on=KEY, how="left").join(pl.concat(limits), on=KEY, how="left")
    scores = scores.rename({"value": "mean", "lowest": "scale_min", "highest": "scale_max"})
    known = scores.select(DimensionScores.column_names()).with_columns(pl.col("n_clusters").fill_null(0))
    return DimensionScores.validate(known.sort(DimensionScores.primary_key()))


def put_on_scale() -> dict[str, pl.Expr]:
    """Return `score` and its limits on 0-100 from columns of `dimension_scores`: 100 x (value - lowest) / (highest - lowest)."""
    low, high = pl.col("scale_min"), pl.col("scale_max")
    return {to: (pl.col(of) - low) / (high - low) * 100 for to, of in (("score", "mean"), *zip(LIMITS, LIMITS, strict=True))}


def rate_answers(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return `value`, the mean of a judge's repetitions, for each answer and dimension (ASKED); null = no rating came."""
    return judgements.group_by(*ASKED, "item_id", "repetition", "part").agg(value=pl.col("rating").mean())


def rate_items(answers: pl.DataFrame) -> pl.DataFrame:
    """Return `value`, the mean over an item's parts that have a rating, for each item, repetition and dimension (KEY)."""
    return answers.drop_nulls("value").group_by(*KEY, "item_id", "repetition").agg(MEAN)
