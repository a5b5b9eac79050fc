"""Reduce item scores to raw scores: one number per model, dataset, method, metric and setting."""

import polars as pl

from schemas.errors import ScoringError
from schemas.vocabulary import Metric
from tasks.scoring.label_scores import (
    BIAS_METRICS,
    GOLD,
    PREDICTED,
    PREFERENCE_METRICS,
    bias_scores,
    macro_f1,
    micro_f1,
    preference_scores,
)
from tasks.scoring.summation import exact_sum

KEY = ["model", "dataset", "method", "metric", "setting"]
LABEL_METRICS = ["macro_f1", "micro_f1", "binary_f1", *BIAS_METRICS, *PREFERENCE_METRICS]
"""Metrics of a whole dataset, reduced from the items' labels instead of their values."""

COUNTED = ["scored", "unparsed"]
"""Statuses that enter a score; an unparsed reply counts as wrong."""

STATUS = pl.col("status")


def reduce_item_scores(item_scores: pl.LazyFrame) -> pl.DataFrame:
    """Reduce items to raw scores, E_raw of the paper.

    Args:
        item_scores: rows of `item_scores`, validated when they were written, in any order.

    Returns:
        Rows of `raw_scores` without interval. `value` is the mean of the items' values, in [0, 1]; for F1 metrics the F1 of their
        labels, for scores of bias what tasks.scoring.label_scores makes of them; null where no item was scored. `n_total` leaves
        out items that the metric does not count: fillers, and those of BBQ's other condition.

    Raises:
        ScoringError: if a metric of LABEL_METRICS lacks its labels.
    """
    means = reduce_to_means(item_scores).collect(engine="streaming")
    labelled = means.filter(pl.col("metric").is_in(LABEL_METRICS))
    if labelled.is_empty():
        return means
    # Naming the datasets lets the reader skip the files of all others.
    datasets = labelled["dataset"].unique().sort().to_list()
    reduced = _reduce_labels(item_scores.filter(pl.col("dataset").is_in(datasets))).rename({"value": "reduced"})
    value = pl.when(pl.col("metric").is_in(LABEL_METRICS)).then(pl.col("reduced")).otherwise(pl.col("value"))
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


def _reduce_labels(item_scores: pl.LazyFrame) -> pl.DataFrame:
    """Return scores of the metrics of LABEL_METRICS: KEY and value. Binary F1 is micro F1 over the positive class alone."""
    counted = pl.col("metric").is_in(LABEL_METRICS) & STATUS.is_in(COUNTED)
    items = item_scores.filter(counted).select(*KEY, "item_id", "value", STATUS, PREDICTED, GOLD).collect(engine="streaming")
    # An unparsed reply predicts no label; anything else without labels is a mistake of ours.
    broken = items.filter(GOLD.is_null() | (PREDICTED.is_null() & (STATUS == "scored")))
    if not broken.is_empty():
        raise _no_labels(broken)

    def of(*metrics: Metric) -> pl.LazyFrame:
        return items.lazy().filter(pl.col("metric").is_in(metrics))

    reduced = [
        macro_f1(of("macro_f1"), KEY),
        micro_f1(of("micro_f1"), KEY),
        micro_f1(of("binary_f1"), KEY, nothing=1.0),
        bias_scores(of(*BIAS_METRICS), KEY),
        preference_scores(of(*PREFERENCE_METRICS), KEY),
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
