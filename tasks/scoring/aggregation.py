"""Sum exactly, whatever the order of rows; algorithms 2 to 5 of the paper: normalised scores to abilities, total, veto and rank.

Adding floats gives other last bits in another order, and with it on another number of threads. Scores are therefore added as
128-bit fixed-point numbers, whose addition is exact.

Every step is the same weighted mean over what is there. A level is present if one of its tasks was scored, so a true 0 counts and
a missing dataset is neither 0 nor forgotten: each row says how many datasets its score rests on, and how many there should be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from schemas.blueprint import MAX_TIERS, Blueprint
from tasks.scoring.tree import LEVEL_BIT, Tree
from tasks.statistics.sums import exact_sum


def sum_by(rows: pl.LazyFrame, key: list[str], **sums: pl.Expr) -> pl.LazyFrame:
    """Sum per group; faster than a plain group-by where the rows of a group follow each other, as those of the lake do.

    Neighbours with the same key are summed first: rows are compared with the one before, and only the sums are hashed. `sums`
    are exact aggregations, such as counts and `fixed_point_sum`; those of parts of a group are added.
    """
    numbered = rows.with_columns(run=pl.struct(key).rle_id()).set_sorted("run")
    runs = numbered.group_by("run").agg(pl.struct(key).first().alias("key"), **sums).unnest("key")
    return runs.group_by(key).agg(pl.col(list(sums)).sum())


SYSTEM = ["model", "setting"]
COUNTS = ["datasets_scored", "datasets_total", "n_scored", "n_total"]
_SCORE, _WEIGHT = pl.col("score_0_100"), pl.col("weight")
_COUNTED = _SCORE.is_not_null() & (_WEIGHT > 0)


@dataclass(frozen=True)
class Aggregates:
    """Scores of every tier. Columns: SYSTEM, the names, score_0_100, COUNTS, and what the mean was made of.

    `weight` is the row's weight among its siblings, `weight_counted` the sum of the weights of its scored children.
    """

    datasets: pl.DataFrame
    tasks: pl.DataFrame
    levels: pl.DataFrame
    nodes: pl.DataFrame


def aggregate_scores(normalized: pl.DataFrame, tree: Tree, lacking: Mapping[str, float] | None = None) -> Aggregates:
    """Aggregate up to the main abilities: a row per model, setting and dataset, task, level and ability, scored or not.

    `lacking`: by dataset, how many items it lacks for each that it has: they count as missing.
    """
    datasets = aggregate_datasets(normalized.lazy(), tree, lacking or {}).collect()
    tasks = weigh(datasets.lazy(), ["task"]).join(tree.tasks.lazy(), on="task").collect()
    levels = aggregate_levels(tasks.lazy(), tree).collect()
    return Aggregates(datasets, tasks, levels, aggregate_nodes(levels.lazy(), tree))


def weigh(children: pl.LazyFrame, parent: list[str]) -> pl.LazyFrame:
    """Return score_0_100, COUNTS and weight_counted per parent: the weighted mean of its scored children.

    The score is null if no child with a weight was scored. `parent`: columns that, with SYSTEM, name a parent.
    """
    counted = pl.when(_SCORE.is_not_null()).then(_WEIGHT)
    sums = children.group_by(*SYSTEM, *parent).agg(
        pl.col(COUNTS).sum(),
        weight_counted=exact_sum(counted),
        weighted=exact_sum(_SCORE * _WEIGHT),
        lowest=_SCORE.min(),
        highest=_SCORE.max(),
    )
    # A mean lies between its terms; the bounds only take away the division's rounding, so that 100 stays 100.
    mean = (pl.col("weighted") / pl.col("weight_counted")).clip("lowest", "highest")
    scored = pl.col("weight_counted") > 0
    return sums.with_columns(
        score_0_100=pl.when(scored).then(mean), datasets_scored=pl.when(scored).then("datasets_scored").otherwise(0)
    ).drop("weighted", "lowest", "highest")


def aggregate_datasets(normalized: pl.LazyFrame, tree: Tree, lacking: Mapping[str, float]) -> pl.LazyFrame:
    """Aggregate dataset scores: weighted means over methods and metrics, for every dataset of the blueprint.

    An item counts once, however many metrics it has: as missing if it is for the metric with the most gaps, of those with a
    weight. Metrics may count different items (BBQ's bias scores), so it is gaps that are compared and not numbers of scores.
    """
    weights = tree.metrics.lazy().select("dataset", "method", "metric", "weight")
    methods = normalized.rename({"normalized_0_100": "score_0_100"}).join(weights, on=["dataset", "method", "metric"])
    gaps = (pl.col("n_total") - pl.col("n_scored")).max()
    counts = methods.filter(_WEIGHT > 0).group_by(*SYSTEM, "dataset").agg(pl.col("n_total").max(), gaps=gaps)
    items = counts.with_columns(n_scored=pl.col("n_total") - pl.col("gaps")).drop("gaps")
    if lacking:
        share = pl.col("dataset").replace_strict(lacking, default=0.0, return_dtype=pl.Float64)
        items = items.with_columns(n_total=pl.col("n_total") + (pl.col("n_total") * share).round().cast(pl.Int64))
    nothing = [pl.lit(0, pl.Int64).alias(name) for name in COUNTS]
    means = weigh(methods.drop("n_scored", "n_total").with_columns(nothing), ["dataset"]).drop(COUNTS)
    measured = means.join(items, on=[*SYSTEM, "dataset"])
    every = normalized.select(SYSTEM).unique().join(tree.datasets.lazy(), how="cross")
    return every.join(measured, on=[*SYSTEM, "dataset"], how="left").with_columns(
        pl.col("n_scored", "n_total").fill_null(0),
        datasets_scored=_SCORE.is_not_null().cast(pl.Int64),
        datasets_total=pl.lit(1, pl.Int64),
    )


def aggregate_levels(tasks: pl.LazyFrame, tree: Tree) -> pl.LazyFrame:
    """Aggregate level scores: weighted means of an ability's tasks at one level; their weight follows from the levels present."""
    levels = weigh(tasks, ["node", "level"])
    bit = pl.col("level").replace_strict(LEVEL_BIT, return_dtype=pl.Int64)
    present = pl.when(_SCORE.is_not_null()).then(bit).sum().over(*SYSTEM, "node")
    weighted = levels.with_columns(levels=present).join(tree.rules.lazy(), on=["levels", "level"], how="left")
    return weighted.with_columns(_WEIGHT.fill_null(0.0)).drop("levels")


def aggregate_nodes(levels: pl.LazyFrame, tree: Tree) -> pl.DataFrame:
    """Aggregate scores of all abilities, from the deepest tier to the main one."""
    from_levels = weigh(levels, ["node"]).collect()
    scored: list[pl.DataFrame] = []
    for tier in range(MAX_TIERS, 0, -1):
        here = tree.nodes.filter(pl.col("tier") == tier)
        means = [from_levels]
        if scored:
            means.append(weigh(scored[-1].lazy(), ["parent"]).rename({"parent": "node"}).collect())
        scored.append(pl.concat(means, how="diagonal").join(here, on="node"))
    return pl.concat(scored)


def metric_contributions(normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree) -> pl.DataFrame:
    """Return weight of every scored metric in the total before the veto; what is missing is spread as the aggregation spread it.

    Columns: SYSTEM, dataset, method, metric, contribution (> 0). Per model and setting the contributions sum to 1, and the sum of
    contribution x normalised score is the total before the veto. They stand in the order of the tree's metrics, whatever that of
    `normalized` is: the last bit of what is summed by them follows their order.
    """
    mains = pl.col("parent").is_null() & (pl.col("node") != tree.gate if tree.gate else pl.lit(value=True))
    top = aggregates.nodes.filter(_COUNTED, mains)
    shared = top.with_columns(contribution=pl.col("weight") / exact_sum(pl.col("weight")).over(SYSTEM))
    return _spread(shared, normalized, aggregates, tree)


def scope_contributions(normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree) -> pl.DataFrame:
    """Return metric_contributions, and ability_contributions of the gate, told apart by `of_gate`: no dataset is in both."""
    to_total = metric_contributions(normalized, aggregates, tree).with_columns(of_gate=pl.lit(value=False))
    if tree.gate is None:
        return to_total
    to_gate = ability_contributions(normalized, aggregates, tree, tree.gate)
    return pl.concat([to_total, to_gate.with_columns(of_gate=pl.lit(value=True))])


def ability_contributions(
    normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree, ability: str | None = None
) -> pl.DataFrame:
    """Return weight of every scored metric in the score of its main ability, or of one; they sum to 1 per ability."""
    scored = pl.col("parent").is_null() & pl.col("score_0_100").is_not_null()  # one of weight 0 has a score of its own too
    top = aggregates.nodes.filter(scored & (pl.col("node") == ability if ability else pl.lit(value=True)))
    return _spread(top.with_columns(contribution=pl.lit(1.0)), normalized, aggregates, tree)


def _spread(top: pl.DataFrame, normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree) -> pl.DataFrame:
    nodes = [top]
    while not (below := pass_down(nodes[-1].drop("parent").rename({"node": "parent"}), aggregates.nodes, "parent")).is_empty():
        nodes.append(below)
    abilities = pl.concat([frame.select(*SYSTEM, "node", "contribution", "weight_counted") for frame in nodes])
    levels = pass_down(abilities, aggregates.levels, "node")
    tasks = pass_down(levels, aggregates.tasks, "node", "level")
    datasets = pass_down(tasks, aggregates.datasets, "task")
    weights = tree.metrics.select("dataset", "method", "metric", "weight")
    scores = normalized.rename({"normalized_0_100": "score_0_100"})
    metrics = weights.join(scores, on=["dataset", "method", "metric"], maintain_order="left")
    return pass_down(datasets, metrics, "dataset").select(*SYSTEM, "dataset", "method", "metric", "contribution")


def pass_down(parents: pl.DataFrame, children: pl.DataFrame, *parent: str) -> pl.DataFrame:
    """Split each parent's contribution among its scored children, by weight."""
    shares = parents.select(*SYSTEM, *parent, "contribution", weight_above="weight_counted")
    joined = children.filter(_COUNTED).join(shares, on=[*SYSTEM, *parent], maintain_order="left")
    return joined.with_columns(contribution=pl.col("contribution") * _WEIGHT / pl.col("weight_above")).drop("weight_above")


_ROUNDING = 1e-9
"""Scores closer than this are the same number computed in two ways: far above rounding, far below what one item can change."""

GATE = ("gate_score", "gate_ci_low", "gate_ci_high", "gate_coverage", "gate_item_coverage")
"""Columns of `totals` by which the veto is decided."""

_LEAST_OF_THE_GATE = 0.5
_ITEM_COVERAGE = pl.when(pl.col("n_total") > 0).then(pl.col("n_scored") / pl.col("n_total"))
_TOTAL, _GATE = pl.col("total_before_veto"), pl.col("gate_score")


def total_scores(abilities: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return rows of `totals` without intervals, verdict and rank, from rows of `ability_scores`."""
    gate = blueprint.gate
    is_gate = pl.col("ability") == gate.ability if gate else pl.lit(value=False)
    weights = [(main.id, main.weight) for main in blueprint.abilities]
    weighed = abilities.lazy().join(
        pl.LazyFrame(weights, {"ability": pl.String, "weight": pl.Float64}, orient="row"), on="ability"
    )
    of_gate = weighed.filter(is_gate).select(
        *SYSTEM,
        gate_score="score_0_100",
        gate_coverage=pl.col("datasets_scored") / pl.col("datasets_total"),
        gate_item_coverage=_ITEM_COVERAGE,
    )
    counts = weighed.group_by(SYSTEM).agg(pl.col(COUNTS).sum()).join(of_gate, on=SYSTEM, how="left")
    mean = weigh(weighed.filter(~is_gate), [])
    before = mean.select(*SYSTEM, total_before_veto="score_0_100")
    coverage = pl.col("datasets_scored") / pl.col("datasets_total")
    totals = counts.join(before, on=SYSTEM, how="left").with_columns(coverage=coverage, item_coverage=_ITEM_COVERAGE)
    return totals.collect()


def apply_veto(totals: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Add total, vetoed and veto_reason. Below the threshold the total is 0; exactly at it the model passes.

    The veto is decided by the whole gate: all its datasets scored, and of their items the share that a rank asks for. By a part
    of it, at least half, it is decided only if the gate's interval lies wholly on one side of the threshold. Otherwise `vetoed`
    is null, and the total stands.
    """
    gate = blueprint.gate
    if gate is None:
        return totals.with_columns(total=_TOTAL, vetoed=pl.lit(value=False), veto_reason=pl.lit(None, pl.String))
    threshold = gate.threshold - _ROUNDING
    # A published score comes without item counts; nothing is known to be missing from it.
    item_coverage = pl.col("gate_item_coverage").fill_null(1.0)
    whole = (pl.col("gate_coverage") == 1) & (item_coverage >= blueprint.rank_item_coverage)
    half = (pl.col("gate_coverage") >= _LEAST_OF_THE_GATE) & (item_coverage >= _LEAST_OF_THE_GATE)
    clear = (pl.col("gate_ci_high") < threshold) | (pl.col("gate_ci_low") >= threshold)
    vetoed = pl.when(whole | (half & clear)).then(threshold > _GATE)
    text = f"{gate.ability} scored {{}}, below the threshold of {gate.threshold:g}"
    return totals.with_columns(
        total=pl.when(vetoed).then(0.0).otherwise(_TOTAL),
        vetoed=vetoed,
        veto_reason=pl.when(vetoed).then(pl.format(text, _GATE.round(6))),
    )


def rank_models(
    totals: pl.DataFrame, blueprint: Blueprint, *, rank_incomplete: bool = False, within: Sequence[str] = ("setting",)
) -> pl.DataFrame:
    """Rank by total, the highest first, within each setting; equal totals share the smaller rank.

    It is null for vetoed, unscored and (unless `rank_incomplete`) incomplete models and those whose veto is undecided.
    """
    complete = pl.col("datasets_scored") == pl.col("datasets_total")
    # A published total comes without item counts; nothing is known to be missing from it.
    covered = pl.col("item_coverage").fill_null(1.0) >= blueprint.rank_item_coverage
    eligible = pl.col("total").is_not_null() & pl.col("vetoed").fill_null(value=False).not_()
    if not rank_incomplete:
        eligible &= complete & covered & pl.col("vetoed").is_not_null()
    ranked = pl.when(eligible).then(pl.col("total").round(9))
    return totals.with_columns(rank=ranked.rank("min", descending=True).over(*within).cast(pl.Int64))
