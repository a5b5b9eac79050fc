"""Draw bootstrap replicates of one metric for many models at once: each is one or a few matrix products.

Functions that return replicates take the rows, the grid they belong in and weights [clusters, resamples]. They return [systems,
resamples]; NaN where a resample drew none of a system's scored items.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray

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


def mean_replicates(values: Floats, grid: Grid, weights: Floats) -> Floats:
    """Return replicates of a mean of values, one per row."""
    counts = grid.spread()
    return shares(grid.spread(_exact(values, counts)) @ weights, drawn_rows(counts, weights), np.nan)


def micro_f1_replicates(rows: pl.DataFrame, grid: Grid, weights: Floats, nothing: float = 0.0) -> Floats:
    """Return replicates of the micro-averaged F1, by resampled hits and label counts.

    Null in `predicted` or `gold` is no label; `nothing` is the value of a resample without any label.
    """
    predicted, gold = pl.col("predicted").list.n_unique().fill_null(0), pl.col("gold").list.n_unique().fill_null(0)
    hits = pl.col("predicted").list.set_intersection("gold").list.len().fill_null(0)
    sums = rows.select(hits=hits.cast(pl.Float64), labels=(predicted + gold).cast(pl.Float64))
    hit, named = (grid.spread(sums[name].to_numpy()) @ weights for name in ("hits", "labels"))
    return np.where(drawn_rows(grid.spread(), weights) > 0, shares(2 * hit, named, nothing), np.nan)


def macro_f1_replicates(rows: pl.DataFrame, grid: Grid, weights: Floats) -> Floats:
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


def drawn_rows(counts: Floats, weights: Floats) -> Floats:
    """Return scored rows in each resample; one product less where every model has as many of every cluster."""
    if counts.min() == counts.max():
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
