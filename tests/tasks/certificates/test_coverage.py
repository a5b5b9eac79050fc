"""Intervals of the ceiling hold the true value as often as they say, for people of known reliability."""

import sys

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from tasks.certificates.agreement import certificates
from tasks.certificates.joining import JUDGED, JoinedRatings
from tasks.statistics.resampling import Floats, Resampling

RATERS, REPETITIONS = 3, 500


def simulate(random: np.random.Generator, units: int, of_cluster: int) -> Floats:
    """Ratings from 1 to 5, [units, raters]: 3 + what is good about a unit, three tenths of it by cluster, + a rater's error."""
    shared = np.repeat(random.normal(size=units // of_cluster), of_cluster)
    good = np.sqrt(0.3) * shared + np.sqrt(0.7) * random.normal(size=units)
    ratings: Floats = np.clip(np.round(3 + good[:, None] + random.normal(size=(units, RATERS))), 1, 5)
    return ratings


def ceiling(ratings: Floats) -> float:
    rest = [np.delete(ratings, one, axis=1).mean(axis=1) for one in range(RATERS)]
    return float(np.mean([spearmanr(ratings[:, one], rest[one]).statistic for one in range(RATERS)]))


def interval(ratings: Floats, of_cluster: int, seed: int) -> tuple[float, float]:
    names = [f"{one:03}" for one in range(len(ratings))]
    units = {"source": "s", "system": "m", "dimension": "d"}
    rated = pl.DataFrame({"unit_id": np.repeat(names, RATERS), "rater": ["a", "b", "c"] * len(names), "rating": ratings.ravel()})
    people = rated.with_columns(
        cluster_id=(pl.col("unit_id").cast(pl.Int64) // of_cluster).cast(pl.String),
        scale=pl.lit([1.0, 2, 3, 4, 5], pl.List(pl.Float64)),
        rater_known=True,
        higher_is_better=True,
        **{name: pl.lit(value) for name, value in units.items()},
    )
    judge = {**units, "unit_id": names, "judge": "j", "rubric": "r", "value": ratings[:, 0], "lowest": 1.0, "highest": 5.0}
    judges = pl.DataFrame(judge).select(JUDGED.names()).cast(JUDGED)
    table = certificates(JoinedRatings(people, judges, {}), Resampling(500, seed))
    row = table.row(
        by_predicate=(pl.col("judge") == "j") & (pl.col("statistic") == "spearman") & (pl.col("level") == "pooled"), named=True
    )
    return row["human_value_low"], row["human_value_high"]


@pytest.mark.long
@pytest.mark.parametrize(("units", "of_cluster"), [(100, 1), (120, 4)])
def test_intervals_of_the_ceiling_hold_it(units: int, of_cluster: int) -> None:
    true, random = ceiling(simulate(np.random.default_rng(99), 600_000, of_cluster)), np.random.default_rng(1)
    held = 0
    for seed in range(REPETITIONS):
        low, high = interval(simulate(random, units, of_cluster), of_cluster, seed)
        held += low <= true <= high
    sys.stdout.write(f"{units} units, clusters of {of_cluster}: {held} of {REPETITIONS} intervals hold {true:.4f}\n")
    assert 0.93 <= held / REPETITIONS <= 0.97
