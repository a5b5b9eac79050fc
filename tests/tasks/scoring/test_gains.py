"""Gains of settings over asking plainly, and any two of many models: pairs by hand, intervals against scipy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint, Gate, MetricSpec
from schemas.metrics import GradeNormalisation
from schemas.tables.comparisons import OF_ALL, SettingGains
from tasks.scoring.gains import Paired, Pairing, distance_below, pair_models, setting_gains, strata_of
from tasks.scoring.tree import tree_tables
from tests.tasks.scoring.samples import ability, blueprint, by_labels, items, labelled, one_dataset, task

ONE = blueprint(ability("a", task("d")))
TWO = blueprint(ability("a", task("d")), ability("b", task("e"), weight=3.0))


def gains(*parts: pl.DataFrame, design: Blueprint = ONE) -> pl.DataFrame:
    return setting_gains(pl.concat(parts).lazy(), design)


def both(dataset: str, base: Sequence[float | None], rag: Sequence[float | None], **columns: Any) -> list[pl.DataFrame]:
    return [items(dataset, base, **columns), items(dataset, rag, setting="rag", **columns)]


def row(frame: pl.DataFrame, scope: str = "d") -> dict[str, Any]:
    return frame.row(by_predicate=pl.col("scope") == scope, named=True)


def test_only_items_scored_in_both_settings_count() -> None:
    # Items 0 to 2 have both: base (1 + 0 + 0) / 3, rag (1 + 1 + 0) / 3.
    found = row(gains(*both("d", [1, 0, 0, 1, None], [1, 1, 0, None, 1])))
    assert found["base_0_100"] == pytest.approx(100 / 3)
    assert found["setting_0_100"] == pytest.approx(200 / 3)
    assert found["gain"] == pytest.approx(100 / 3)
    assert (found["model"], found["setting"], found["n_items"]) == ("m", "rag", 3)


def test_repetitions_of_an_item_are_averaged_first() -> None:
    # Item 0: base 1, rag (1 + 0) / 2. Item 1: base (0 + 1) / 2, rag 1, its other repetition failed. All rows alike would give
    # base 2 / 3 and rag 2 / 3.
    parts = [
        items("d", [1.0, 0.0]),
        items("d", [None, 1.0], repetition=1),
        items("d", [1.0, 1.0], setting="rag"),
        items("d", [0.0, None], setting="rag", repetition=1),
    ]
    found = row(gains(*parts))
    assert (found["base_0_100"], found["setting_0_100"], found["gain"], found["n_items"]) == (75, 75, 0, 2)


def test_the_total_weighs_its_datasets() -> None:
    # d gains 50 points with weight 1, e loses 25 with weight 3: (50 - 75) / 4.
    found = gains(*both("d", [0, 0], [1, 0]), *both("e", [1, 1, 1, 1], [1, 1, 1, 0]), design=TWO)
    assert found["scope"].to_list() == ["d", "e", OF_ALL]
    assert row(found, "e")["gain"] == -25
    total = row(found, OF_ALL)
    assert (total["base_0_100"], total["setting_0_100"]) == (75, 68.75)
    assert (total["gain"], total["n_items"]) == (-6.25, 6)


@pytest.mark.parametrize("seed", range(3))
def test_row_order_keeps_gain_bits(seed: int) -> None:
    # Seven datasets of 7 items, of weight 1 to 7. Right are 1, 2, 3, 0, 1, 2, 3 in base and 1, 2, 3, 4, 0, 1, 2 in rag:
    # by weight 1 + 4 + 9 + 0 + 5 + 12 + 21 = 52 and 1 + 4 + 9 + 16 + 0 + 6 + 14 = 50 of 7 x 28 = 196.
    weights = {name: float(weight) for weight, name in enumerate("pqrstuv", 1)}
    design = blueprint(*(ability(f"a_{name}", task(name), weight=weight) for name, weight in weights.items()))
    right = {name: (int(weight) % 4, int(weight) % 5) for name, weight in weights.items()}
    parts = [part for name, counts in right.items() for part in both(name, *([1] * n + [0] * (7 - n) for n in counts))]
    in_order = row(gains(*parts, design=design), OF_ALL)
    assert (in_order["base_0_100"], in_order["setting_0_100"]) == pytest.approx((100 * 52 / 196, 100 * 50 / 196))
    mixed = pl.concat(parts).sample(fraction=1, shuffle=True, seed=seed)
    assert row(gains(mixed, design=design), OF_ALL) == in_order


@pytest.mark.parametrize(
    "others", [[items("e", [1.0, 1.0])], both("e", [1, None], [None, 1])], ids=["in one setting alone", "no pair"]
)
def test_no_total_over_different_datasets(others: list[pl.DataFrame]) -> None:
    assert gains(*both("d", [0, 0], [1, 0]), *others, design=TWO)["scope"].to_list() == ["d"]


def test_doubly_missing_dataset_keeps_total() -> None:
    found = gains(*both("d", [0, 0], [1, 0]), design=TWO)
    assert row(found, OF_ALL)["gain"] == row(found, "d")["gain"] == 50


def test_weightless_dataset_has_gain_outside_total() -> None:
    design = blueprint(ability("a", task("t", datasets=["d", "e"], e=0.0)))
    scored = gains(*both("d", [0, 0], [1, 0]), *both("e", [1, 1], [0, 0]), design=design)
    assert row(scored, "e")["gain"] == -100
    assert {**row(scored, OF_ALL), "scope": "d"} == row(scored, "d")
    # Nor does its absence matter.
    assert row(gains(*both("d", [0, 0], [1, 0]), items("e", [1.0]), design=design), OF_ALL)["gain"] == 50


def test_the_gate_is_no_part_of_the_total() -> None:
    design = blueprint(ability("safe", task("e")), ability("a", task("d")), gate=Gate(ability="safe", threshold=60))
    found = gains(*both("d", [0, 0], [1, 0]), *both("e", [1, 1], [0, 0]), design=design)
    assert (row(found, OF_ALL)["gain"], row(found, OF_ALL)["n_items"]) == (50, 2)


def test_metrics_of_weight_zero_are_left_out() -> None:
    design = one_dataset(MetricSpec(metric="accuracy"), MetricSpec(metric="strict_accuracy", weight=0))
    strict = both("d", [1, 1], [0, 0], metric="strict_accuracy")
    found = row(gains(*both("d", [0, 0], [1, 0]), *strict, design=design))
    assert found["gain"] == 50


def test_f1_is_computed_from_the_pairs() -> None:
    # Pairs are items 0 and 1. Base: joy right, joy wrong for fear: F1 of joy 2 / 3, of fear 0. Rag: both right.
    gold = [["joy"], ["fear"], ["fear"]]
    base = labelled("d", "macro_f1", gold, [["joy"], ["joy"], ["fear"]])
    rag = labelled("d", "macro_f1", gold, [["joy"], ["fear"], ["joy"]], setting="rag")
    kept = rag.filter(pl.col("item_id") != "d-2")
    found = row(gains(base, kept, design=by_labels("macro_f1")))
    assert (found["base_0_100"], found["setting_0_100"]) == (pytest.approx(100 / 3), 100)


def test_models_and_settings_are_apart() -> None:
    parts = [*both("d", [0, 0], [1, 0]), items("d", [1.0, 1.0], setting="coem"), items("d", [1.0, 1.0], "other")]
    found = gains(*parts).filter(scope="d")
    assert found.select("model", "setting", "gain").rows() == [("m", "coem", 100), ("m", "rag", 50)]


@pytest.mark.parametrize("setting", ["base", "rag"])
def test_one_setting_alone_has_no_gains(setting: str) -> None:
    found = gains(items("d", [1.0], setting=setting))
    assert found.is_empty()
    assert SettingGains.is_valid(found)


def test_interval_is_that_of_scipys_paired_t_test() -> None:
    rng = np.random.default_rng(3)
    base = rng.beta(3, 3, 120)
    rag = np.clip(base + rng.normal(0.05, 0.1, 120), 0, 1)
    gain = row(gains(*both("d", base.tolist(), rag.tolist())))
    theirs = stats.ttest_rel(rag, base).confidence_interval(0.95)
    assert gain["gain"] == pytest.approx(100 * (rag.mean() - base.mean()))
    assert (gain["ci_low"], gain["ci_high"]) == pytest.approx((100 * theirs.low, 100 * theirs.high))
    # Pairs move together: without them the interval would be wider than that of one setting's score.
    assert gain["ci_high"] - gain["ci_low"] < 5


def test_one_pair_has_no_interval_and_takes_totals() -> None:
    found = gains(*both("d", [0.5, None], [1.0, 1.0]), *both("e", [0] * 3 + [1] * 3, [1] * 6), design=TWO)
    assert row(found, "e")["ci_low"] is not None
    for scope in ("d", OF_ALL):
        assert (row(found, scope)["ci_low"], row(found, scope)["ci_high"]) == (None, None)
    assert row(found)["gain"] == 50


def test_grades_gain_points_without_an_interval() -> None:
    design = one_dataset(MetricSpec(metric="accuracy", normalisation=GradeNormalisation(table={"0": 10, "1": 60})))
    found = row(gains(*both("d", [0, 0], [1, 1]), design=design))
    assert (found["gain"], found["ci_low"]) == (50, None)
    many = row(gains(*both("d", [0] * 8, [1] * 8), design=design))
    assert (many["gain"], many["ci_low"]) == (50, None)


def paired(before: list[float], after: list[float]) -> Paired:
    """Points of clusters before and after."""
    scores = np.array([before, after])
    left_out = (scores.sum(axis=1, keepdims=True) - scores) / (len(before) - 1)
    return Paired(scores.mean(axis=1), left_out, frozenset(map(str, range(len(before)))))


def test_a_dataset_weighs_in_a_sum_what_it_counts_for() -> None:
    pairs = {("d", "m", "accuracy"): paired([0, 100, 50], [30, 100, 80]), ("e", "m", "accuracy"): paired([0, 0], [100, 100])}
    parts = dict(zip(pairs, (np.array([-0.3, 0.3]), np.array([-0.7, 0.7])), strict=True))
    first, second = strata_of(pairs, parts)
    # 20 points in d, 100 in e, which differs by as much in each cluster: its error follows from what it can count for.
    assert [(each.weight, each.difference) for each in (first, second)] == [pytest.approx((0.3, 20)), pytest.approx((0.7, 100))]
    assert first.left_out == pytest.approx([15, 30, 15])


def test_a_lower_limit_is_of_a_mean_whatever_its_weights_add_up_to() -> None:
    pairs = {("d", "m", "accuracy"): paired([0, 100, 50, 100], [0] * 4), ("e", "m", "accuracy"): paired([0, 80, 90], [0] * 3)}
    one, two = (distance_below(pairs, dict(zip(pairs, weights, strict=True))) for weights in ((0.25, 0.75), (1.0, 3.0)))
    assert one == pytest.approx(two)
    assert one is not None and 0 < one < 100  # noqa: PT018  for the type checker


PAIRED = blueprint(ability("a", task("d")), ability("b", task("e")))
SPEC = ("d", "choice", "accuracy")


def pairing(*parts: pl.DataFrame) -> Pairing:
    return pair_models(pl.concat(parts).lazy(), PAIRED.datasets, tree_tables(PAIRED))


def test_each_pair_counts_the_items_that_both_have() -> None:
    found = pairing(
        items("d", [1, 0, 1, 1], "x"), items("d", [0, 0, 1, 1], "y"), items("d", [1, None, 0, 1], "z"), items("e", [1], "x")
    )
    # x and y share all items: 3 / 4 and 2 / 4. x and z share items 0, 2 and 3: 3 / 3 and 2 / 3. No other model has e.
    assert {spec: pair.scores.tolist() for spec, pair in found.pair("x", "y", ["d", "e"]).items()} == {SPEC: [75, 50]}
    assert found.pair("y", "x", ["d"])[SPEC].scores.tolist() == [50, 75]
    apart = found.pair("x", "z", ["d"])[SPEC]
    assert apart.scores.tolist() == pytest.approx([100, 200 / 3])
    assert apart.items == {"d-0", "d-2", "d-3"}
    assert found.pair("x", "unknown", ["d"]) == {}
