"""The rule of regressions: falls worked out by hand, vetoes, coverage, and what cannot be compared."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint, Gate
from schemas.changes import ScoreDifference
from tasks.compare.regression import SystemScores, fell_beyond_interval, find_regressions, find_warnings
from tasks.compare.scores import score_changes
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.uncertainty import Resampling
from tests.tasks.scoring.samples import ability, blueprint, gated, items, share, task

ONE = blueprint(ability("able", task("d")))
TWO = blueprint(ability("able", task("d"), weight=0.3), ability("kind", task("e"), weight=0.7))
FELL = ScoreDifference(what="able", before=80.0, after=60.0, change=-20.0, ci_low=-28.0, ci_high=-12.5, allowed=8.0, n_items=100)
WHOLE = SystemScores(vetoed=False, coverage=1.0, item_coverage=1.0, datasets=frozenset({"d", "e"}))


def compare(
    before: pl.DataFrame,
    after: pl.DataFrame,
    design: Blueprint = ONE,
    *,
    resamples: int = 400,
    changed: frozenset[str] = frozenset(),
) -> dict[str, ScoreDifference]:
    changes = score_changes(before, after, design, Resampling(resamples, 0), changed)
    return {change.what: change for change in changes}


def pair(dataset: str, right: int, flipped: int, total: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`total` items of which `right` are right, and later `flipped` of these wrong."""
    return items(dataset, share(right, total)), items(dataset, [0.0] * flipped + share(right, total)[flipped:])


def test_a_change_is_that_of_the_items_scored_in_both() -> None:
    # Items 0 to 2 have both: 2 of 3 right, then 1 of 3.
    found = compare(items("d", [1, 1, 0, 1, None]), items("d", [1, 0, 0, None, 1]))
    assert set(found) == {"total", "able"}
    for change in found.values():
        assert change.before == pytest.approx(200 / 3)
        assert change.after == pytest.approx(100 / 3)
        assert change.n_items == 3
        assert change.change == pytest.approx(-100 / 3)


def test_values_are_those_of_the_score_stage_where_nothing_is_missing() -> None:
    rng = np.random.default_rng(2)
    runs = [pl.concat([items(name, rng.random(30).tolist()) for name in ("safety", "mind", "heart")]) for _ in range(2)]
    found = compare(runs[0], runs[1], gated())
    for run, side in zip(runs, ("before", "after"), strict=True):
        scored = score_benchmark(run.lazy(), gated(), ScoreSettings(bootstrap=0))
        expected = dict(scored.ability.select("ability", "score_0_100").rows())
        expected["total"] = scored.totals["total_before_veto"].item()
        assert {what: getattr(change, side) for what, change in found.items()} == pytest.approx(expected)
    # The gate is an ability and no part of the total.
    assert set(found) == {"total", "safe", "able", "kind"}


def test_intervals_are_those_of_scipys_bootstrap() -> None:
    rng = np.random.default_rng(7)
    was = rng.beta(3, 3, 150)
    now = np.clip(was - rng.normal(0.05, 0.1, 150), 0, 1)
    change = compare(items("d", was.tolist()), items("d", now.tolist()), resamples=4000)["total"]
    drawn: dict[str, Any] = {"n_resamples": 4000, "method": "percentile", "vectorized": True, "rng": np.random.default_rng(1)}
    paired = stats.bootstrap((now - was,), np.mean, **drawn).confidence_interval
    own = stats.bootstrap((was,), np.mean, **drawn).confidence_interval
    assert change.ci_low == pytest.approx(100 * paired.low, abs=0.15)
    assert change.ci_high == pytest.approx(100 * paired.high, abs=0.15)
    assert change.allowed == pytest.approx(100 * (was.mean() - own.low), abs=0.15)


@pytest.mark.parametrize(
    ("flipped", "expected"),
    [
        # Of 100 items 80 are right: the standard error is sqrt(0.8 x 0.2 / 100) = 4 points, so the interval reaches 7.8 down.
        (20, True),  # 20 points: below it; the change -20 with 4.0 points of its own error excludes 0
        (10, True),  # 10 points: below it
        (6, False),  # 6 points: within it, though the change (error 2.4, -6 + 1.96 x 2.4 < 0) excludes 0
        (0, False),
    ],
)
def test_a_fall_counts_beyond_the_interval(flipped: int, expected: bool) -> None:
    change = compare(*pair("d", 80, flipped, 100), resamples=2000)["total"]
    assert change.allowed == pytest.approx(7.84, abs=0.8)
    assert change.change == pytest.approx(-flipped)
    assert fell_beyond_interval(change) is expected
    if flipped:
        assert change.ci_high is not None
        assert change.ci_high < 0


def test_replies_that_vary_are_no_regression_though_the_score_lies_below_the_interval() -> None:
    # 50 of 100 right; then 30 of these wrong and 20 others right: 10 points less. The change of single items is +1 or -1 for half
    # of them: its error is sqrt((0.5 - 0.01) / 100) = 7 points, so 0 is within -10 +- 13.7, whatever the first score's interval.
    before = items("d", share(50, 100))
    after = items("d", [0.0] * 30 + [1.0] * 20 + [1.0] * 20 + [0.0] * 30)
    change = compare(before, after, resamples=2000)["total"]
    assert change.change == pytest.approx(-10)
    assert change.ci_high is not None
    assert change.ci_high > 0
    assert not fell_beyond_interval(change)
    # With an interval of no width, the fall alone would be one.
    assert not fell_beyond_interval(change.model_copy(update={"allowed": 0.0}))


def test_a_rise_is_no_regression() -> None:
    after, before = pair("d", 80, 20, 100)
    assert not fell_beyond_interval(compare(before, after)["total"])


def test_without_an_interval_a_fall_is_said_and_not_judged() -> None:
    change = compare(*pair("d", 80, 80, 100), resamples=0)["total"]
    assert (change.change, change.ci_low, change.allowed) == (-80, None, None)
    assert change.note == "no interval: the change is not judged"
    assert find_regressions([change], WHOLE, WHOLE, ONE) == ()


def test_scores_that_rest_on_other_datasets_are_not_compared() -> None:
    before = pl.concat([items("d", [1.0] * 20), items("e", [1.0] * 20)])
    found = compare(before, items("d", [1.0] * 20), TWO)
    assert found["able"].change == 0
    assert found["total"].note == "not compared: it rests on e in one of the runs only"
    assert found["kind"].note == "not compared: it has no score in this run"
    assert (found["total"].before, found["total"].change) == (None, None)
    back = compare(items("d", [1.0] * 20), before, TWO)
    assert back["kind"].note == "not compared: it has no score in the previous run"


def test_scores_of_other_items_are_not_compared() -> None:
    before = pl.concat([items("d", [1.0] * 20), items("e", [1.0] * 20)])
    after = pl.concat([items("d", [1.0] * 20), items("e", [0.0] * 20)])
    found = compare(before, after, TWO, changed=frozenset({"e"}))
    assert found["able"].change == 0
    assert found["kind"].note == found["total"].note == "not compared: the items of e are not the same"
    apart = compare(items("d", [1.0, None]), items("d", [None, 1.0]))
    assert apart["total"].note == "not compared: no item of d is scored in both runs"


def test_a_finding_says_what_fell_how_far_and_what_was_allowed() -> None:
    (found,) = find_regressions([FELL], WHOLE, WHOLE, ONE)
    assert (found.what, found.before, found.after, found.allowed) == ("able", 80, 60, 8)
    assert found.message == (
        "able fell by 20.00 points, from 80.00 to 60.00 over 100 items scored in both runs; 8.00 is within its interval "
        "(95 % interval of the change: -28.00 to -12.50)"
    )


def test_a_finding_about_an_interval_without_width_says_so() -> None:
    (found,) = find_regressions([FELL.model_copy(update={"allowed": 0.0})], WHOLE, WHOLE, ONE)
    assert "over 100 items scored in both runs; its interval before had no width below it (95 %" in found.message


def test_a_total_that_is_vetoed_is_compared_before_the_veto() -> None:
    both = replace(WHOLE, vetoed=True)
    (found,) = find_regressions([FELL.model_copy(update={"what": "total"})], both, both, ONE)
    assert found.message.startswith("total before the veto fell by 20.00 points, from 80.00 to 60.00")


def test_a_fall_of_exactly_what_is_allowed_is_within() -> None:
    assert not fell_beyond_interval(FELL.model_copy(update={"change": -8.0}))
    assert fell_beyond_interval(FELL.model_copy(update={"change": -8.1}))


@pytest.mark.parametrize(
    ("before", "after", "finding", "remark"),
    [
        (False, True, "the veto is newly triggered: it was passed before", None),
        (None, True, "the veto is newly triggered: it was undecided before", None),
        (False, None, "the veto is undecided: it was passed before", None),
        (True, None, "the veto is undecided: it was triggered before", None),
        (True, False, None, "the veto is lifted"),
        (None, False, None, "the veto, undecided before, is passed"),
        (False, False, None, None),
    ],
)
def test_the_veto(before: bool | None, after: bool | None, finding: str | None, remark: str | None) -> None:
    was, now = replace(WHOLE, vetoed=before), replace(WHOLE, vetoed=after)
    found = find_regressions([], was, now, ONE)
    assert [one.message for one in found] == ([finding] if finding else [])
    assert [(one.what, one.before, one.after, one.allowed) for one in found] == (
        [("veto", before, after, None)] if finding else []
    )
    assert find_warnings(was, now, ONE) == ((remark,) if remark else ())


def test_coverage_that_drops_names_what_was_lost() -> None:
    less = replace(WHOLE, coverage=0.5, datasets=frozenset({"d"}))
    (found,) = find_regressions([], WHOLE, less, ONE)
    assert (found.what, found.before, found.after) == ("coverage", 1, 0.5)
    assert found.message == "coverage dropped from 100.0 % to 50.0 % of the datasets: no score of e"
    assert find_regressions([], less, WHOLE, ONE) == ()
    assert find_warnings(less, WHOLE, ONE) == ("coverage rose from 50.0 % to 100.0 % of the datasets",)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    # A ranked model needs 95 % of the items.
    [(1.0, 0.96, False), (1.0, 0.95, False), (1.0, 0.94, True), (0.94, 0.5, False), (1.0, None, True), (None, None, False)],
)
def test_item_coverage_that_falls_below_what_a_ranked_model_needs(before: float | None, after: float | None, found: bool) -> None:
    was, now = replace(WHOLE, item_coverage=before), replace(WHOLE, item_coverage=after)
    assert [one.what for one in find_regressions([], was, now, ONE)] == (["item coverage"] if found else [])


SEEKER = frozenset({"seeker (s)"})


def test_what_helpers_alone_lost_is_a_warning_that_names_them() -> None:
    fewer = replace(WHOLE, coverage=0.5, item_coverage=0.5, datasets=frozenset({"d"}), failed={"e": SEEKER}, lost_by_others=0.5)
    assert find_regressions([], WHOLE, fewer, TWO) == ()
    through = "through failures that are not the model's, but of seeker (s)"
    assert find_warnings(WHOLE, fewer, TWO) == (
        f"coverage dropped from 100.0 % to 50.0 % of the datasets {through}: no score of e",
        f"50.0 % of the items are scored, 100.0 % were {through}",
    )


@pytest.mark.parametrize(
    ("failed", "by_others", "found"),
    [
        # 0.5 + 0.45 is what a ranked model needs, and less is not; a dataset on which the model failed, too, is the model's.
        (SEEKER, 0.45, []),
        (SEEKER, 0.44, ["item coverage"]),
        (SEEKER | {"tested"}, 0.45, ["coverage"]),
        (frozenset({"tested"}), 0.0, ["coverage", "item coverage"]),
    ],
)
def test_what_the_model_lost_beside_helpers_is_found(failed: frozenset[str], by_others: float, found: list[str]) -> None:
    now = SystemScores(vetoed=False, coverage=0.5, item_coverage=0.5, datasets=frozenset({"d"}), failed={"e": failed})
    now = replace(now, lost_by_others=by_others)
    assert [one.what for one in find_regressions([], WHOLE, now, TWO)] == found


def test_a_veto_that_helpers_left_undecided_is_a_warning() -> None:
    design = blueprint(ability("able", task("d")), ability("safe", task("e")), gate=Gate(ability="safe", threshold=60))
    now = replace(WHOLE, vetoed=None, failed={"e": SEEKER, "d": frozenset({"tested"})})
    assert find_regressions([], WHOLE, now, design) == ()
    remark = "the veto is undecided through failures that are not the model's, but of seeker (s)"
    assert find_warnings(WHOLE, now, design) == (remark,)
    assert [one.what for one in find_regressions([], WHOLE, replace(now, failed={"e": frozenset({"tested"})}), design)] == [
        "veto"
    ]


def test_datasets_below_an_ability_are_those_of_its_sub_abilities_too() -> None:
    outer = ability("outer", ability("inner", ability("deep", task("x"))), ability("beside", task("y"), task("z")))
    design = blueprint(outer, ability("safe", task("s")), gate=Gate(ability="safe", threshold=60))
    assert [main.dataset_ids for main in design.abilities] == [["x", "y", "z"], ["s"]]
