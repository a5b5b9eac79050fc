"""Compute 95 % intervals of raw scores and totals, over clusters of items, most of which are single items.

Method: tasks.statistics.intervals. Every metric, F1 and bias too, is computed anew without one cluster each; repetitions of an
item stay together. A total sums over datasets, which are independent of each other; metrics of a dataset vary together. Which
datasets are there is not varied.

A metric that is best in the middle of its range (bias) has the interval of its raw score put on 0-100: where the best score lies
in it, 100 is the upper limit. A raw score with fewer than two scored clusters has no interval. Nor has a total that rests on such
a score, or on a grade, whose table does not say what lies between grades.

The design effect is given for means over items; for other metrics the items would have to be left out a second time, one by one.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from schemas.metrics import METRICS, Metric
from tasks.lake.frames import sort_keys
from tasks.scoring.aggregation import SYSTEM
from tasks.scoring.label_scores import FOLDED, bias_replicates, preference_replicates
from tasks.scoring.normalisation import normalise_array, normalise_limits, slope
from tasks.scoring.reduction import COUNTED, KEY, MEAN, SPEC, average_parts
from tasks.scoring.tree import Tree
from tasks.statistics.intervals import Addend, Ends, Spread, Term, addend_of, limits, spread_of, sum_limits
from tasks.statistics.resampling import (
    Draws,
    Floats,
    Grid,
    LeaveOneOut,
    design_effects,
    macro_f1_replicates,
    mean_replicates,
    micro_f1_replicates,
    place_clusters,
)

_FEWEST_CLUSTERS = 2
LIMITS = {"ci_low": pl.Float64, "ci_high": pl.Float64}
LIMITS_OF_GATE = {f"gate_{name}": kind for name, kind in LIMITS.items()}
OF_CLUSTERS = {"standard_error": pl.Float64, "n_clusters": pl.Int64, "design_effect": pl.Float64}
_BATCH_ROWS = 2_000_000
"""Item scores held in memory at once."""


def score_intervals(
    item_scores: pl.LazyFrame, raw: pl.DataFrame, contributions: pl.DataFrame, tree: Tree
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return intervals of all raw scores and totals, null where none is given.

    Args:
        item_scores: rows of `item_scores`.
        raw: the raw scores made of them.
        contributions: of both scopes.
        tree: of the blueprint.

    Returns:
        KEY, OF_CLUSTERS and LIMITS, in the metric's unit; SYSTEM, LIMITS before the veto, and LIMITS_OF_GATE.
    """
    systems = raw.select(SYSTEM).unique().sort(SYSTEM).with_row_index("system")
    scored = raw.filter(pl.col("value").is_not_null()).join(contributions, on=KEY, how="left").join(systems, on=SYSTEM)
    leaves = scored.join(tree.metrics, on=SPEC).sort("system").partition_by(SPEC, as_dict=True)
    frames = [pl.DataFrame(schema={**scored.select(KEY).schema, **OF_CLUSTERS, **LIMITS})]
    totals, gates = _Sums(systems.height), _Sums(systems.height)
    for dataset, rows in scored_rows(item_scores, scored, systems):
        placed, measured = place_clusters(rows), list[_Scored]()
        for method, metric in rows.select("method", "metric").unique().sort(sort_keys(("method", "metric"))).iter_rows():
            leaf = leaves[dataset, method, metric]
            own = placed.filter((pl.col("method") == method) & (pl.col("metric") == metric))
            scores, clusters = _by_system(leaf, "value", systems.height), placed["place"].n_unique()
            measured.append(_Scored(leaf, _vary(own, metric, scores, clusters, METRICS[metric].bounds)))
            frames.append(_describe(leaf, own, measured[-1].spread))
        # No dataset is in both scopes.
        for sums, of_gate in ((totals, False), (gates, True)):
            if any(each.leaf.filter(of_gate=of_gate).height for each in measured):
                sums.add(measured)
    ends = zip((*LIMITS, *LIMITS_OF_GATE), (*totals.limits(), *gates.limits()), strict=True)
    return pl.concat(frames), systems.drop("system").with_columns(pl.Series(name, end, nan_to_null=True) for name, end in ends)


class _Scored(NamedTuple):
    """Scores of a metric: rows of Tree.metrics with `system`, `value` and `contribution`, and how they vary."""

    leaf: pl.DataFrame
    spread: Spread


class _Sums:
    """Totals of all systems, to which datasets are added."""

    def __init__(self, systems: int) -> None:
        self._parts: list[Addend] = []
        self._scores, self._terms, self._folds = np.zeros(systems), np.zeros(systems), False
        self._only: Ends = (np.full(systems, np.nan), np.full(systems, np.nan))

    def add(self, measured: Sequence[_Scored]) -> None:
        """Add the metrics of a dataset, which rest on the same clusters."""
        terms = []
        for leaf, spread in measured:
            rule, systems = leaf.select("kind", "low", "high").row(0), len(spread.share)
            value, weight = _by_system(leaf, "value", systems), np.nan_to_num(_by_system(leaf, "contribution", systems))
            counts, points = weight > 0, normalise_array(value, *rule)
            terms.append(Term(np.where(counts, weight * slope(value, spread.bounds or (0.0, 1.0), *rule), 0), spread))
            self._scores += np.where(counts, weight * points, 0)
            self._terms += counts
            self._folds |= spread.folds or rule[0] == "centred"
            ends = normalise_limits(limits(spread), *rule)
            low, high = (np.where(counts, new, old) for new, old in zip(ends, self._only, strict=True))
            self._only = low, high
        self._parts.append(addend_of(terms))

    def limits(self) -> Ends:
        """Return the limits of the totals; a total of one metric has those of that."""
        if not self._parts:
            return self._only
        of_sums, alone = sum_limits(self._scores, self._parts, folds=self._folds), self._terms == 1
        low, high = (np.where(alone, only, end) for only, end in zip(self._only, of_sums, strict=True))
        return np.where(self._terms, low, np.nan), np.where(self._terms, high, np.nan)


def _vary(rows: pl.DataFrame, metric: Metric, scores: Floats, clusters: int, bounds: tuple[float, float] | None) -> Spread:
    """Compute how a metric's scores, [systems], vary. `rows`: `system`, `place` of the cluster of so many, `value` and labels."""
    left_out = replicate(rows, metric, len(scores), LeaveOneOut(clusters))
    grid, value = _grid(rows, len(scores), clusters), rows["value"].to_numpy()
    counts, single = grid.spread(), np.zeros(len(scores), dtype=bool)
    if METRICS[metric].reduction in ("items", "clusters"):
        single = ((counts <= 1) & (grid.spread((~np.isin(value, bounds or ())).astype(np.float64)) == 0)).all(axis=1)
    return spread_of(scores, np.where(counts > 0, left_out, np.nan), bounds, single, folds=metric in FOLDED)


def _by_system(leaf: pl.DataFrame, column: str, systems: int) -> Floats:
    values = np.full(systems, np.nan)
    values[leaf["system"].to_numpy()] = leaf[column].to_numpy()
    return values


def _describe(leaf: pl.DataFrame, rows: pl.DataFrame, spread: Spread) -> pl.DataFrame:
    """Return KEY, OF_CLUSTERS and LIMITS of the raw scores of a metric."""
    counts = rows.group_by("system").agg(n_clusters=pl.col("place").n_unique().cast(pl.Int64))
    if METRICS[leaf["metric"][0]].reduction != "items" or (rows["cluster"] == rows["item_id"]).all():
        counts = counts.with_columns(design_effect=pl.lit(None, pl.Float64))
    else:
        counts = counts.join(design_effects(rows).select("system", "design_effect"), on="system")
    described = leaf.join(counts, on="system", how="left", maintain_order="left")
    of_spread = [pl.Series("standard_error", spread.standard_error, nan_to_null=True), *_limits(spread)]
    return described.hstack(pl.DataFrame(of_spread)[leaf["system"].to_list()]).select(*KEY, *OF_CLUSTERS, *LIMITS)


def _limits(spread: Spread) -> list[pl.Series]:
    return [pl.Series(name, end, nan_to_null=True) for name, end in zip(LIMITS, limits(spread), strict=True)]


def scored_rows(item_scores: pl.LazyFrame, raw: pl.DataFrame, systems: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Return counted item scores, one dataset at a time, a few datasets read together."""
    columns = ["dataset", "method", "metric", "item_id", "cluster", "value", "predicted", "gold"]
    counted = average_parts(item_scores).filter(pl.col("status").is_in(COUNTED))
    sizes = raw.group_by("dataset").agg(pl.col("n_scored").sum()).sort("dataset")
    # A reader that cannot skip rows passes over all of them for each batch.
    batches = sizes.group_by(pl.col("n_scored").cum_sum() // _BATCH_ROWS, maintain_order=True).agg("dataset")
    for batch in batches["dataset"]:
        rows = counted.filter(pl.col("dataset").is_in(batch.to_list())).select(*SYSTEM, *columns).collect(engine="streaming")
        for dataset in batch:
            yield dataset, rows.filter(pl.col("dataset") == dataset).join(systems, on=SYSTEM)


def replicate(rows: pl.DataFrame, metric: Metric, systems: int, weights: Draws) -> Floats:
    """Return replicates of a metric, see tasks.statistics.resampling; NaN too where a system has only one cluster.

    `rows`: `system`, `place` of the cluster, `value` and labels.
    """
    reduction = METRICS[metric].reduction
    if reduction == "clusters":
        rows = rows.group_by("system", "place").agg(MEAN)
    grid = _grid(rows, systems, weights.shape[0])
    if reduction == "macro_f1":
        replicates = macro_f1_replicates(rows, grid, weights)
    elif reduction in ("micro_f1", "binary_f1"):
        replicates = micro_f1_replicates(rows, grid, weights, nothing=float(reduction == "binary_f1"))
    elif reduction == "bias":
        replicates = bias_replicates(rows, metric, grid, weights)
    elif reduction == "preference":
        replicates = preference_replicates(rows, metric, grid, weights)
    else:
        replicates = mean_replicates(rows["value"].to_numpy(), grid, weights)
    replicates[(grid.spread() > 0).sum(axis=1) < _FEWEST_CLUSTERS] = np.nan
    return replicates


def _grid(rows: pl.DataFrame, systems: int, clusters: int) -> Grid:
    return Grid(systems, clusters, rows["system"].cast(pl.Int64).to_numpy() * clusters + rows["place"].to_numpy())


def mean_limits(rows: pl.DataFrame, key: list[str], bounds: tuple[float, float] | None) -> pl.DataFrame:
    """Return `key` and LIMITS of means of `value`.

    `rows`: `key`, `item_id`, `cluster`, `value`; `bounds`: of the values, null = none are known.
    """
    means = rows.group_by(key).agg(MEAN).sort(key).with_row_index("system")
    placed = place_clusters(rows).join(means.drop("value"), on=key)
    spread = _vary(placed, "judged_rating", means["value"].to_numpy(), placed["place"].n_unique(), bounds)
    return means.select(key).with_columns(_limits(spread))
