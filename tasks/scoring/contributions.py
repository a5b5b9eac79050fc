"""How much of a total each metric makes up: the product of its shares on the way up the tree."""

import polars as pl

from tasks.scoring.aggregation import UNIT, Aggregates
from tasks.scoring.summation import exact_sum
from tasks.scoring.tree import Tree

_SHARE = pl.col("contribution") * pl.col("weight") / pl.col("weight_above")


def metric_contributions(normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree, gate: str | None) -> pl.DataFrame:
    """Weight of every scored metric in the total before the veto; what is missing is spread as the aggregation spread it.

    Args:
        normalized: rows of `normalized_scores`.
        aggregates: what was computed from them.
        tree: the blueprint's tables.
        gate: the main ability that never enters the total.

    Returns:
        UNIT, dataset, method, metric, contribution (> 0); per model and setting the contributions sum to 1, and the sum of
        contribution x normalised score is the total before the veto.
    """
    mains = pl.col("parent").is_null() & (pl.col("node") != gate if gate else pl.lit(value=True))
    top = _counted(aggregates).filter(mains)
    shared = top.with_columns(contribution=pl.col("weight") / exact_sum(pl.col("weight")).over(UNIT))
    return _spread(shared, normalized, aggregates, tree)


def ability_contributions(normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree) -> pl.DataFrame:
    """Weight of every scored metric in the score of its main ability, the gate's too; columns as of metric_contributions.

    Per model, setting and main ability the contributions sum to 1.
    """
    scored = pl.col("parent").is_null() & pl.col("score_0_100").is_not_null()  # one of weight 0 has a score of its own too
    top = aggregates.nodes.filter(scored)
    return _spread(top.with_columns(contribution=pl.lit(1.0)), normalized, aggregates, tree)


def _counted(aggregates: Aggregates) -> pl.DataFrame:
    return aggregates.nodes.filter(pl.col("score_0_100").is_not_null() & (pl.col("weight") > 0))


def _spread(top: pl.DataFrame, normalized: pl.DataFrame, aggregates: Aggregates, tree: Tree) -> pl.DataFrame:
    nodes, below_them = [top], _counted(aggregates).rename({"parent": "above"})
    while not (below := pass_down(nodes[-1], below_them, "node", "above")).is_empty():
        nodes.append(below.rename({"above": "parent"}))
    abilities = pl.concat([frame.select(*UNIT, "node", "contribution", "weight_counted") for frame in nodes])
    levels = pass_down(abilities, aggregates.levels, "node", "node")
    tasks = pass_down(levels, aggregates.tasks, ["node", "level"], ["node", "level"])
    datasets = pass_down(tasks, aggregates.datasets, "task", "task")
    weights = tree.metrics.select("dataset", "method", "metric", "weight")
    metrics = normalized.rename({"normalized_0_100": "score_0_100"}).join(weights, on=["dataset", "method", "metric"])
    return pass_down(datasets, metrics, "dataset", "dataset").select(*UNIT, "dataset", "method", "metric", "contribution")


def pass_down(parents: pl.DataFrame, children: pl.DataFrame, parent: str | list[str], child: str | list[str]) -> pl.DataFrame:
    """Split each parent's contribution among its scored children, by weight.

    Args:
        parents: UNIT, `parent`, contribution, weight_counted.
        children: UNIT, `child`, score_0_100, weight.
        parent: columns that name a parent.
        child: the same columns as the children name them.
    """
    on_parent = [parent] if isinstance(parent, str) else parent
    on_child = [child] if isinstance(child, str) else child
    scored = children.filter(pl.col("score_0_100").is_not_null() & (pl.col("weight") > 0))
    shares = parents.select(*UNIT, *on_parent, "contribution", weight_above="weight_counted")
    joined = scored.join(shares, left_on=[*UNIT, *on_child], right_on=[*UNIT, *on_parent])
    return joined.with_columns(contribution=_SHARE).drop("weight_above")
