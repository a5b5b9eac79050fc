"""Reduce item scores to raw scores, one per model, dataset, method, metric and setting; normalise these to 0-100, algorithm 1."""

from collections.abc import Callable
from functools import partial

import polars as pl

from schemas.errors import ScoringError
from schemas.metrics import Metric, Reduction, reduced_by
from tasks.lake.frames import sort_keys
from tasks.scoring.aggregation import sum_by
from tasks.scoring.label_scores import STATUS, bias_scores, macro_f1, micro_f1, preference_scores
from tasks.scoring.normalisation import plain_number, scale
from tasks.scoring.tree import Tree
from tasks.statistics.sums import exact_sum, fixed_point_sum, from_fixed_point

KEY = ["model", "dataset", "method", "metric", "setting"]
COUNTED = ["scored", "unparsed"]
"""Statuses that enter a score; an unparsed reply counts as wrong."""

IS_MISSING = ~STATUS.is_in([*COUNTED, "not_counted"])

MEAN = exact_sum(pl.col("value")) / pl.len()


def label_metrics() -> list[Metric]:
    """List the metrics whose dataset scores are counted from labels of all items together."""
    return reduced_by("macro_f1", "micro_f1", "binary_f1", "bias", "preference")


def average_parts(item_scores: pl.LazyFrame) -> pl.LazyFrame:
    """Put an item of several parts into one row per repetition: the mean of the parts that count.

    It is missing if a part of it is, since parts may be of different difficulty: what is left would be compared with the whole of
    others. Else its status is the first of ITEM_STATUSES that a part has. Parts stay rows of their own under the metrics of
    label_metrics(), which count labels and not items.

    Returns: rows of `item_scores`, as they are if no item has parts; else what scores are not made of is null.
    """
    if not _differ(item_scores, part=pl.lit("")):
        return item_scores
    in_parts = (pl.col("part") != "") & ~pl.col("metric").is_in(label_metrics())
    value, parts = pl.col("value"), item_scores.filter(in_parts).group_by(*KEY, "item_id", "repetition")
    lost = STATUS.filter(IS_MISSING).min()
    mean = pl.when(lost.is_null() & (value.count() > 0)).then(exact_sum(value) / value.count())
    status = pl.coalesce(lost, STATUS.min())
    whole = parts.agg(pl.col("cluster").first(), value=mean, status=status).with_columns(part=pl.lit(""))
    return pl.concat([item_scores.filter(~in_parts), whole], how="diagonal")


def reduce_item_scores(item_scores: pl.LazyFrame) -> pl.DataFrame:
    """Reduce items, in any order, to raw scores, E_raw of the paper: rows of `raw_scores` without interval.

    `value` is the mean of the items' values, or of their clusters' means, as the metric's row says; for F1 metrics the F1 of
    their labels, for scores of bias what tasks.scoring.label_scores makes of them; null where no item was scored. `n_total`
    leaves out items that the metric does not count: fillers, and those of BBQ's other condition.
    """
    shared = _shared_values(item_scores)
    if "part" not in shared:
        item_scores = average_parts(item_scores)
    key = [name for name in KEY if name not in shared]
    sums = sum_by(
        item_scores,
        key,
        total=fixed_point_sum(pl.col("value")),
        n_scored=pl.col("value").count().cast(pl.Int64),
        n_unparsed=(STATUS == "unparsed").sum().cast(pl.Int64),
        n_missing=IS_MISSING.sum().cast(pl.Int64),
    ).collect(engine="streaming")
    is_mean = pl.col("metric").is_in(reduced_by("items")) & (pl.col("n_scored") > 0)
    scores = sums.with_columns(value=pl.when(is_mean).then(from_fixed_point(pl.col("total")) / pl.col("n_scored")))
    if others := _reduce_others(item_scores, sums, key):
        scores = scores.update(pl.concat(others), on=key)
    scores = scores.with_columns(n_total=pl.col("n_scored") + pl.col("n_missing"), **shared)
    return scores.select(*KEY, "value", "n_scored", "n_unparsed", "n_total")


def _shared_values(item_scores: pl.LazyFrame) -> dict[str, pl.Expr]:
    """Return model and setting as far as all rows have the same: to group by each of them takes a tenth of the time.

    And the part "", if no item has parts.
    """
    first = item_scores.select("model", "setting").head(1).collect(engine="streaming")
    values = {**{name: pl.lit(first[name].first(), pl.String) for name in first.columns}, "part": pl.lit("")}

    def shared(*names: str) -> bool:
        return not _differ(item_scores, **{name: values[name] for name in names})

    # One pass over all files does for both, as long as they are alike everywhere.
    both = ("setting", "part") if shared("setting", "part") else ()
    return {name: value for name, value in values.items() if name in both or shared(name)}


def _differ(item_scores: pl.LazyFrame, **values: pl.Expr) -> bool:
    """Whether a row has another value in one of the columns. A reader skips the files whose statistics say that none has."""
    differs = pl.any_horizontal(pl.col(name) != value for name, value in values.items())
    return not item_scores.filter(differs).head(1).select(*values).collect(engine="streaming").is_empty()


def _reduce_others(item_scores: pl.LazyFrame, present: pl.DataFrame, key: list[str]) -> list[pl.DataFrame]:
    """Reduce metrics that are no means over items: key and value. Binary F1 is micro F1 over the positive class alone."""
    reductions: dict[Reduction, Callable[[pl.LazyFrame, list[str]], pl.LazyFrame]] = {
        "clusters": _cluster_means,
        "macro_f1": macro_f1,
        "micro_f1": micro_f1,
        "binary_f1": partial(micro_f1, nothing=1.0),
        "bias": bias_scores,
        "preference": preference_scores,
    }
    frames = []
    for reduction, reduce in reductions.items():
        of_these = pl.col("metric").is_in(reduced_by(reduction))
        if datasets := present.filter(of_these)["dataset"].unique().sort().to_list():
            # Naming the datasets lets the reader skip the files of all others.
            counted = item_scores.filter(pl.col("dataset").is_in(datasets) & of_these & STATUS.is_in(COUNTED))
            frames.append(reduce(counted, key).select(*key, "value"))
    return pl.collect_all(frames, engine="streaming")


def _cluster_means(counted: pl.LazyFrame, key: list[str]) -> pl.LazyFrame:
    return counted.group_by(*key, "cluster").agg(MEAN).group_by(key).agg(MEAN)


SPEC = ["dataset", "method", "metric"]
_VALUE, _KIND, _LOW, _HIGH = pl.col("value"), pl.col("kind"), pl.col("low"), pl.col("high")


def normalise_scores(raw: pl.DataFrame, tree: Tree) -> pl.DataFrame:
    """Put raw scores on 0-100 by the rule the blueprint gives their method. Out of range is an error, never clamped.

    Null stays null; the order of rows is unspecified. ScoringError: a score belongs to no method of the blueprint, lies outside
    its bounds or is an unknown grade.
    """
    scored = raw.join(tree.metrics.drop("weight"), on=SPEC, how="left")
    if not (unknown := scored.filter(_KIND.is_null())).is_empty():
        expected = "a dataset, method and metric the blueprint names"
        raise _refusal(unknown, "a score belongs to no method of the blueprint", expected)
    if not (outside := scored.filter(~_VALUE.is_between(_LOW, _HIGH))).is_empty():
        expected = "between {low:g} and {high:g} ({kind})"
        raise _refusal(outside, "a raw score lies outside what its method allows", expected)
    normalized = _add_points(scored.lazy(), tree).collect()
    if not (strange := normalized.filter((_KIND == "grade") & _VALUE.is_not_null() & pl.col("points").is_null())).is_empty():
        raise _refusal(strange, "a raw score is not a grade of its method", "a grade of the method's table")
    return normalized.select("model", *SPEC, "setting", "n_scored", "n_total", normalized_0_100="points")


def _add_points(scored: pl.LazyFrame, tree: Tree) -> pl.LazyFrame:
    """Add `points`, what a value is worth on 0-100, to rows with the bounds of their metric; null for an unknown grade."""
    graded = scored.with_columns(grade=plain_number(_VALUE)).join(tree.grades.lazy(), on=[*SPEC, "grade"], how="left")
    return graded.with_columns(points=pl.when(_KIND == "grade").then("points").otherwise(scale(_VALUE, _KIND, _LOW, _HIGH)))


def item_points(item_scores: pl.LazyFrame, tree: Tree) -> pl.LazyFrame:
    """Add `points`, what an item's value is worth on 0-100, to rows of `item_scores`.

    Null where there is no value, and where the best score of a dataset lies between what its items can earn (bias): no item is
    right or wrong by it.
    """
    between = pl.col("metric").is_in(reduced_by("bias", "preference")) & (_KIND == "centred")
    metrics = tree.metrics.drop("weight").filter(~between).lazy()
    return _add_points(item_scores.join(metrics, on=SPEC, how="left"), tree)


def _refusal(rows: pl.DataFrame, what: str, expected: str) -> ScoringError:
    """Return what is said of the first row; what is expected may name its columns."""
    row = rows.sort(sort_keys((*SPEC, "model", "setting"))).row(0, named=True)
    return ScoringError(
        what,
        where=f"dataset {row['dataset']}, method {row['method']}, metric {row['metric']}, model {row['model']}",
        expected=expected.format(**row),
        got=f"{row['value']} ({rows.height} such scores)",
        next_step="correct the method's normalisation in the blueprint, or score the replies again",
    )
