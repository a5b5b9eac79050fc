"""Reduce item scores to raw scores: one number per model, dataset, method, metric and setting."""

import polars as pl

from schemas.errors import ScoringError
from schemas.metrics import Reduction, reduced_by
from tasks.scoring.label_scores import (
    GOLD,
    PREDICTED,
    bias_scores,
    macro_f1,
    micro_f1,
    preference_scores,
)
from tasks.scoring.summation import exact_sum

KEY = ["model", "dataset", "method", "metric", "setting"]
LABEL_METRICS = reduced_by("macro_f1", "micro_f1", "binary_f1", "bias", "preference")
"""Metrics of a whole dataset, reduced from the items' labels instead of their values."""

COUNTED = ["scored", "unparsed"]
"""Statuses that enter a score; an unparsed reply counts as wrong."""

STATUS = pl.col("status")
MEAN = exact_sum(pl.col("value")) / pl.len()


def average_parts(item_scores: pl.LazyFrame) -> pl.LazyFrame:
    """Put an item of several parts into one row per repetition: the mean of the parts that were scored.

    It is `scored` if a part of it is, and otherwise the first of ITEM_STATUSES that a part has. Parts stay rows of their own
    under the metrics of LABEL_METRICS, which count labels and not items.

    Returns: rows of `item_scores`, as they are if no item has parts; else what scores are not made of is null.
    """
    in_parts = pl.col("part") != ""
    # A reader skips the files whose statistics say that they have none.
    if item_scores.filter(in_parts).head(1).select("part").collect(engine="streaming").is_empty():
        return item_scores
    in_parts &= ~pl.col("metric").is_in(LABEL_METRICS)
    value, parts = pl.col("value"), item_scores.filter(in_parts).group_by(*KEY, "item_id", "repetition")
    mean = pl.when(value.count() > 0).then(exact_sum(value) / value.count())
    whole = parts.agg(pl.col("cluster").first(), value=mean, status=STATUS.min()).with_columns(part=pl.lit(""))
    return pl.concat([item_scores.filter(~in_parts), whole], how="diagonal")


def reduce_item_scores(item_scores: pl.LazyFrame) -> pl.DataFrame:
    """Reduce items to raw scores, E_raw of the paper.

    Args:
        item_scores: rows of `item_scores`, validated when they were written, in any order.

    Returns:
        Rows of `raw_scores` without interval. `value` is the mean of the items' values, or of their clusters' means, as the
        metric's row says; for F1 metrics the F1 of their labels, for scores of bias what tasks.scoring.label_scores makes of
        them; null where no item was scored. `n_total` leaves out items that the metric does not count: fillers, and those of
        BBQ's other condition.

    Raises:
        ScoringError: if a metric of LABEL_METRICS lacks its labels.
    """
    item_scores = average_parts(item_scores)
    means = reduce_to_means(item_scores).collect(engine="streaming")
    is_other = pl.col("metric").is_in([*LABEL_METRICS, *reduced_by("clusters")])
    others = means.filter(is_other)
    if others.is_empty():
        return means
    # Naming the datasets lets the reader skip the files of all others.
    of_others = item_scores.filter(pl.col("dataset").is_in(others["dataset"].unique().sort().to_list()))
    reduced = pl.concat([_reduce_labels(of_others), _reduce_clusters(of_others)]).rename({"value": "reduced"})
    value = pl.when(is_other).then(pl.col("reduced")).otherwise(pl.col("value"))
    return means.join(reduced, on=KEY, how="left").with_columns(value=value).drop("reduced")


def reduce_to_means(item_scores: pl.LazyFrame) -> pl.LazyFrame:
    """Return the mean value and counts per group: KEY, value (null if nothing was scored), n_scored, n_unparsed, n_total."""
    value = pl.col("value")
    counts = item_scores.group_by(KEY).agg(
        total=exact_sum(value),
        n_scored=value.count().cast(pl.Int64),
        n_unparsed=(STATUS == "unparsed").sum().cast(pl.Int64),
        n_total=(STATUS != "not_counted").sum().cast(pl.Int64),
    )
    mean = pl.when(pl.col("n_scored") > 0).then(pl.col("total") / pl.col("n_scored"))
    return counts.select(*KEY, "n_scored", "n_unparsed", "n_total", value=mean)


def _reduce_clusters(item_scores: pl.LazyFrame) -> pl.DataFrame:
    counted = item_scores.filter(pl.col("metric").is_in(reduced_by("clusters")) & STATUS.is_in(COUNTED))
    return counted.group_by(*KEY, "cluster").agg(MEAN).group_by(KEY).agg(MEAN).collect(engine="streaming")


def _reduce_labels(item_scores: pl.LazyFrame) -> pl.DataFrame:
    """Return scores of the metrics of LABEL_METRICS: KEY and value. Binary F1 is micro F1 over the positive class alone."""
    counted = pl.col("metric").is_in(LABEL_METRICS) & STATUS.is_in(COUNTED)
    items = item_scores.filter(counted).select(*KEY, "item_id", "value", STATUS, PREDICTED, GOLD).collect(engine="streaming")
    # An unparsed reply predicts no label; anything else without labels is a mistake of ours.
    broken = items.filter(GOLD.is_null() | (PREDICTED.is_null() & (STATUS == "scored")))
    if not broken.is_empty():
        raise _no_labels(broken)

    def of(reduction: Reduction) -> pl.LazyFrame:
        return items.lazy().filter(pl.col("metric").is_in(reduced_by(reduction)))

    reduced = [
        macro_f1(of("macro_f1"), KEY),
        micro_f1(of("micro_f1"), KEY),
        micro_f1(of("binary_f1"), KEY, nothing=1.0),
        bias_scores(of("bias"), KEY),
        preference_scores(of("preference"), KEY),
    ]
    return pl.concat(pl.collect_all(reduced, engine="streaming"))


def _no_labels(items: pl.DataFrame) -> ScoringError:
    row = items.sort(*KEY, "item_id").row(0, named=True)
    place = f"dataset {row['dataset']}, method {row['method']}, metric {row['metric']}"
    return ScoringError(
        "an item lacks the labels its metric is computed from",
        where=f"{place}, model {row['model']}, item {row['item_id']}",
        expected="the labels predicted and the right ones",
        got="null",
        next_step="score the dataset's replies again",
    )
