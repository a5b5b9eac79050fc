"""Several judges as one: the mean, the median, the majority or the weighted mean of their ratings of each unit."""

from typing import Literal, get_args

import numpy as np

from tasks.statistics.resampling import Floats, Indices, shares

How = Literal["mean", "median", "majority", "weighted"]
PANELS: tuple[How, ...] = get_args(How)
FOLDS = 5


def panel(
    table: Floats, how: How, *, least: int | None = None, clusters: Indices | None = None, target: Floats | None = None
) -> Floats:
    """Return a panel's ratings, [units], from those of its members, [units, members] with NaN where one gave none.

    Args:
        table: ratings of the members.
        how: majority is the most frequent rating, NaN where two are; weighted is learned, see `clusters` and `target`.
        least: members whose ratings a unit needs; all, unless it is given.
        clusters: number of each unit's cluster. Weights are 1 / MAE in the other four fifths of clusters.
        target: ratings by people, NaN where there is none.
    """
    given = np.isfinite(table)
    whole = given.sum(axis=1) >= (table.shape[1] if least is None else max(least, 1))
    rated, ratings = table[whole], np.full(len(table), np.nan)
    if how == "weighted":
        if clusters is None or target is None:
            raise ValueError("a weighted panel needs clusters and a target")
        weights = _weights(table, clusters, target)[whole] * given[whole]
        ratings[whole] = shares((weights * np.nan_to_num(rated)).sum(axis=1), weights.sum(axis=1), np.nan)
    elif how == "majority":
        values = np.unique(rated[given[whole]])
        votes = (rated[..., None] == values).sum(axis=1)
        single = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        ratings[whole] = np.where(single, values[votes.argmax(axis=1)], np.nan)
    elif whole.any():
        ratings[whole] = (np.nanmean if how == "mean" else np.nanmedian)(rated, axis=1)
    return ratings


def _weights(table: Floats, clusters: Indices, target: Floats) -> Floats:
    """Return the weight of each member, [units, members], learned where the unit's cluster is not."""
    distances = np.abs(table - target[:, None])
    folds, weights = np.unique(clusters, return_inverse=True)[1] % FOLDS, np.full(table.shape, np.nan)
    for fold in range(FOLDS):
        others = distances[folds != fold]
        mae = shares(np.nansum(others, axis=0), np.isfinite(others).sum(axis=0).astype(np.float64), np.nan)
        # Members who meet the target always have all the weight.
        of_members = (mae == 0).astype(np.float64) if (mae == 0).any() else 1 / mae
        weights[folds == fold] = of_members
    return weights
