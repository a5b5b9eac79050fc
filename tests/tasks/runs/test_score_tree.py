"""How a total came about, added up once more by hand from the scored tables."""

from math import fsum

import polars as pl
import pytest

from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec, MetricSpec
from schemas.documents.score_part import ScorePart
from schemas.metrics import (
    CentredNormalisation,
    Metric,
    NumericNormalisation,
)
from schemas.tables.layers import AGGREGATED
from tasks.runs.baselines import Baselines, FixedAnswer
from tasks.runs.run_tables import System
from tasks.runs.score_tree import (
    Scores,
    explain_ability,
    explain_total,
    scores_of,
    weighted_mean,
)
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.scoring.samples import ability, blueprint, gated, items, task

LEVELLED = blueprint(
    ability("a", task("low", "low"), task("mid", "medium"), task("mid2", "medium", weight=3), task("top", "high")),
    ability("b", ability("c", task("e")), ability("f", task("g"), weight=2.0), weight=0.5),
)


def explained(design: Blueprint, *parts: pl.DataFrame, setting: str = "base") -> tuple[Scores, ScorePart]:
    tables = score_benchmark(pl.concat(parts).lazy(), design, ScoreSettings())
    layers = {name: tables.layer(name) for name in AGGREGATED}
    scores = scores_of(layers, System("m", setting))
    return scores, explain_total(scores, design)


def part(root: ScorePart, name: str) -> ScorePart:
    (found,) = [each for each in root.walk() if each.id == name]
    return found


def test_every_tier_is_the_weighted_mean_below() -> None:
    rows = [items(name, values) for name, values in (("low", [1, 0]), ("mid", [1, 1]), ("mid2", [1, 0, 0]), ("top", [0, 0, 1]))]
    _, total = explained(LEVELLED, *rows, items("e", [1, 0, 0, 0, 0]), items("g", [1, 1, 0]))
    # Medium: (1 x 100 + 3 x 100/3) / 4 = 50. Levels low, medium, high weigh 0.30, 0.55, 0.15.
    assert part(total, "medium").score == pytest.approx(50)
    a = 0.30 * 50 + 0.55 * 50 + 0.15 * 100 / 3
    assert part(total, "a").score == pytest.approx(a)
    b = (20 + 2 * 200 / 3) / 3
    assert part(total, "b").score == pytest.approx(b)
    assert total.score == pytest.approx((a + 0.5 * b) / 1.5)
    assert part(total, "b").share == pytest.approx(1 / 3)
    assert part(total, "b").contributes == pytest.approx(b / 3)
    for each in total.walk():
        assert each.adds_up
        assert each.computed == each.score  # to the last bit
        if each.parts:
            assert fsum(below.contributes or 0 for below in each.parts) == pytest.approx(each.score, abs=1e-9)


def test_a_level_without_a_score_gives_its_weight() -> None:
    # Without the high level the rule is 0.4 and 0.6; the datasets of it are missing, not 0.
    _, total = explained(
        LEVELLED, items("low", [1.0]), items("mid", [0.0]), items("mid2", [0.0]), items("e", [1.0]), items("g", [1.0])
    )
    assert [(level.id, level.weight, level.score) for level in part(total, "a").parts] == [
        ("low", 0.4, 100),
        ("medium", 0.6, 0),
        ("high", 0.0, None),
    ]
    assert part(total, "a").score == 40
    assert part(total, "task_top").score is None
    assert (part(total, "top").share, part(total, "top").contributes) == (None, None)
    assert (part(total, "a").datasets_scored, part(total, "a").datasets_total) == (3, 4)


def test_the_gate_is_not_in_the_total() -> None:
    design = gated()
    scores, total = explained(design, items("safety", [0, 1]), items("mind", [1, 1]), items("heart", [0, 1]))
    assert [each.id for each in total.parts] == ["able", "kind"]
    assert total.score == pytest.approx(0.3 * 100 + 0.7 * 50)
    assert (scores.total["total"], scores.total["vetoed"]) == (0, True)
    assert explain_ability(scores, design.abilities[0], design).score == 50


def test_a_score_that_is_no_sum_is_found() -> None:
    scores, _ = explained(gated(), items("safety", [1.0]), items("mind", [1, 1]), items("heart", [0, 1]))
    changed = {**scores.layers, "ability_scores": {**scores.layers["ability_scores"], ("able",): {"score_0_100": 90.0}}}
    total = explain_total(Scores(System("m", "base"), scores.total, changed), gated())
    assert not part(total, "able").adds_up
    assert not total.adds_up  # 0.3 x 90 + 0.7 x 50 is not 65
    assert part(total, "kind").adds_up


def test_what_is_missing_is_no_zero() -> None:
    assert weighted_mean([(None, 1.0), (50.0, 2.0)]) == 50
    assert weighted_mean([(None, 1.0)]) is None
    assert weighted_mean([(80.0, 0.0)]) is None
    assert weighted_mean([(0.0, 1.0), (100.0, 1.0)]) == 50


def test_bounds_are_those_that_scores_are_normalised_by() -> None:
    metrics = (
        MetricSpec(metric="accuracy", normalisation=NumericNormalisation(min=0.2, max=0.9)),
        MetricSpec(metric="strict_accuracy", normalisation=CentredNormalisation(best=0.3, span=0.7), weight=2.0),
    )
    dataset = BlueprintDataset(title="d", methods=(MethodSpec(id="choice", metrics=metrics),))
    design = blueprint(ability("a", task("d")), datasets={"d": dataset})
    _, total = explained(design, items("d", [1, 0, 1]), items("d", [1, 0, 0], metric="strict_accuracy"))
    assert (
        part(total, "choice.accuracy").computed
        == part(total, "choice.accuracy").score
        == pytest.approx((2 / 3 - 0.2) / 0.7 * 100)
    )
    strict = part(total, "choice.strict_accuracy")
    assert strict.computed == strict.score == pytest.approx((1 - (1 / 3 - 0.3) / 0.7) * 100)
    assert strict.share == pytest.approx(2 / 3)


def test_constant_answers_are_weighed_as_the_scores_are() -> None:
    design = gated()
    rows = pl.concat([items("safety", [1, 0]), items("mind", [1, 0, 0, 0]), items("heart", [0, 1])])
    layers = {name: score_benchmark(rows.lazy(), design, ScoreSettings()).layer(name) for name in AGGREGATED}
    always: dict[tuple[str, Metric], Baselines] = {
        ("mind", "accuracy"): Baselines(FixedAnswer("A", 0.25)),
        ("heart", "accuracy"): Baselines(FixedAnswer("B", 0.6)),
    }
    total = explain_total(scores_of(layers, System("m", "base"), always), design)
    # 0.3 x 25 + 0.7 x 60; the gate's answer is not known and is no part of it.
    assert total.constant == pytest.approx(49.5)
    assert (part(total, "able").constant, part(total, "kind").constant) == (25, 60)
    measured = next(each.measured for each in part(total, "able").walk() if each.measured)
    assert measured.constant_answer == "A"
    half = {("mind", "accuracy"): Baselines(FixedAnswer("A", 0.25))}
    assert explain_total(scores_of(layers, System("m", "base"), half), design).constant is None
    unknown = explain_total(scores_of(layers, System("m", "base"), {("mind", "accuracy"): Baselines()}), design)
    assert [each.constant for each in unknown.walk()] == [None] * len([*unknown.walk()])
    assert explain_ability(scores_of(layers, System("m", "base"), always), design.abilities[0], design).constant is None


def test_what_has_no_weight_needs_no_constant_answer() -> None:
    design = blueprint(ability("talk", task("stages", datasets=["early", "late"], early=0.0)))
    rows = pl.concat([items("early", [1, 0]), items("late", [1, 1])])
    layers = {name: score_benchmark(rows.lazy(), design, ScoreSettings()).layer(name) for name in AGGREGATED}
    always: dict[tuple[str, Metric], Baselines] = {("late", "accuracy"): Baselines(FixedAnswer("A", 0.75))}
    assert explain_total(scores_of(layers, System("m", "base"), always), design).constant == pytest.approx(75)
