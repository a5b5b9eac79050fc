"""Clusters: items that share a passage, a dialogue, a book or a person, and are therefore drawn together.

Source: clustered standard errors, Miller 2024, arXiv:2411.00640, section 2.2, with G / (G - 1) for a small number G of clusters;
design effect: Kish 1965, Survey Sampling.
"""

from functools import cache
from math import sqrt
from statistics import NormalDist

import polars as pl

from tasks.scoring.summation import exact_sum

TAIL = 0.025
"""Share of replicates below the lower limit of a 95 % interval, and above the upper one."""


def place_clusters(rows: pl.DataFrame) -> pl.DataFrame:
    """Number the clusters of a dataset, in the order of their first items' names.

    Where each item is a cluster of its own, its place is that among the items: it is drawn as items alone would be. An item that
    rows of one run put into a cluster, and rows of an earlier one do not, is in it in both.

    Returns:
        The rows, order unspecified, with `place`, from 0, and one cluster per item.
    """
    if (rows["cluster"] == rows["item_id"]).all():
        return rows.join(rows["item_id"].unique().sort().to_frame().with_row_index("place"), on="item_id")
    stated = rows.filter(pl.col("cluster") != pl.col("item_id")).group_by("item_id").agg(pl.col("cluster").min())
    items = rows.select(pl.col("item_id").unique().sort()).join(stated, on="item_id", how="left", maintain_order="left")
    items = items.with_columns(pl.col("cluster").fill_null(pl.col("item_id")))
    places = items.select(pl.col("cluster").unique(maintain_order=True)).with_row_index("place")
    return rows.drop("cluster").join(items.join(places, on="cluster"), on="item_id")


def design_effects(rows: pl.DataFrame) -> pl.DataFrame:
    """Compute by what factor the variance of a mean over items exceeds what it would be if the items were independent.

    SE^2 = G / (G - 1) x sum over clusters of (sum of (x - mean))^2 / n^2, divided by variance / n with the denominator n - 1. It
    may be below 1: what differs within clusters and not between them. Of an item's several rows the mean counts.

    Returns:
        `system` and `design_effect`; null where all clusters are single items, there is one cluster only or all values are equal.
    """
    value, off = pl.col("value"), pl.col("off")
    items = rows.group_by("system", "place", "item_id").agg(exact_sum(value) / pl.len())
    far = items.with_columns(off=value - (exact_sum(value) / pl.len()).over("system"))
    clusters = far.group_by("system", "place").agg(items=pl.len(), off=exact_sum(off), squares=exact_sum(off**2))
    n, g = pl.col("items").sum().cast(pl.Float64), pl.len().cast(pl.Float64)
    squares = exact_sum(pl.col("squares"))
    effect = g / (g - 1) * (n - 1) / n * exact_sum(off**2) / squares
    return clusters.group_by("system").agg(design_effect=pl.when((g > 1) & (g < n) & (squares > 0)).then(effect))


@cache
def expanded_tail(clusters: int) -> float:
    """Return the share of replicates on either side of a 95 % interval that rests on so many clusters, 2 or more.

    A mean over few clusters varies more than its replicates do: their variance is divided by G, not G - 1, and its own error asks
    for Student's t. So less is cut off: Phi(-sqrt(G / (G - 1)) x t), with t of G - 1 degrees of freedom.

    Source: expanded percentile interval, Hesterberg 2014, What Teachers Should Know about the Bootstrap, arXiv:1411.5279; t as in
    Abramowitz and Stegun 1964, 26.7.5.
    """
    z, f = NormalDist().inv_cdf(1 - TAIL), clusters - 1
    t = z + (z**3 + z) / (4 * f) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * f**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * f**3)
    return NormalDist().cdf(-sqrt(clusters / f) * t)


def tails(rows: pl.DataFrame) -> pl.DataFrame:
    """Return `system`, `n_clusters` and `tail`: what is cut off its replicates, TAIL where no two items share a cluster."""
    g, items = pl.col("place").n_unique().cast(pl.Int64), pl.col("item_id").n_unique()
    counts = rows.group_by("system").agg(n_clusters=g, shares=(g > 1) & (g < items))
    expanded = pl.col("n_clusters").clip(2).map_elements(expanded_tail, pl.Float64)
    return counts.with_columns(tail=pl.when("shares").then(expanded).otherwise(TAIL)).drop("shares")
