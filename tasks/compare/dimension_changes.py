"""Compare the means of rated dimensions between two runs, over the items rated in both."""

from collections.abc import Iterator

import polars as pl

from schemas.changes import ScoreDifference
from tasks.scoring.clusters import place_clusters
from tasks.scoring.dimensions import rate_answers, rate_items
from tasks.scoring.reduction import MEAN
from tasks.scoring.resampling import draw_weights
from tasks.scoring.uncertainty import Resampling, limits_of, replicate

DIMENSION = ["dataset", "rubric", "dimension", "lowest", "highest"]
AFTER = "is_after"


def dimension_changes(
    before: pl.DataFrame, after: pl.DataFrame, items: pl.DataFrame, resampling: Resampling
) -> Iterator[ScoreDifference]:
    """Yield changes of the dimensions that both runs rated on the same scale, over the items with a rating in both.

    Of an item asked several times the mean counts. The interval is a paired bootstrap: clusters of items are drawn, the same ones
    for both runs. Source of the rule it serves: docs/decisions/0017.

    Args:
        before: rows of `judgements` of one model and setting by the judge whose ratings count, in the earlier run.
        after: the same in the later run.
        items: that are the same in both runs: `dataset`, `item_id` and `cluster`.
        resampling: number of resamples (0 = no intervals), and seed.

    Returns:
        Means in points of the dimension's scale, by dataset and dimension.
    """
    rated = pl.concat([_rate(rows).with_columns(pl.lit(is_after).alias(AFTER)) for rows, is_after in ((before, 0), (after, 1))])
    in_both = pl.col(AFTER).n_unique().over(*DIMENSION, "item_id") > 1
    both = rated.filter(in_both).join(items, on=["dataset", "item_id"])
    for (dataset,), rows in sorted(both.partition_by("dataset", as_dict=True).items()):
        yield from _changes(str(dataset), rows, resampling)


def _rate(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return DIMENSION, `item_id` and `value`, the mean over repetitions."""
    scales = judgements.select(DIMENSION).unique()
    rated = rate_items(rate_answers(judgements)).group_by("dataset", "rubric", "dimension", "item_id").agg(MEAN)
    return rated.join(scales, on=["dataset", "rubric", "dimension"]).select(*DIMENSION, "item_id", "value")


def _changes(dataset: str, rows: pl.DataFrame, resampling: Resampling) -> Iterator[ScoreDifference]:
    """Yield changes of a dataset's dimensions; clusters are drawn once for all of them."""
    dimensions = rows.select(DIMENSION).unique().sort(DIMENSION).with_row_index("number")
    placed = place_clusters(rows.join(dimensions, on=DIMENSION)).with_columns(system=2 * pl.col("number") + pl.col(AFTER))
    weights = draw_weights(dataset, placed["place"].n_unique(), resampling.resamples, resampling.seed)
    replicates = replicate(placed, "judged_rating", 2 * dimensions.height, weights)
    own, change = (limits_of(some).to_dicts() for some in (replicates[::2], replicates[1::2] - replicates[::2]))
    means = placed.group_by("system").agg(MEAN, n_items=pl.len()).sort("system").to_dicts()
    for row in dimensions.to_dicts():
        was, now = means[2 * row["number"]], means[2 * row["number"] + 1]
        low = own[row["number"]]["ci_low"]
        yield ScoreDifference(
            what=f"{dataset}: {row['dimension']}",
            scale=(row["lowest"], row["highest"]),
            rubric=row["rubric"],
            before=was["value"],
            after=now["value"],
            change=now["value"] - was["value"],
            **change[row["number"]],
            allowed=None if low is None else max(0.0, was["value"] - low),
            n_items=was["n_items"],
            note=None if low is not None else "no interval: the change is not judged",
        )
