"""Scores, rated dimensions and items of two runs, compared."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint, MetricSpec
from schemas.changes import ScoreDifference
from schemas.documents.comparison import CommonScore
from tasks.compare.scores import compare_scores, dimension_changes, find_flips, score_changes
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.rows import item, judgement, judgements
from tests.tasks.rows import items as rated_items
from tests.tasks.scoring.samples import ability, blueprint, gated, items, one_dataset, task

ONE = blueprint(ability("a", task("d")))
TWO = blueprint(ability("a", task("d")), ability("b", task("e"), weight=3.0))


def common(before: pl.DataFrame, after: pl.DataFrame, design: Blueprint = ONE) -> dict[tuple[str, str], CommonScore]:
    return {(row.kind, row.id): row for row in compare_scores(before, after, design)}


def changes(before: pl.DataFrame, after: pl.DataFrame, design: Blueprint = ONE, **more: Any) -> dict[str, ScoreDifference]:
    return {change.what: change for change in score_changes(before, after, design, **more)}


def test_only_common_items_count_whatever_systems_are_called() -> None:
    # Common are items 0 to 2: before (1 + 0 + 0) / 3, after (1 + 1 + 0) / 3.
    before, after = items("d", [1, 0, 0, 1, None], "old"), items("d", [1, 1, 0, None, 1], "new", setting="rag")
    row = common(before, after)["dataset", "d"]
    assert (row.before, row.after, row.difference) == pytest.approx((100 / 3, 200 / 3, 100 / 3))
    assert (row.n_items, row.ci_low, row.ci_high, row.answer) == (3, None, None, "undecided")
    found = changes(before, after)
    assert list(found) == ["total", "a"]
    for change in found.values():
        assert (change.before, change.after, change.change) == pytest.approx((100 / 3, 200 / 3, 100 / 3))
        assert (change.n_items, change.note) == (3, "no interval, fewer than 5 clusters: the change is not judged")


def test_totals_and_abilities_are_weighed_by_the_blueprint() -> None:
    before = pl.concat([items("d", [0, 0]), items("e", [1, 1, 1, 1])])
    after = pl.concat([items("d", [1, 0]), items("e", [1, 1, 1, 0])])
    found = common(before, after, TWO)
    # d rises by 50 with weight 1, e falls by 25 with weight 3: (50 - 75) / 4.
    assert {key: row.difference for key, row in found.items()} == {
        ("total", "tiny"): -6.25,
        ("ability", "a"): 50,
        ("ability", "b"): -25,
        ("dataset", "d"): 50,
        ("dataset", "e"): -25,
    }
    total = found["total", "tiny"]
    assert (total.before, total.after, total.n_items) == (75, 68.75, 6)


def test_what_only_one_run_has_is_left_out() -> None:
    # e is only in the run before: the total is that of d alone, not of 0.25 x d.
    found = common(pl.concat([items("d", [0, 0]), items("e", [1.0])]), items("d", [1, 0]), TWO)
    assert (found["total", "tiny"].before, found["total", "tiny"].after) == (0, 50)
    assert ("ability", "b") not in found
    assert common(items("d", [1, None]), items("d", [None, 1])) == {}


def test_differences_leave_out_0() -> None:
    found = common(items("d", [0.0] * 30), items("d", [1.0] * 25 + [0.0] * 5))
    assert found["dataset", "d"].answer == "different"
    alike = common(items("d", [0.0, 1.0] * 10), items("d", [1.0, 0.0] * 10))
    assert alike["dataset", "d"].answer == "undecided"


def test_whole_runs_have_scores_of_the_score_stage() -> None:
    rng = np.random.default_rng(2)
    runs = [pl.concat([items(name, rng.random(30).tolist()) for name in ("safety", "mind", "heart")]) for _ in range(2)]
    found = changes(runs[0], runs[1], gated())
    for run, side in zip(runs, ("before", "after"), strict=True):
        scored = score_benchmark(run.lazy(), gated(), ScoreSettings())
        expected = dict(scored.ability.select("ability", "score_0_100").rows())
        expected["total"] = scored.totals["total_before_veto"].item()
        # The gate is an ability and no part of the total.
        assert {what: getattr(change, side) for what, change in found.items()} == pytest.approx(expected)


def lower_limit(shares: Any) -> float:
    """Wilson's with Student's t, for as many right or wrong answers as have the variance of these shares."""
    share, error, t = shares.mean(), stats.sem(shares), stats.t.ppf(0.975, len(shares) - 1)
    n = share * (1 - share) / error**2
    return float((share + t**2 / (2 * n) - t * np.sqrt(error**2 + (t / (2 * n)) ** 2)) / (1 + t**2 / n))


def test_intervals_are_those_of_scipys_t_tests() -> None:
    rng = np.random.default_rng(7)
    was = rng.beta(3, 3, 150)
    now = np.clip(was - rng.normal(0.05, 0.1, 150), 0, 1)
    change = changes(items("d", was.tolist()), items("d", now.tolist()))["total"]
    paired = stats.ttest_rel(now, was).confidence_interval(0.95)
    below = was.mean() - lower_limit(was)
    figures = (change.ci_low, change.ci_high, change.allowed)
    assert figures == pytest.approx((100 * paired.low, 100 * paired.high, 100 * below))


def test_scores_of_other_datasets_are_not_compared() -> None:
    alone = items("d", [1.0] * 20)
    both = pl.concat([alone, items("e", [1.0] * 20)])
    found = changes(both, alone, TWO)
    assert found["a"].change == 0
    assert (found["total"].before, found["total"].note) == (None, "not compared: it rests on e in one of the runs only")
    assert found["b"].note == "not compared: it has no score in this run"
    assert changes(alone, both, TWO)["b"].note == "not compared: it has no score in the previous run"


def test_scores_of_other_items_are_not_compared() -> None:
    before = pl.concat([items("d", [1.0] * 20), items("e", [1.0] * 20)])
    after = pl.concat([items("d", [1.0] * 20), items("e", [0.0] * 20)])
    found = changes(before, after, TWO, changed={"e"})
    assert found["a"].change == 0
    assert found["b"].note == found["total"].note == "not compared: the items of e are not the same"
    apart = changes(items("d", [1.0, None]), items("d", [None, 1.0]))
    assert apart["total"].note == "not compared: no item of d is scored in both runs"


NAMES = "abcdefghij"
CLUSTERS = dict(zip(NAMES, "vvwwxxyyzz", strict=True))
RATED = rated_items(*(item(name, "counselor_reply", cluster=cluster) for name, cluster in CLUSTERS.items()))
SCALE = {"rubric": "r", "lowest": 0, "highest": 4}


def rated(ratings: str, dimension: str = "warmth", **more: Any) -> Any:
    """The ratings of items a, b, c and so on, a digit each; `-` is a rating that did not come."""
    given = ((name, None if digit == "-" else int(digit)) for name, digit in zip(CLUSTERS, ratings, strict=False))
    return judgements(*(judgement(name, dimension, rating, **{**SCALE, **more}) for name, rating in given))


def texts_of(text: str) -> dict[str, str]:
    return dict.fromkeys(("en", "zh"), text)


def rated_changes(before: Any, after: Any) -> list[ScoreDifference]:
    return list(dimension_changes(before, after, RATED, {}))


def test_a_dimension_changes_in_points_of_its_scale() -> None:
    (change,) = rated_changes(rated("4444333322"), rated("3344221122"))
    # Clusters fall by 1, 0, 1, 2 and 0, of 4, 4, 3, 3 and 2 points.
    paired = stats.ttest_1samp([-1, 0, -1, -2, 0], 0).confidence_interval(0.95)
    low = 4 * lower_limit(np.array([4, 4, 3, 3, 2]) / 4)
    assert (change.what, change.rubric, change.scale) == ("own: warmth", "r", (0, 4))
    assert change.label == "own: warmth (0 to 4)"
    assert (change.before, change.after) == pytest.approx((3.2, 2.4))
    assert (change.n_items, change.note) == (10, None)
    figures = (change.change, change.allowed, change.ci_low, change.ci_high)
    assert figures == pytest.approx((-0.8, 3.2 - low, paired.low, paired.high))


def test_a_dimension_that_is_better_low_has_its_upper_limit_to_go_by() -> None:
    both = texts_of("Calm?")
    own = {
        "r": {
            "id": "r",
            "version": "1",
            "instruction": both,
            "scale": {"lowest": 0, "highest": 4},
            "dimensions": [
                {"name": "warmth", "definition": both, "anchors": {"en": list("abcde"), "zh": list("abcde")}, "better": "low"}
            ],
        }
    }
    (change,) = dimension_changes(rated("4444333322"), rated("3344221122"), RATED, own)
    # The mean is 3.2: on the scale turned round 0.8 of 4.
    high = 4 - 4 * lower_limit(1 - np.array([4, 4, 3, 3, 2]) / 4)
    assert (change.better, change.label) == ("low", "own: warmth (0 to 4, lower is better)")
    assert change.allowed == pytest.approx(high - 3.2)


def test_only_items_rated_in_both_are_compared() -> None:
    # d has no rating before, a none after: b and c are left. 4 and 3, then 4 and 1.
    (found,) = rated_changes(rated("443-"), rated("-410"))
    assert (found.before, found.after, found.n_items) == (3.5, 2.5, 2)
    assert rated_changes(rated("4433"), rated("3322", highest=5)) == []


def test_repetitions_of_a_rated_item_are_one_value() -> None:
    # a: (4 + 0) / 2 = 2, c: 3.
    repeated = [("a", 0, 4), ("a", 1, 0), ("c", 0, 3)]
    before = judgements(*(judgement(name, "warmth", rating, repetition=n, **SCALE) for name, n, rating in repeated))
    (found,) = rated_changes(before, rated("0-0"))
    assert (found.before, found.after, found.n_items, found.ci_low) == (2.5, 0.0, 2, None)
    assert found.note == "no interval, fewer than 5 clusters: the change is not judged"


def test_each_dimension_is_one_change() -> None:
    both = [("4433", "0000"), ("3322", "1111")]
    before, after = (judgements(*rated(first).to_dicts(), *rated(second, "asks").to_dicts()) for first, second in both)
    assert [(change.what, change.change) for change in rated_changes(before, after)] == [
        ("own: asks", 1.0),
        ("own: warmth", -1.0),
    ]


def flip(before: pl.DataFrame, after: pl.DataFrame, design: Blueprint = ONE) -> list[Any]:
    """Return what is said of the items of the one metric of two runs."""
    (row,) = find_flips(before, after, design)
    return [row.binary, row.n_items, [*row.fell], [*row.rose]]


def test_items_turn_from_right_to_wrong_and_back() -> None:
    # 0 stays right, 1 falls, 2 and 3 rise, 4 stays wrong, 5 was not scored before.
    assert flip(items("d", [1, 1, 0, 0, 0, None]), items("d", [1, 0, 1, 1, 0, 1])) == [True, 5, ["d-1"], ["d-2", "d-3"]]
    # An unparsed reply was wrong.
    assert flip(items("d", [0, 1], status=["unparsed", "scored"]), items("d", [1, 1]))[2:4] == [[], ["d-0"]]


def test_shares_fall_and_rise() -> None:
    assert flip(items("d", [0.5, 0.2, 1.0]), items("d", [0.4, 0.3, 1.0])) == [False, 3, ["d-0"], ["d-1"]]
    # Right and wrong before, shares after.
    assert flip(items("d", [1, 0]), items("d", [0.5, 0])) == [False, 2, ["d-0"], []]
    # A rating at the end of its scale is not right or wrong.
    before, after = (items("d", values, metric="judged_rating") for values in ([1, 0], [0, 1]))
    assert flip(before, after, one_dataset(MetricSpec(metric="judged_rating"))) == [False, 2, ["d-0"], ["d-1"]]


def test_of_repetitions_more_than_half_must_be_right() -> None:
    # Item 0 of the run after is right in one of two: not more than half. Item 1 in two of two.
    before = pl.concat([items("d", [1, 0]), items("d", [1, 0], repetition=1)])
    after = pl.concat([items("d", [1, 1]), items("d", [0, 1], repetition=1)])
    assert flip(before, after)[1:4] == [2, ["d-0"], ["d-1"]]


def test_metrics_are_told_apart_and_sorted() -> None:
    before = pl.concat([items("e", [1, 0]), items("d", [1, 0])])
    after = pl.concat([items("e", [1, 1]), items("d", [1, 0])])
    assert [(row.dataset, row.rose) for row in find_flips(before, after, TWO)] == [("d", ()), ("e", ("e-1",))]


def test_answers_and_smallest_detectable_difference() -> None:
    # 100 items, of which two rise and one falls: (2 - 1) / 100 = 1 point.
    before = [0.0, 0.0, 1.0] + [1.0] * 97
    after = [1.0, 1.0, 0.0] + [1.0] * 97
    differences = 100 * (np.array(after) - np.array(before))
    error = differences.std(ddof=1) / 10
    (row,) = (score for score in compare_scores(items("d", before), items("d", after), ONE, margin=10) if score.kind == "dataset")
    assert row.p_value == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    # One-sided: the mean of 1 is below the margin of 10.
    assert row.p_equivalent == pytest.approx(stats.t.sf((10 - 1) / error, 99))
    # t(0.975) + t(0.8) of 99 degrees of freedom: 1.984 + 0.845.
    assert row.smallest_detectable == pytest.approx((1.98422 + 0.84526) * error, rel=1e-5)
    assert (row.answer, row.margin) == ("equivalent", 10)
    assert common(items("d", before), items("d", after))["dataset", "d"].answer == "undecided"
    far = common(items("d", [0.0] * 30), items("d", [1.0] * 25 + [0.0] * 5))["dataset", "d"]
    assert far.answer == "different"


def test_too_few_clusters_decide_nothing() -> None:
    row = common(items("d", [0.0, 1.0]), items("d", [1.0, 1.0]))["dataset", "d"]
    assert (row.p_value, row.p_equivalent, row.smallest_detectable, row.answer) == (None, None, None, "undecided")
