"""Draw clusters of items, and bootstrap replicates of one metric for many models at once: each is one or a few matrix products.

Clusters are items that share a passage, a dialogue, a book or a person, and are therefore drawn together. Functions that return
replicates take the rows, the grid they belong in and weights [clusters, resamples], or LeaveOneOut for the values of the
jackknife. They return [systems, resamples]; NaN where a resample drew none of a system's scored items.

Source: clustered standard errors, Miller 2024, arXiv:2411.00640, section 2.2, with G / (G - 1) for a small number G of clusters;
design effect: Kish 1965, Survey Sampling.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import sqrt
from statistics import NormalDist

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.statistics.sums import exact_sum

RESAMPLES = 1000
"""Of a comparison, unless it is told otherwise."""

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
        `system`, `design_effect` and `standard_error`, the root of SE^2, null where there is one cluster only; the effect also
        where all clusters are single items or all values are equal.
    """
    value, off = pl.col("value"), pl.col("off")
    items = rows.group_by("system", "place", "item_id").agg(exact_sum(value) / pl.len())
    far = items.with_columns(off=value - (exact_sum(value) / pl.len()).over("system"))
    clusters = far.group_by("system", "place").agg(items=pl.len(), off=exact_sum(off), squares=exact_sum(off**2))
    n, g = pl.col("items").sum().cast(pl.Float64), pl.len().cast(pl.Float64)
    squares = exact_sum(pl.col("squares"))
    effect = g / (g - 1) * (n - 1) / n * exact_sum(off**2) / squares
    return clusters.group_by("system").agg(
        design_effect=pl.when((g > 1) & (g < n) & (squares > 0)).then(effect),
        standard_error=pl.when(g > 1).then((g / (g - 1) * exact_sum(off**2)).sqrt() / n),
    )


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


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn: with the seed, so many times. By 0 resamples there are none."""

    resamples: int
    seed: int


Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

DRAWN_AT_ONCE = 16
"""Resamples: of 60,000 clusters a thousand at once take 2 GB. The generator yields the same numbers, however many at once."""


@dataclass(frozen=True)
class Grid:
    """Shape of a dataset's matrix of systems and clusters, and the place of each row in it."""

    systems: int
    clusters: int
    cells: Indices

    def spread(self, amounts: Floats | None = None) -> Floats:
        """Return matrix [systems, clusters] of the rows' amounts (1 each if not given), rows of one cell added."""
        flat = np.bincount(self.cells, weights=amounts, minlength=self.systems * self.clusters)
        return flat.astype(np.float64, copy=False).reshape(self.systems, self.clusters)


def draw_weights(dataset: str, clusters: int, resamples: int, seed: int) -> Floats:
    """Draw how often each cluster is drawn in each resample of size `clusters` with replacement.

    The generator is seeded by `seed` and the dataset's name: all models of a dataset share the draws, and no other dataset
    changes them.

    Returns:
        [clusters, resamples], whole numbers; every column sums to `clusters`.
    """
    name = int.from_bytes(sha256(dataset.encode()).digest()[:8], "big")
    generator = np.random.default_rng([seed, name])
    weights = np.empty((clusters, resamples))
    for start in range(0, resamples, DRAWN_AT_ONCE):
        some = min(DRAWN_AT_ONCE, resamples - start)
        drawn = generator.integers(clusters, size=(some, clusters)) + clusters * np.arange(some)[:, None]
        weights[:, start : start + some] = np.bincount(drawn.ravel(), minlength=clusters * some).reshape(some, clusters).T
    return weights


class LeaveOneOut:
    """Replicates that leave out one cluster each, in the place of weights: `matrix @ draws` sums the columns of all others."""

    __array_ufunc__ = None  # a matrix leaves the product to __rmatmul__

    def __init__(self, clusters: int, columns: Indices | None = None) -> None:
        """`columns`: the cluster of each column of a matrix; null = each column is a cluster."""
        self._columns = columns
        self.shape = (clusters if columns is None else len(columns), clusters)

    def __getitem__(self, columns: Indices) -> "LeaveOneOut":
        """Return the draws for some of the columns, in this order."""
        return LeaveOneOut(self.shape[1], columns if self._columns is None else self._columns[columns])

    def __rmatmul__(self, matrix: Floats) -> Floats:
        """Return sums over the columns of all clusters but one, [rows, clusters]. `matrix`: [rows, columns]."""
        own = matrix
        if self._columns is not None:
            own = np.zeros((len(matrix), self.shape[1]))
            np.add.at(own.T, self._columns, matrix.T)
        rest: Floats = matrix.sum(axis=1, keepdims=True) - own
        return rest


Draws = Floats | LeaveOneOut
"""Weights [clusters, resamples], or the clusters left out one by one."""


def limits_of(replicates: Floats, cut_off: pl.Series | None = None) -> pl.DataFrame:
    """Return the 95 % interval of each row, [rows, resamples], over its defined replicates; null where there are none.

    `cut_off`: share of them on either side, by row; null = TAIL.
    """
    limits = np.full((len(replicates), 2), np.nan)
    defined = ~np.isnan(replicates).all(axis=1)
    shares = np.full(len(replicates), TAIL) if cut_off is None else cut_off.to_numpy()
    for share in np.unique(shares[defined]):
        own = defined & (shares == share)
        limits[own] = np.nanquantile(replicates[own], [share, 1 - share], axis=1).T
    return pl.DataFrame(limits, schema=["ci_low", "ci_high"], nan_to_null=True)


def mean_replicates(values: Floats, grid: Grid, weights: Draws) -> Floats:
    """Return replicates of a mean of values, one per row."""
    counts = grid.spread()
    return shares(grid.spread(_exact(values, counts)) @ weights, drawn_rows(counts, weights), np.nan)


def micro_f1_replicates(rows: pl.DataFrame, grid: Grid, weights: Draws, nothing: float = 0.0) -> Floats:
    """Return replicates of the micro-averaged F1, by resampled hits and label counts.

    Null in `predicted` or `gold` is no label; `nothing` is the value of a resample without any label.
    """
    predicted, gold = pl.col("predicted").list.n_unique().fill_null(0), pl.col("gold").list.n_unique().fill_null(0)
    hits = pl.col("predicted").list.set_intersection("gold").list.len().fill_null(0)
    sums = rows.select(hits=hits.cast(pl.Float64), labels=(predicted + gold).cast(pl.Float64))
    hit, label_count = (grid.spread(sums[name].to_numpy()) @ weights for name in ("hits", "labels"))
    return np.where(drawn_rows(grid.spread(), weights) > 0, shares(2 * hit, label_count, nothing), np.nan)


def macro_f1_replicates(rows: pl.DataFrame, grid: Grid, weights: Draws) -> Floats:
    """Return replicates of the macro-averaged F1: the mean over the labels that occur in the resample."""

    def counts(label: str) -> tuple[Floats, Floats]:
        predicted, gold = (
            rows[name].list.contains(label).fill_null(value=False).to_numpy().astype(np.float64) for name in ("predicted", "gold")
        )
        return 2 * (grid.spread(predicted * gold) @ weights), grid.spread(predicted + gold) @ weights

    drawn = drawn_rows(grid.spread(), weights)
    labels = pl.concat([rows["predicted"], rows["gold"]]).explode().drop_nulls().unique().sort()
    return np.where(drawn > 0, mean_share(map(counts, labels), np.zeros_like(drawn)), np.nan)


def mean_share(parts: Iterable[tuple[Floats, Floats]], total: Floats) -> Floats:
    """Return the mean of part / whole over the pairs that have a whole, place by place; `total`: zeros of their shape."""
    occurring = np.zeros_like(total)
    for part, whole in parts:
        total = total + shares(part, whole)
        occurring += whole > 0
    return shares(total, occurring)


def shares(part: Floats, whole: Floats, nothing: float = 0.0) -> Floats:
    """Return part / whole, and `nothing` where there is no whole."""
    return np.divide(part, whole, out=np.full_like(part, nothing), where=whole > 0)


def drawn_rows(counts: Floats, weights: Draws) -> Floats:
    """Return scored rows in each resample; one product less where every model has as many of every cluster."""
    if counts.min() == counts.max() and not isinstance(weights, LeaveOneOut):
        return np.full((len(counts), weights.shape[1]), counts.flat[0] * len(weights))
    return counts @ weights


def _exact(values: Floats, counts: Floats) -> Floats:
    """Return values rounded so that their weighted sums are exact in a float64.

    A product's result would otherwise depend on the order in which the linear algebra library adds, hence on its threads. The
    weights of a resample sum to the number of clusters, so a sum stays below clusters x the most rows of one x the largest value.
    """
    largest = max(1.0, np.abs(values).max(initial=0.0))
    bits = 52 - int(np.ceil(np.log2(counts.shape[1] * counts.max() * largest + 1)))
    return np.round(values * 2.0**bits) * 2.0**-bits
