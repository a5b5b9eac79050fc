"""Changes of rated dimensions between two runs, worked out by hand."""

from typing import Any

from schemas.blueprint import Blueprint
from schemas.changes import ScoreDifference
from tasks.compare.regression import SystemScores, find_regressions
from tasks.compare.scores import dimension_changes
from tasks.scoring.uncertainty import Resampling
from tests.tasks.rows import item, items, judgement, judgements
from tests.tasks.scoring.samples import ability, blueprint, task

ONE: Blueprint = blueprint(ability("able", task("own")))
WHOLE = SystemScores(vetoed=False, coverage=1.0, item_coverage=1.0, datasets=frozenset({"own"}))
CLUSTERS = {"a": "x", "b": "x", "c": "y", "d": "y"}
ASKED = items(*(item(name, "counselor_reply", cluster=cluster) for name, cluster in CLUSTERS.items()))
SCALE = {"rubric": "r", "lowest": 0, "highest": 4}


def rated(ratings: str, dimension: str = "warmth", **more: Any) -> Any:
    """The ratings of items a, b, c, d, a digit each; `-` is a rating that did not come."""
    given = zip(CLUSTERS, ratings, strict=False)
    rows = (judgement(name, dimension, None if one == "-" else int(one), **{**SCALE, **more}) for name, one in given)
    return judgements(*rows)


def changes(before: Any, after: Any, resamples: int = 400) -> list[ScoreDifference]:
    return list(dimension_changes(before, after, ASKED, Resampling(resamples, 0)))


def test_a_fall_beyond_the_interval_is_a_regression() -> None:
    (found,) = changes(rated("4433"), rated("3322"))
    # Of the draws of x (4, 4) and y (3, 3), a quarter are y y: the interval of 3.5 begins at 3. Each item falls by 1.
    assert (found.what, found.rubric, found.scale, found.label) == ("own: warmth", "r", (0, 4), "own: warmth (0 to 4)")
    assert (found.before, found.after, found.change, found.n_items) == (3.5, 2.5, -1.0, 4)
    assert (found.allowed, found.ci_low, found.ci_high, found.note) == (0.5, -1.0, -1.0, None)
    (regression,) = find_regressions([found], WHOLE, WHOLE, ONE)
    assert regression.message == (
        "own: warmth (0 to 4) fell by 1.00 points, from 3.50 to 2.50 over 4 items scored in both runs; "
        "0.50 is within its interval (95 % interval of the change: -1.00 to -1.00)"
    )


def test_a_fall_within_the_interval_is_none() -> None:
    # c falls from 3 to 1: 3.5 to 3.0, which is where the interval began.
    (found,) = changes(rated("4433"), rated("4413"))
    assert (found.change, found.allowed) == (-0.5, 0.5)
    assert find_regressions([found], WHOLE, WHOLE, ONE) == ()


def test_only_items_rated_in_both_on_one_scale_are_compared() -> None:
    # d has no rating before, a none after: b and c are left. 4 and 3, then 4 and 1.
    (found,) = changes(rated("443-"), rated("-410"))
    assert (found.before, found.after, found.n_items) == (3.5, 2.5, 2)
    assert changes(rated("4433"), rated("3322", highest=5)) == []


def test_repetitions_of_an_item_are_one_value() -> None:
    # a: (4 + 0) / 2 = 2, c: 3. Without resamples there is no interval, and the fall is not judged.
    before = judgements(*(judgement(name, "warmth", rating, repetition=n, **SCALE) for name, n, rating in REPEATED))
    (found,) = changes(before, rated("0-0"), resamples=0)
    assert (found.before, found.after, found.n_items, found.ci_low) == (2.5, 0.0, 2, None)
    assert found.note == "no interval: the change is not judged"
    assert find_regressions([found], WHOLE, WHOLE, ONE) == ()


REPEATED = [("a", 0, 4), ("a", 1, 0), ("c", 0, 3)]


def test_each_dimension_is_one_change() -> None:
    both = [("4433", "0000"), ("3322", "1111")]
    before, after = (judgements(*rated(first).to_dicts(), *rated(second, "asks").to_dicts()) for first, second in both)
    assert [(one.what, one.change) for one in changes(before, after)] == [("own: asks", 1.0), ("own: warmth", -1.0)]
