"""Break scores down: ratings by dimension; values by length of the context and depth of the needle in it, a heat map's grid.

A dimension's mean comes with its interval, in points of the dimension's own scale.

Bins of a grid are the same for every model, so that grids can be laid side by side. Where a dataset was built on a grid of
lengths or of depths, the targets are the bins. Otherwise lengths fall between 2,000, 4,000, 8,000, ... 128,000 tokens and depths
into fifths; a bin holds its lower limit and not its upper one, except that the last fifth holds 100 percent.

Targets that were drawn item by item are no grid. A grid's targets come back: every item has one, and on average each is that of
two items or more.
"""

from collections.abc import Mapping

import dataframely as dy
import polars as pl

from schemas.roles import PEOPLE
from schemas.tables.comparisons import NeedleScores
from schemas.tables.items import Items
from schemas.tables.responses import Judgements
from schemas.tables.scores import DimensionScores
from tasks.lake.frames import sort_keys
from tasks.scoring.normalisation import plain_number
from tasks.scoring.reduction import MEAN, label_metrics
from tasks.scoring.uncertainty import LIMITS, mean_limits
from tasks.statistics.sums import exact_sum

DIMENSIONS_VERSION = "3"
"""Bumped when means of dimensions are computed differently."""

DIMENSION = ["model", "dataset", "setting", "rubric", "dimension"]
RATED = [*DIMENSION, "judge"]
RATED_BY = [*RATED, "lowest", "highest"]
"""By whom a dimension was rated, and on which scale."""


def dimension_scores_rows(rows: Mapping[str, pl.DataFrame], _own: object) -> pl.DataFrame:
    """Compute rows of `dimension_scores` of those of its parents, by layer."""
    return score_dimensions(Judgements.cast(rows["judgements"]), Items.cast(rows["items"]))


def score_dimensions(judgements: dy.DataFrame[Judgements], items: dy.DataFrame[Items]) -> dy.DataFrame[DimensionScores]:
    """Average ratings over a judge's repetitions, then an item's parts, then items; a rating that did not come is left out.

    Intervals are those of `tasks.scoring.uncertainty`, between the ends of the scale and over clusters of items.
    There is a row per model, dataset, setting, rubric, dimension and judge that was asked for it, sorted by key.
    """
    answers = rate_answers(judgements)
    counts = answers.group_by(RATED_BY).agg(n_answers=pl.col("value").count().cast(pl.Int64), n_total=pl.len().cast(pl.Int64))
    rated = rate_items(answers).join(items.select("dataset", "item_id", "cluster"), on=["dataset", "item_id"])
    means = rated.group_by(RATED).agg(MEAN, n_clusters=pl.col("cluster").n_unique().cast(pl.Int64))
    limits = [pl.DataFrame(schema={**rated.select(RATED).schema, **LIMITS})]
    scales = answers.select(RATED_BY).unique(RATED)
    for (_, low, high), rows in rated.join(scales, on=RATED).partition_by("dataset", "lowest", "highest", as_dict=True).items():
        limits.append(mean_limits(rows, RATED, (float(low), float(high))))
    scores = counts.join(means, on=RATED, how="left").join(pl.concat(limits), on=RATED, how="left")
    scores = scores.rename({"value": "mean", "lowest": "scale_min", "highest": "scale_max"})
    scores = scores.select(DimensionScores.column_names()).with_columns(pl.col("n_clusters").fill_null(0))
    return DimensionScores.validate(scores.sort(DimensionScores.primary_key()))


def judges_first(scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `dimension_scores` of one run or, by `run`, of several; of people where no judge rated the same."""
    same = [*DIMENSION, *({"run"} & set(scores.columns))]
    return scores.filter((pl.col("judge") != PEOPLE) | (pl.len().over(same) == 1))


def put_on_scale() -> dict[str, pl.Expr]:
    """Return `score` and its limits on 0-100 from columns of `dimension_scores`: 100 x (value - lowest) / (highest - lowest)."""
    low, high = pl.col("scale_min"), pl.col("scale_max")
    return {to: (pl.col(of) - low) / (high - low) * 100 for to, of in (("score", "mean"), *zip(LIMITS, LIMITS, strict=True))}


def rate_answers(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return `value`, the mean of a judge's repetitions, for each answer and dimension (RATED_BY); null = no rating came."""
    return judgements.group_by(*RATED_BY, "item_id", "repetition", "part").agg(value=pl.col("rating").mean())


def rate_items(answers: pl.DataFrame) -> pl.DataFrame:
    """Return `value`, the mean over an item's parts that have a rating, for each item, repetition and dimension (RATED)."""
    return answers.drop_nulls("value").group_by(*RATED, "item_id", "repetition").agg(MEAN)


NEEDLES_VERSION = "1"
"""Bumped when grids of needles are computed differently."""

LENGTHS = (0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
"""Lower limits of the bins of lengths, in tokens; the last bin is open."""

DEPTHS = (0.0, 20.0, 40.0, 60.0, 80.0)
"""Lower limits of the bins of depths, in percent."""

CELL_KEY = ["model", "setting", "dataset", "method", "metric"]
CELL = ["length_tokens", "length_bin", "depth_percent", "depth_bin"]


def needle_scores_rows(rows: Mapping[str, pl.DataFrame], _own: object) -> pl.DataFrame:
    """Compute rows of `needle_scores` of those of its parents, by layer; none if no item has a needle."""
    return needle_grid(rows["item_scores"].lazy(), rows["contexts"])


def needle_grid(item_scores: pl.LazyFrame, contexts: pl.DataFrame) -> dy.DataFrame[NeedleScores]:
    """Return the mean value per length and depth, over items, of an item's repetitions the mean.

    Metrics of a whole dataset (F1, bias) are left out, they have no value per item; so are items without a needle at a known
    depth. `length_tokens` and `depth_percent` are the target or the bin's lower limit, to sort and place cells by; `length_bin`
    and `depth_bin` are their labels.
    """
    places = place_needles(contexts).lazy()
    counted = (pl.col("status") != "not_counted") & ~pl.col("metric").is_in(label_metrics())
    value = pl.col("value")
    per_item = (
        item_scores.filter(counted)
        .group_by(*CELL_KEY, "item_id")
        .agg(value=pl.when(value.count() > 0).then(exact_sum(value) / value.count()))
    )
    cells = per_item.join(places, on=["dataset", "item_id"]).group_by(*CELL_KEY, *CELL)
    sums = cells.agg(total=exact_sum(value), n=value.count().cast(pl.Int64), n_total=pl.len().cast(pl.Int64))
    mean = pl.when(pl.col("n") > 0).then(pl.col("total") / pl.col("n"))
    grid = sums.select(*CELL_KEY, *CELL, "n", "n_total", value=mean).collect()
    return NeedleScores.validate(grid.select(NeedleScores.column_names()).sort(sort_keys(NeedleScores.primary_key())))


def place_needles(contexts: pl.DataFrame) -> pl.DataFrame:
    """Return the cell of every item that has a needle at a known depth: dataset, item_id, CELL."""
    placed = contexts.filter(pl.col("depth_percent").is_not_null())
    target, target_depth = pl.col("target_tokens"), pl.col("target_depth_percent")
    are_grids = (each.is_not_null().all() & (2 * each.n_unique() <= pl.len()) for each in (target, target_depth))
    by_length, by_depth = (is_grid.over("dataset") for is_grid in are_grids)
    low = _lower("tokens", LENGTHS).cast(pl.Int64)
    high = low.replace_strict(dict(zip(LENGTHS, [*LENGTHS[1:], None], strict=True)), return_dtype=pl.Int64)
    lengths = pl.coalesce(pl.format("{} to {}", low, high), pl.format("{} and more", low))
    fifth = _lower("depth_percent", DEPTHS)
    return placed.select(
        "dataset",
        "item_id",
        length_bin=pl.when(by_length).then(target.cast(pl.String)).otherwise(lengths),
        length_tokens=pl.when(by_length).then(target).otherwise(low),
        depth_bin=pl.when(by_depth)
        .then(pl.format("{} %", plain_number(target_depth)))
        .otherwise(pl.format("{} to {} %", fifth.cast(pl.Int64), fifth.cast(pl.Int64) + 20)),
        depth_percent=pl.when(by_depth).then(target_depth).otherwise(fifth),
    )


def _lower(column: str, limits: tuple[float, ...]) -> pl.Expr:
    """Return lower limit of the bin a number falls into."""
    return pl.max_horizontal(pl.when(pl.col(column) >= limit).then(pl.lit(limit)) for limit in limits)
