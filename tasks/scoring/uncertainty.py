"""Compute 95 % intervals of raw scores and totals.

Method: percentile bootstrap over clusters of items (tasks.statistics.resampling), most of which are single items. For every
dataset, clusters are drawn with replacement, as many as it has, `bootstrap` times; their items and an item's repetitions stay
together.
All models and settings share a dataset's draws, so that a dataset costs one matrix product [models x clusters] @ [clusters x
resamples] for the sums, and one for the counts where items are missing. F1 and the scores of bias are computed anew in each
resample, from resampled counts. Datasets are drawn independently of each other, and a total's replicate is the sum of the
metrics' normalised replicates times their contributions to the total; which datasets are there is not resampled. Limits are the
2.5 and 97.5 percentiles, linearly interpolated; of a raw score whose items share clusters those of the expanded interval
(tasks.statistics.resampling), since clusters may be few.

A metric that is best in the middle of its range (bias) is normalised in each resample: replicates of a score that is at its best
all lie below it or at it, and the total's interval with them.

A resample that drew none of the few scored items of a model says nothing about it and is left out of the raw score's interval;
in the total the score itself stands in for it. No interval is given for a raw score with fewer than two scored clusters, nor for
a total that rests on such a score or on a grade, whose table does not say what lies between grades.

The design effect is given for means over items; for other metrics the items would have to be drawn a second time, one by one.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from schemas.metrics import METRICS, Metric
from tasks.lake.frames import sort_keys
from tasks.scoring.aggregation import SYSTEM
from tasks.scoring.label_scores import bias_replicates, preference_replicates
from tasks.scoring.normalisation import normalise_replicates
from tasks.scoring.reduction import COUNTED, KEY, MEAN, SPEC, average_parts
from tasks.scoring.tree import Tree
from tasks.statistics.resampling import (
    Draws,
    Floats,
    Grid,
    Resampling,
    design_effects,
    draw_weights,
    limits_of,
    macro_f1_replicates,
    mean_replicates,
    micro_f1_replicates,
    place_clusters,
    tails,
)

_FEWEST_CLUSTERS = 2
LIMITS = {"ci_low": pl.Float64, "ci_high": pl.Float64}
LIMITS_OF_GATE = {f"gate_{name}": kind for name, kind in LIMITS.items()}
OF_CLUSTERS = {"n_clusters": pl.Int64, "design_effect": pl.Float64}
_BATCH_ROWS = 2_000_000
"""Item scores held in memory at once."""


def bootstrap_intervals(
    item_scores: pl.LazyFrame, raw: pl.DataFrame, contributions: pl.DataFrame, tree: Tree, resampling: Resampling
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return intervals of all raw scores and totals, null where none is given; contributions are those of both scopes.

    Of raw scores KEY, LIMITS in the metric's unit, OF_CLUSTERS; of totals SYSTEM, LIMITS before the veto, LIMITS_OF_GATE.
    """
    systems = raw.select(SYSTEM).unique().sort(SYSTEM).with_row_index("system")
    scored = raw.filter(pl.col("value").is_not_null()).join(contributions, on=KEY, how="left").join(systems, on=SYSTEM)
    counted = scored.filter(pl.col("contribution").is_not_null())
    totals = {of_gate: np.full((systems.height, resampling.resamples), np.nan) for of_gate in (False, True)}
    for of_gate, replicates in totals.items():
        replicates[counted.filter(of_gate=of_gate)["system"].unique().to_numpy()] = 0.0
    limits = [pl.DataFrame(schema={**scored.select(KEY).schema, **OF_CLUSTERS, **LIMITS})]
    for leaf, part, replicates in _draw(item_scores, scored, tree, systems, resampling):
        counts = tails(part)
        if METRICS[leaf["metric"][0]].reduction != "items" or (part["cluster"] == part["item_id"]).all():
            counts = counts.with_columns(design_effect=pl.lit(None, pl.Float64))
        else:
            counts = counts.join(design_effects(part), on="system")
        described = leaf.join(counts, on="system", how="left", maintain_order="left")
        limits.append(described.select(*KEY, *OF_CLUSTERS).hstack(limits_of(replicates, described["tail"])))
        _add_to_totals(totals, leaf, replicates)
    # Rounding may lift a replicate above 100 by its last bit.
    total, gate = (limits_of(replicates).with_columns(pl.all().clip(0, 100)) for replicates in totals.values())
    of_gates = gate.rename(dict(zip(LIMITS, LIMITS_OF_GATE, strict=True)))
    return pl.concat(limits), systems.drop("system").hstack(total).hstack(of_gates)


def _draw(
    item_scores: pl.LazyFrame, scored: pl.DataFrame, tree: Tree, systems: pl.DataFrame, resampling: Resampling
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, Floats]]:
    """Yield the raw scores of each metric, one per system, its items by cluster, and replicates; those of a dataset together."""
    leaves = scored.join(tree.metrics, on=SPEC).sort("system").partition_by(SPEC, as_dict=True)
    for dataset, rows in scored_rows(item_scores, scored, systems):
        placed = place_clusters(rows)
        weights = draw_weights(dataset, placed["place"].n_unique(), resampling.resamples, resampling.seed)
        for method, metric in rows.select("method", "metric").unique().sort(sort_keys(("method", "metric"))).iter_rows():
            leaf = leaves[dataset, method, metric]
            part = placed.filter((pl.col("method") == method) & (pl.col("metric") == metric))
            yield leaf, part, replicate(part, metric, systems.height, weights)[leaf["system"].to_numpy()]


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
    clusters = weights.shape[0]
    grid = Grid(systems, clusters, rows["system"].cast(pl.Int64).to_numpy() * clusters + rows["place"].to_numpy())
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


def mean_limits(rows: pl.DataFrame, key: list[str], weights: Floats) -> pl.DataFrame:
    """Return `key` and LIMITS of means of `value`. `rows`: what place_clusters returns; `weights`: [clusters, resamples]."""
    systems = rows.select(key).unique().sort(key).with_row_index("system")
    placed = rows.join(systems, on=key)
    cut_off = systems.join(tails(placed), on="system", maintain_order="left")["tail"]
    return systems.drop("system").hstack(limits_of(replicate(placed, "judged_rating", systems.height, weights), cut_off))


def _add_to_totals(totals: dict[bool, Floats], leaf: pl.DataFrame, replicates: Floats) -> None:
    counted = leaf["contribution"].is_not_null().to_numpy()
    own = leaf.filter(counted)
    if own.is_empty():
        return
    drawn, systems = replicates[counted], own["system"].to_numpy()
    defined = ~np.isnan(drawn)
    # Rows without any replicate have too few items: they stay NaN and take the total's interval with them.
    stand_in = np.where(defined.any(axis=1), own["value"].to_numpy(), np.nan)
    normalised = normalise_replicates(np.where(defined, drawn, stand_in[:, None]), own)
    totals[own["of_gate"][0]][systems] += own["contribution"].to_numpy()[:, None] * normalised
