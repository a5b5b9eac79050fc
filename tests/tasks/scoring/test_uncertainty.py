"""Intervals against scipy, and where there are none."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from schemas.blueprint import MetricSpec
from schemas.metrics import CentredNormalisation, GradeNormalisation
from tasks.scoring.benchmark import ScoreSettings, ScoreTables, score_benchmark
from tests.tasks.scoring.samples import ability, blueprint, by_labels, gated, items, labelled, measured, one_dataset, share, task

LIMITS = ["ci_low", "ci_high"]


def limits(frame: pl.DataFrame, **named: str) -> Any:
    rows = frame.filter(**named)
    assert rows.height == 1
    return rows.select(LIMITS).row(0)


def scored(*parts: pl.DataFrame, design: Any = None) -> ScoreTables:
    chosen = design or blueprint(ability("a", task("d")))
    return score_benchmark(pl.concat(parts).lazy(), chosen, ScoreSettings())


def scipy_limits(statistic: Any, *samples: Any) -> tuple[float, float]:
    found = stats.bootstrap(
        samples, statistic, n_resamples=1500, method="percentile", paired=True, vectorized=False, rng=np.random.default_rng(1)
    ).confidence_interval
    return found.low, found.high


def f1_of_true(truth: Any, guess: Any) -> float:
    """Return the F1 of one class; scikit-learn's own takes a millisecond, which a bootstrap pays 1,500 times."""
    return float(2 * np.sum(truth & guess) / (np.sum(truth) + np.sum(guess)))


def f1_of_both(truth: Any, guess: Any) -> float:
    return (f1_of_true(truth, guess) + f1_of_true(~truth, ~guess)) / 2


def test_interval_of_an_accuracy() -> None:
    found = scored(items("d", share(140, 200)))
    wilson = stats.binomtest(140, 200).proportion_ci(method="wilson")
    assert limits(found.raw) == pytest.approx((wilson.low, wilson.high))
    assert found.raw["standard_error"].item() == pytest.approx(stats.sem([1.0] * 140 + [0.0] * 60))
    # The total is the only dataset, on 0-100.
    assert limits(found.totals) == pytest.approx([100 * limit for limit in limits(found.raw)])


@pytest.mark.parametrize(
    ("metric", "other", "statistic", "average"),
    [("binary_f1", [], f1_of_true, "binary"), ("macro_f1", ["negative"], f1_of_both, "macro")],
)
def test_interval_of_an_f1(metric: str, other: list[str], statistic: Any, average: str) -> None:
    rng = np.random.default_rng(7)
    gold = rng.random(150) < 0.3
    predicted = np.where(rng.random(150) < 0.75, gold, ~gold)
    design = by_labels(metric)
    right, said = ([["positive"] if positive else other for positive in labels] for labels in (gold, predicted))
    found = scored(labelled("d", metric, right, said), design=design)
    assert found.raw["value"].item() == pytest.approx(statistic(gold, predicted))
    assert statistic(gold, predicted) == pytest.approx(f1_score(gold, predicted, average=average))
    assert limits(found.raw) == pytest.approx(scipy_limits(statistic, gold, predicted), abs=0.02)


def test_interval_of_bias_score_and_of_its_total() -> None:
    roles = np.array(["target"] * 360 + ["other"] * 240)
    design = by_labels("bias_score_disambiguated")
    found = scored(labelled("d", "bias_score_disambiguated", [["other"]] * 600, [[role] for role in roles]), design=design)
    # s = 2 x 0.6 - 1 = 0.2; its standard error is 2 x sqrt(0.6 x 0.4 / 600) = 0.04, so 0.2 -+ 0.0784.
    assert found.raw["value"].item() == pytest.approx(0.2)
    assert limits(found.raw) == pytest.approx((0.2 - 0.0784, 0.2 + 0.0784), abs=0.01)

    def bias(said: Any) -> float:
        return float(2 * np.mean(said == "target") - 1)

    assert limits(found.raw) == pytest.approx(scipy_limits(bias, roles), abs=0.01)
    # 100 x (1 - 0.2); the bounds change places.
    assert found.totals["total"].item() == pytest.approx(80.0)
    low, high = limits(found.raw)
    assert limits(found.totals) == pytest.approx((100 * (1 - high), 100 * (1 - low)), abs=1e-6)


def test_unbiased_total_is_its_upper_limit() -> None:
    # s = 0 exactly, which is p = 0.5 of -1 to 1; n = 149 and t of 149 degrees 1.976013: p -+ 0.07987.
    design = by_labels("bias_score_disambiguated")
    said = [["target"], ["other"]] * 75
    found = scored(labelled("d", "bias_score_disambiguated", [["other"]] * 150, said), design=design)
    assert found.totals["total"].item() == 100.0
    assert limits(found.raw) == pytest.approx((-0.15975, 0.15975), abs=1e-4)
    assert limits(found.totals) == pytest.approx((100 - 15.975, 100), abs=0.01)


def test_interval_of_a_total_of_two_datasets() -> None:
    # Variance of the total 0.3 A + 0.7 B: 0.09 x 0.25 / 99 + 0.49 x 0.16 / 49 = 0.00022727 + 0.0016, s = 0.042747; its degrees of
    # freedom 3.33893e-6 / (5.2173e-10 + 5.22449e-8) = 63.28, t = 1.99820. Point: 0.3 x 50 + 0.7 x 80 = 71. Wilson's interval of
    # 0.71 with t^2 / n = (1.99820 x 0.042747)^2 / 0.2059 = 0.035435.
    parts = [items("mind", share(50, 100)), items("heart", share(40, 50)), items("safety", share(9, 10))]
    middle, half = (0.71 + 0.0177175) / 1.035435, (0.2059 * 0.035435 + 0.0177175**2) ** 0.5 / 1.035435
    expected = (100 * (middle - half), 100 * (middle + half))
    assert limits(scored(*parts, design=gated()).totals) == pytest.approx(expected, abs=1e-3)


def test_vetoed_interval_is_of_total_before() -> None:
    parts = [items("mind", share(50, 100)), items("heart", share(40, 50))]
    passed = scored(*parts, items("safety", share(9, 10)), design=gated()).totals
    vetoed = scored(*parts, items("safety", share(1, 10)), design=gated()).totals
    assert vetoed["total"].item() == 0.0
    assert limits(vetoed) == limits(passed)


def test_repetitions_are_averaged_within_their_item() -> None:
    rng = np.random.default_rng(8)
    # Items differ, their repetitions little: single rows would give an interval 1 / sqrt(3) as wide.
    values = (rng.random((80, 3)) < rng.random((80, 1))).astype(float)
    found = scored(*(items("d", values[:, number].tolist(), repetition=number) for number in range(3)))
    assert limits(found.raw) == pytest.approx(scipy_limits(np.mean, values.mean(axis=1)), abs=0.01)


def test_weightless_dataset_moves_neither_total_nor_interval() -> None:
    # As three stages of LongEmotion's conversations are. 60 and 30, with equal weights.
    design = blueprint(ability("talk", task("stages", datasets=["early", "late"], early=0.0)), ability("find", task("find")))
    counted = [items("late", share(6, 10)), items("find", share(3, 10))]
    without, with_it = (scored(*counted, *more, design=design).totals for more in ([], [items("early", share(1, 10))]))
    assert with_it["total"].item() == pytest.approx(45)
    assert limits(with_it) == limits(without)


def test_other_models_change_no_interval() -> None:
    alone = scored(items("d", share(7, 10)))
    both = scored(items("d", share(7, 10)), items("d", share(7, 10), "n"), items("d", share(2, 10), "o"))
    assert limits(both.raw, model="m") == limits(both.raw, model="n") == limits(alone.raw)


@pytest.mark.parametrize(
    "parts",
    [[items("d", [1.0, None])], [items("d", [1.0]), items("d", [0.0], repetition=1)]],
    ids=["one scored item", "repetitions are not further items"],
)
def test_no_interval_below_two_scored_items(parts: list[pl.DataFrame]) -> None:
    found = scored(*parts)
    assert found.raw["value"].item() is not None
    assert limits(found.raw) == limits(found.totals) == (None, None)


def test_total_of_single_item_has_no_interval() -> None:
    design = blueprint(ability("a", task("d"), task("e")))
    found = scored(items("d", share(5, 10)), items("e", [1.0]), design=design)
    assert limits(found.raw, dataset="d") != (None, None)
    assert limits(found.totals) == (None, None)


def test_single_item_in_gate_leaves_total_its_interval() -> None:
    parts = [items("mind", share(5, 10)), items("heart", share(5, 10)), items("safety", [1.0])]
    found = scored(*parts, design=gated())
    assert limits(found.raw, dataset="safety") == (None, None)
    assert limits(found.totals) != (None, None)


def test_a_grade_leaves_the_total_without_interval() -> None:
    design = one_dataset(MetricSpec(metric="accuracy", normalisation=GradeNormalisation(table={"0": 10, "1": 90})))
    found = scored(items("d", share(4, 4)), design=design)
    assert found.totals["total"].item() == 90.0
    # All four are 1: z^2 is 3.841459.
    assert limits(found.raw) == pytest.approx((4 / 7.841459, 1.0))
    assert limits(found.totals) == (None, None)


def test_missing_items_are_no_clusters() -> None:
    rows = [items("d", [1.0, 0.0, *([None] * 10)]), items("d", share(6, 12), "n")]
    found = scored(*rows)
    wilson = stats.binomtest(1, 2).proportion_ci(method="wilson")
    assert limits(found.raw, model="m") == pytest.approx((wilson.low, wilson.high))
    assert limits(found.totals, model="m") == pytest.approx((100 * wilson.low, 100 * wilson.high))


def test_a_total_with_a_score_of_bias_has_students_interval() -> None:
    bias = measured(
        MetricSpec(metric="bias_score_disambiguated", normalisation=CentredNormalisation(best=0, span=1)), method="labels"
    )
    design = blueprint(ability("a", task("d"), task("e")), datasets={"d": bias})
    roles = [["target"]] * 360 + [["other"]] * 240
    found = scored(labelled("d", "bias_score_disambiguated", [["other"]] * 600, roles), items("e", share(6, 10)), design=design)
    # 80 and 60, half each. The errors are sqrt(0.96 / 599) and sqrt(0.24 / 9).
    first, second = 50**2 * 0.96 / 599, 50**2 * 0.24 / 9
    half = stats.t.ppf(0.975, (first + second) ** 2 / (first**2 / 599 + second**2 / 9)) * (first + second) ** 0.5
    assert found.totals["total"].item() == pytest.approx(70)
    assert limits(found.totals) == pytest.approx((70 - half, 70 + half))


def test_the_f1_of_nothing_is_1() -> None:
    # Nothing is positive and nothing is named so: all is right.
    none: list[list[str]] = [[]] * 10
    assert scored(labelled("d", "binary_f1", none, none), design=by_labels("binary_f1")).raw["value"].item() == 1.0
    # One is, and is found: without it F1 is that of nothing, so all clusters are alike. t of 9 degrees is 2.262157.
    found = scored(
        labelled("d", "binary_f1", [["positive"], *none[1:]], [["positive"], *none[1:]]), design=by_labels("binary_f1")
    )
    assert limits(found.raw) == pytest.approx((1 - 5.117354 / 15.117354, 1.0), abs=1e-6)
