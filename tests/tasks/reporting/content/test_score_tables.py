"""Scores with a headline, and how alike they rank models, over values worked out by hand."""

import polars as pl
import pytest

from schemas.blueprint import MetricSpec
from tasks.reporting.content.score_tables import Headlines, describe_headlines
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.scoring.samples import items, one_dataset

BLUEPRINT = one_dataset(
    MetricSpec(metric="panas_baseline_adjusted", headline="Skill"),
    MetricSpec(metric="pillar_emotion"),
    MetricSpec(metric="accuracy", headline="Right"),
)


def described(right: dict[str, list[float | None]], skill: dict[str, list[float | None]]) -> Headlines:
    """Of models with these values of items."""
    rows = [items("d", values, model, metric="accuracy") for model, values in right.items()]
    rows += [items("d", values, model, metric="panas_baseline_adjusted") for model, values in skill.items()]
    scored = score_benchmark(pl.concat(rows).lazy(), BLUEPRINT, ScoreSettings())
    (found,) = describe_headlines(BLUEPRINT, {name: scored.layer(name) for name in ("raw_scores", "normalized_scores")})
    return found


def test_headline_scores_stand_in_the_blueprints_order() -> None:
    found = described({"b": [1.0, 0, 0, 1], "a": [1.0, None]}, {"a": [None, None], "b": [0.5, 0.5]}).scores
    shown = [(row.headline, row.model, row.score, row.n, row.n_total) for row in found]
    # A skill of 0.5 on -1 to 1 is 75 of 100.
    assert shown == [("Skill", "a", None, 0, 2), ("Skill", "b", 75, 2, 2), ("Right", "a", 100, 1, 2), ("Right", "b", 50, 4, 4)]
    limits = {(row.headline, row.model): (row.ci_low, row.ci_high) for row in found}
    # Both alike, so two more may lie at either end: t of 1 degree is 12.706205, 161.4476 / 163.4476 = 0.987764.
    assert limits["Skill", "b"] == pytest.approx((75 * (1 - 0.987764), 75 + 25 * 0.987764), abs=1e-3)
    assert limits["Skill", "a"] == limits["Right", "a"] == (None, None)
    low, high = limits["Right", "b"]
    assert low is not None and high is not None  # noqa: PT018  for the type checker
    assert low < 50 < high


def test_a_rank_correlation_needs_three_models() -> None:
    right: dict[str, list[float | None]] = {"a": [1.0, 1], "b": [1.0, 0], "c": [0.0, 0], "d": [None]}
    falling: dict[str, list[float | None]] = {"a": [-1.0], "b": [0.0], "c": [1.0], "d": [1.0]}
    assert described(right, falling).correlations == {
        "base": {"Skill": {"Right": pytest.approx(-1)}, "Right": {"Skill": pytest.approx(-1)}}
    }
    assert described(right, {**falling, "c": [None]}).correlations == {
        "base": {"Skill": {"Right": None}, "Right": {"Skill": None}}
    }
