"""Items asked several times: the mean and its interval, items being what is drawn."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint, MetricSpec
from schemas.metrics import Metric
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.scoring.samples import items, one_dataset


def design(metric: Metric) -> Blueprint:
    judged = {"judged": True, "rubric": "stage"} if metric == "mean_rating" else {}
    return one_dataset(MetricSpec(metric=metric), **judged)


@pytest.mark.parametrize("metric", ["accuracy", "mean_rating"])
def test_mean_and_interval_are_those_of_item_means(metric: Metric) -> None:
    rng = np.random.default_rng(8)
    # Items differ, their repetitions little: rows drawn one by one would give an interval 1 / sqrt(3) as wide.
    skill = rng.random((80, 1))
    values = (
        (rng.random((80, 3)) < skill).astype(float)
        if metric == "accuracy"
        else np.clip(skill + rng.normal(0, 0.02, (80, 3)), 0, 1)
    )
    parts = [items("d", values[:, number].tolist(), metric=metric, repetition=number) for number in range(3)]
    raw = score_benchmark(pl.concat(parts).lazy(), design(metric), ScoreSettings(bootstrap=4000)).raw.row(0, named=True)
    means = values.mean(axis=1)
    theirs = stats.bootstrap(
        (means,), np.mean, n_resamples=4000, method="percentile", vectorized=True, rng=np.random.default_rng(1)
    ).confidence_interval
    assert raw["value"] == pytest.approx(means.mean())
    assert (raw["ci_low"], raw["ci_high"]) == pytest.approx((theirs.low, theirs.high), abs=0.006)
    assert (raw["n_scored"], raw["n_total"]) == (240, 240)


def test_every_scored_repetition_weighs_the_same() -> None:
    # Item 0: 1, 1, 1; item 1: 0, failed, failed. Rows: 3 / 4; the item whose calls failed weighs less.
    values: list[list[float | None]] = [[1, 0], [1, None], [1, None]]
    parts = [items("d", said, repetition=number) for number, said in enumerate(values)]
    raw = score_benchmark(pl.concat(parts).lazy(), design("accuracy"), ScoreSettings(bootstrap=0)).raw.row(0, named=True)
    assert (raw["value"], raw["n_scored"], raw["n_total"]) == (0.75, 4, 6)
