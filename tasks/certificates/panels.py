"""Several judges as one: the mean, the median, the majority or the weighted mean of their ratings, next to theirs."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from schemas.errors import UsageError, unknown_name
from schemas.tables.ratings import UNIT
from tasks.certificates.joining import JUDGED, JoinedRatings
from tasks.statistics.resampling import Floats, Indices, shares

How = Literal["mean", "median", "majority", "weighted"]
PANELS: tuple[How, ...] = get_args(How)
FOLDS = 5

OF_PANEL = ["source", "rubric", "dimension", "lowest", "highest"]
"""Columns in which the members of a panel are alike."""


def add_panels(joined: JoinedRatings, names: Sequence[str], least: int | None) -> JoinedRatings:
    """Return the ratings with those of panels, judges named `panel mean` and so on; `least`: as of `panel`.

    UsageError: a panel that does not exist, or no two judges rate a dimension by one rubric.
    """
    for name in set(names) - {*PANELS}:
        raise unknown_name("panel", name, PANELS, "--panel", "name one of these")
    cluster = pl.coalesce("cluster_id", "unit_id").first()
    target = joined.people.group_by(*UNIT, "dimension").agg(people=pl.col("rating").mean(), cluster=cluster)
    judged = joined.judges.filter(pl.col("rubric") != "").sort(*OF_PANEL, "judge", *UNIT)
    beside = judged.join(target, on=[*UNIT, "dimension"], how="left", maintain_order="left")
    several = [own for _, own in beside.group_by(OF_PANEL, maintain_order=True) if own["judge"].n_unique() > 1]
    if names and not several:
        expected = "two judges that rate a dimension by the same rubric"
        raise UsageError("a panel has one member only", where="--panel", expected=expected, next_step="leave --panel out")
    frames = [_panel(own, how, least) for how in PANELS if how in names for own in several]
    return joined._replace(judges=pl.concat([joined.judges, *frames]))


def _panel(own: pl.DataFrame, how: How, least: int | None) -> pl.DataFrame:
    """Return the ratings of a panel: columns and types of JUDGED."""
    wide = own.pivot("judge", index=[*UNIT, *OF_PANEL[1:], "people", "cluster"], values="value")
    # A unit without people has no cluster, and takes no part in what is learned.
    clusters = np.unique(wide["cluster"].fill_null("").to_numpy(), return_inverse=True)[1]
    members = wide.select(own["judge"].unique().to_list()).to_numpy()
    ratings = panel(members, how, least=least, clusters=clusters, target=wide["people"].to_numpy())
    rated = wide.with_columns(judge=pl.lit(f"panel {how}"), value=pl.Series(ratings, nan_to_null=True))
    return rated.select(JUDGED.names()).cast(JUDGED).drop_nulls("value")


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
