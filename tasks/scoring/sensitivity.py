"""Rank the same models by other weights and other thresholds of the veto, from their normalised scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import polars as pl

from schemas.blueprint import Blueprint
from tasks.scoring.aggregation import SYSTEM, aggregate_scores
from tasks.scoring.published import papers
from tasks.scoring.tree import LEVEL, Tree, tree_tables
from tasks.scoring.veto import apply_veto, rank_models, total_scores

_STEPS = (-10, -5, 5, 10)
"""Points that the threshold of the veto is moved by."""

_FEWEST = 3
"""Models that a rank correlation needs: of two it is 1 or -1."""


@dataclass(frozen=True)
class Variation:
    """Another way to weigh or to veto. `tree`: null where the totals before the veto stay as they are."""

    title: str
    blueprint: Blueprint
    tree: Tree | None = None


def list_variations(blueprint: Blueprint) -> Iterator[Variation]:
    """List what the ranks of a benchmark are varied by: level weights, places in the released code, threshold of the veto."""
    tree = tree_tables(blueprint)
    if tree.tasks["level"].n_unique() > 1:
        rules = tree.rules.sort("levels", "level")
        for title, weight in (
            ("All levels weigh the same", 1 / pl.len()),
            ("Lowest and highest level change weights", pl.col("weight").reverse()),
        ):
            yield Variation(title, blueprint, replace(tree, rules=rules.with_columns(weight=weight.over("levels"))))
    for paper in (paper for paper in papers() if paper.places):
        places = pl.read_csv(paper.folder / str(paper.places), schema_overrides={"level": LEVEL})
        if set(places["dataset"]) <= set(blueprint.datasets):
            yield Variation("Places of the released code", blueprint, _move(tree, places))
    if gate := blueprint.gate:
        for threshold in (gate.threshold + step for step in _STEPS if 0 <= gate.threshold + step <= 100):  # noqa: PLR2004
            changed = blueprint.model_copy(update={"gate": gate.model_copy(update={"threshold": threshold})})
            yield Variation(f"Veto below {threshold:g}", changed)


def _move(tree: Tree, places: pl.DataFrame) -> Tree:
    """Return the tree with datasets and tasks at these places, weighing the same among their like; a dataset may have several."""
    one = pl.lit(1.0).alias("weight")
    below = places.select(node="sub_ability", parent="ability", tier=pl.lit(2, pl.Int64)).unique().with_columns(one)
    return replace(
        tree,
        datasets=places.select("dataset", "task", one),
        tasks=places.select("task", pl.col("sub_ability").alias("node"), "level").unique().with_columns(one),
        nodes=pl.concat([tree.nodes.filter(pl.col("parent").is_null()), below]),
    )


def rank_varied(totals: pl.DataFrame, normalized: pl.DataFrame | None, variation: Variation) -> pl.DataFrame:
    """Return the same models with the total, veto and rank that they would have.

    What is covered, and the gate's interval, stay as they are; without `normalized` so do the totals before the veto.
    """
    if normalized is not None and variation.tree is not None:
        nodes = aggregate_scores(normalized, variation.tree).nodes.filter(pl.col("tier") == 1).rename({"node": "ability"})
        other = total_scores(nodes, variation.blueprint).select(*SYSTEM, "total_before_veto", "gate_score")
        totals = totals.drop("total_before_veto", "gate_score").join(other, on=SYSTEM, how="left")
    decided = apply_veto(totals.drop("total", "vetoed", "veto_reason"), variation.blueprint)
    return rank_models(decided, variation.blueprint)


def rank_correlation(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Return Spearman's rho over the places where both have a value, ties at their mean rank.

    It is null with fewer than three of them, or where one never varies.
    """
    both = pl.DataFrame({"first": first, "second": second}, schema={"first": pl.Float64, "second": pl.Float64}).drop_nulls()
    rho: float | None = both.select(pl.corr("first", "second", method="spearman")).item() if both.height >= _FEWEST else None
    return rho if rho is not None and isfinite(rho) else None
