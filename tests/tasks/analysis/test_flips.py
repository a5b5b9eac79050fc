"""Items that flip between two runs: by hand, the p-value against scipy."""

import polars as pl
import pytest
from scipy import stats

from tasks.analysis.flips import Flips, find_flips, mcnemar_exact
from tests.tasks.scoring.samples import items


def test_items_turn_from_right_to_wrong_and_back() -> None:
    # 0 stays right, 1 falls, 2 and 3 rise, 4 stays wrong, 5 was not scored before.
    before = items("d", [1, 1, 0, 0, 0, None])
    after = items("d", [1, 0, 1, 1, 0, 1])
    (found,) = find_flips(before, after)
    assert found == Flips("d", "choice", "accuracy", True, 5, ("d-1",), ("d-2", "d-3"), 1.0)


def test_an_unparsed_reply_was_wrong() -> None:
    (found,) = find_flips(items("d", [0, 1], status=["unparsed", "scored"]), items("d", [1, 1]))
    assert (found.fell, found.rose) == ((), ("d-0",))


def test_shares_of_an_item_fall_and_rise_without_a_test() -> None:
    (found,) = find_flips(items("d", [0.5, 0.2, 1.0]), items("d", [0.4, 0.3, 1.0]))
    assert (found.binary, found.fell, found.rose, found.p_value) == (False, ("d-0",), ("d-1",), None)


def test_a_rating_at_the_end_of_its_scale_is_not_right_or_wrong() -> None:
    (found,) = find_flips(items("d", [1, 0], metric="judged_rating"), items("d", [0, 1], metric="judged_rating"))
    assert (found.binary, found.fell, found.rose, found.p_value) == (False, ("d-0",), ("d-1",), None)


def test_of_repetitions_more_than_half_must_be_right() -> None:
    # Item 0 of the run after is right in one of two: not more than half. Item 1 in two of two.
    before = pl.concat([items("d", [1, 0]), items("d", [1, 0], repetition=1)])
    after = pl.concat([items("d", [1, 1]), items("d", [0, 1], repetition=1)])
    (found,) = find_flips(before, after)
    assert (found.n_items, found.fell, found.rose) == (2, ("d-0",), ("d-1",))


def test_metrics_are_told_apart_and_sorted() -> None:
    before = pl.concat([items("e", [1, 0]), items("d", [1, 0])])
    after = pl.concat([items("e", [1, 1]), items("d", [1, 0])])
    assert [(one.dataset, one.rose) for one in find_flips(before, after)] == [("d", ()), ("e", ("e-1",))]


@pytest.mark.parametrize(("fell", "rose"), [(0, 1), (1, 5), (8, 2), (7, 7), (30, 12), (0, 20)])
def test_the_p_value_is_that_of_the_binomial_test(fell: int, rose: int) -> None:
    expected = stats.binomtest(fell, fell + rose).pvalue
    assert mcnemar_exact(fell, rose) == pytest.approx(expected, rel=1e-12)


def test_nothing_that_changed_is_no_evidence() -> None:
    assert mcnemar_exact(0, 0) == 1
