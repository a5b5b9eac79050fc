"""Scores and items of two runs, compared."""

from typing import Any

import polars as pl
import pytest
from scipy import stats

from schemas.blueprint import Blueprint
from tasks.compare.scores import compare_scores, find_flips, mcnemar_exact
from tasks.scoring.uncertainty import Resampling
from tests.tasks.scoring.samples import ability, blueprint, items, task

ONE = blueprint(ability("a", task("d")))
TWO = blueprint(ability("a", task("d")), ability("b", task("e"), weight=3.0))


def changes(
    before: pl.DataFrame, after: pl.DataFrame, design: Blueprint = ONE, resamples: int = 0
) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["kind"], one["id"]): one for one in compare_scores(before, after, design, Resampling(resamples, 0))}


def test_only_common_items_count_whatever_model_and_setting_are_called() -> None:
    # Common are items 0 to 2: before (1 + 0 + 0) / 3, after (1 + 1 + 0) / 3.
    found = changes(items("d", [1, 0, 0, 1, None], "old"), items("d", [1, 1, 0, None, 1], "new", setting="rag"))
    one = found["dataset", "d"]
    assert (one["before"], one["after"]) == pytest.approx((100 / 3, 200 / 3))
    assert one["n_items"] == 3
    assert one["difference"] == pytest.approx(100 / 3)
    assert (one["ci_low"], one["ci_high"], one["is_clear"]) == (None, None, False)


def test_totals_and_abilities_are_weighed_as_the_blueprint_says() -> None:
    before = pl.concat([items("d", [0, 0]), items("e", [1, 1, 1, 1])])
    after = pl.concat([items("d", [1, 0]), items("e", [1, 1, 1, 0])])
    found = changes(before, after, TWO)
    # d rises by 50 with weight 1, e falls by 25 with weight 3: (50 - 75) / 4.
    assert found["ability", "a"]["difference"] == 50
    assert found["ability", "b"]["difference"] == -25
    total = found["total", "tiny"]
    assert (total["before"], total["after"], total["difference"], total["n_items"]) == (75, 68.75, -6.25, 6)
    assert list(found) == [("total", "tiny"), ("ability", "a"), ("ability", "b"), ("dataset", "d"), ("dataset", "e")]


def test_what_only_one_run_has_is_left_out_of_both() -> None:
    # e is only in the run before: the total is that of d alone, not of 0.25 x d.
    found = changes(pl.concat([items("d", [0, 0]), items("e", [1.0])]), items("d", [1, 0]), TWO)
    assert found["total", "tiny"]["before"] == 0
    assert found["total", "tiny"]["after"] == 50
    assert ("ability", "b") not in found


def test_runs_without_a_common_item_have_nothing_to_compare() -> None:
    assert changes(items("d", [1, None]), items("d", [None, 1])) == {}


def test_a_difference_is_clear_if_its_interval_leaves_out_nothing_changed() -> None:
    found = changes(items("d", [0.0] * 30), items("d", [1.0] * 25 + [0.0] * 5), resamples=500)
    assert found["dataset", "d"]["is_clear"]
    alike = changes(items("d", [0.0, 1.0] * 10), items("d", [1.0, 0.0] * 10), resamples=500)
    assert not alike["dataset", "d"]["is_clear"]


def test_items_turn_from_right_to_wrong_and_back() -> None:
    # 0 stays right, 1 falls, 2 and 3 rise, 4 stays wrong, 5 was not scored before.
    before = items("d", [1, 1, 0, 0, 0, None])
    after = items("d", [1, 0, 1, 1, 0, 1])
    (found,) = find_flips(before, after)
    moved = {"binary": True, "n_items": 5, "fell": ["d-1"], "rose": ["d-2", "d-3"], "p_value": 1.0}
    assert found == {"dataset": "d", "method": "choice", "metric": "accuracy", **moved}


def test_an_unparsed_reply_was_wrong() -> None:
    (found,) = find_flips(items("d", [0, 1], status=["unparsed", "scored"]), items("d", [1, 1]))
    assert (found["fell"], found["rose"]) == ([], ["d-0"])


def test_shares_of_an_item_fall_and_rise_without_a_test() -> None:
    (found,) = find_flips(items("d", [0.5, 0.2, 1.0]), items("d", [0.4, 0.3, 1.0]))
    assert [found[name] for name in ("binary", "fell", "rose", "p_value")] == [False, ["d-0"], ["d-1"], None]


def test_a_rating_at_the_end_of_its_scale_is_not_right_or_wrong() -> None:
    (found,) = find_flips(items("d", [1, 0], metric="judged_rating"), items("d", [0, 1], metric="judged_rating"))
    assert [found[name] for name in ("binary", "fell", "rose", "p_value")] == [False, ["d-0"], ["d-1"], None]


def test_of_repetitions_more_than_half_must_be_right() -> None:
    # Item 0 of the run after is right in one of two: not more than half. Item 1 in two of two.
    before = pl.concat([items("d", [1, 0]), items("d", [1, 0], repetition=1)])
    after = pl.concat([items("d", [1, 1]), items("d", [0, 1], repetition=1)])
    (found,) = find_flips(before, after)
    assert (found["n_items"], found["fell"], found["rose"]) == (2, ["d-0"], ["d-1"])


def test_metrics_are_told_apart_and_sorted() -> None:
    before = pl.concat([items("e", [1, 0]), items("d", [1, 0])])
    after = pl.concat([items("e", [1, 1]), items("d", [1, 0])])
    assert [(flip["dataset"], flip["rose"]) for flip in find_flips(before, after)] == [("d", []), ("e", ["e-1"])]


@pytest.mark.parametrize(("fell", "rose"), [(0, 1), (1, 5), (8, 2), (7, 7), (30, 12), (0, 20)])
def test_the_p_value_is_that_of_the_binomial_test(fell: int, rose: int) -> None:
    expected = stats.binomtest(fell, fell + rose).pvalue
    assert mcnemar_exact(fell, rose) == pytest.approx(expected, rel=1e-12)


def test_nothing_that_changed_is_no_evidence() -> None:
    assert mcnemar_exact(0, 0) == 1
