"""Score by length of the context and depth of the needle in it: the grid of a heat map.

Bins are the same for every model, so that grids can be laid side by side. Where a dataset was built on a grid of lengths or of
depths, the targets are the bins. Otherwise lengths fall between 2,000, 4,000, 8,000, ... 128,000 tokens and depths into fifths; a
bin holds its lower limit and not its upper one, except that the last fifth holds 100 percent.

Targets that were drawn item by item are no grid. A grid's targets come back: every item has one, and on average each is that of
two items or more.
"""

from collections.abc import Mapping

import dataframely as dy
import polars as pl

from schemas.metrics import sort_keys
from schemas.tables.comparisons import NeedleScores
from tasks.scoring.normalisation import plain_number
from tasks.scoring.reduction import label_metrics
from tasks.scoring.summation import exact_sum

NEEDLES_VERSION = "1"
"""Bumped when grids of needles are computed differently."""

LENGTHS = (0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
"""Lower limits of the bins of lengths, in tokens; the last bin is open."""

DEPTHS = (0.0, 20.0, 40.0, 60.0, 80.0)
"""Lower limits of the bins of depths, in percent."""

KEY = ["model", "setting", "dataset", "method", "metric"]
CELL = ["length_tokens", "length_bin", "depth_percent", "depth_bin"]


def needle_scores_rows(rows: Mapping[str, pl.DataFrame], _settings: object, _own: object) -> pl.DataFrame:
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
        .group_by(*KEY, "item_id")
        .agg(value=pl.when(value.count() > 0).then(exact_sum(value) / value.count()))
    )
    cells = per_item.join(places, on=["dataset", "item_id"]).group_by(*KEY, *CELL)
    sums = cells.agg(total=exact_sum(value), n=value.count().cast(pl.Int64), n_total=pl.len().cast(pl.Int64))
    mean = pl.when(pl.col("n") > 0).then(pl.col("total") / pl.col("n"))
    grid = sums.select(*KEY, *CELL, "n", "n_total", value=mean).collect()
    return NeedleScores.validate(grid.select(NeedleScores.column_names()).sort(sort_keys(NeedleScores.primary_key())))


def place_needles(contexts: pl.DataFrame) -> pl.DataFrame:
    """Return the cell of every item that has a needle at a known depth: dataset, item_id, CELL."""
    placed = contexts.filter(pl.col("depth_percent").is_not_null())
    by_length, by_depth = (_is_grid(name).over("dataset") for name in ("target_tokens", "target_depth_percent"))
    low = _lower("tokens", LENGTHS).cast(pl.Int64)
    high = low.replace_strict(dict(zip(LENGTHS, [*LENGTHS[1:], None], strict=True)), return_dtype=pl.Int64)
    open_ended = pl.format("{} and more", low)
    lengths = pl.when(high.is_null()).then(open_ended).otherwise(pl.format("{} to {}", low, high))
    fifth = _lower("depth_percent", DEPTHS)
    target, depth = pl.col("target_tokens"), pl.col("target_depth_percent")
    return placed.select(
        "dataset",
        "item_id",
        length_bin=pl.when(by_length).then(target.cast(pl.String)).otherwise(lengths),
        length_tokens=pl.when(by_length).then(target).otherwise(low),
        depth_bin=pl.when(by_depth)
        .then(pl.format("{} %", plain_number(depth)))
        .otherwise(pl.format("{} to {} %", fifth.cast(pl.Int64), fifth.cast(pl.Int64) + 20)),
        depth_percent=pl.when(by_depth).then(depth).otherwise(fifth),
    )


def _is_grid(column: str) -> pl.Expr:
    """Return whether a column of targets is a grid's."""
    target = pl.col(column)
    return target.is_not_null().all() & (2 * target.n_unique() <= pl.len())


def _lower(column: str, limits: tuple[float, ...]) -> pl.Expr:
    """Return lower limit of the bin a number falls into."""
    return pl.max_horizontal(pl.when(pl.col(column) >= limit).then(pl.lit(limit)) for limit in limits)
