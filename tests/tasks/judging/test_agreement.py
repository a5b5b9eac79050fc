"""How far judges agree, and what else moves their ratings."""

from itertools import product
from random import Random

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from schemas.errors import ScoringError
from schemas.tables.responses import Judgements
from tasks.judging.agreement import agreements
from tasks.judging.rubrics import load_rubric
from tasks.lake.partitions import content_sha256
from tasks.statistics.reliability import ALPHA_LEVELS, krippendorff_alpha, rank_correlation
from tests.tasks.judging.rows import items, judgement
from tests.tasks.rows import Row, answer, answers, judgements

RUBRIC = load_rubric("mc_stage1")
FIRST, SECOND, _ = RUBRIC.names
RUBRICS = {RUBRIC.id: RUBRIC}
NAMES = ("a", "b", "c")
ASKED = items("counselor_reply", *NAMES)
REPLIES = answers(*(answer(name, "x" * (10 + place)) for place, name in enumerate(NAMES)))


def rated(dimension: str, judge: str, repetition: int, *ratings: int | None) -> list[Row]:
    """Ratings of a, b, c."""
    return [
        judgement(RUBRIC, dimension, name, rating, judge=judge, judge_repetition=repetition)
        for name, rating in zip(NAMES, ratings, strict=True)
    ]


def compare(*rows: Row) -> pl.DataFrame:
    return agreements(judgements(*rows), REPLIES, ASKED, RUBRICS)


def only(*rows: Row) -> Row:
    return compare(*rows).row(0, named=True)


def test_order_of_ratings_does_not_change_bit() -> None:
    drawn = Random(0)
    names = [f"{number:03}" for number in range(120)]
    asked = items("counselor_reply", *names)
    replies = answers(*(answer(name, "x" * drawn.randint(1, 400)) for name in names))
    rows = [
        judgement(RUBRIC, dimension, name, drawn.choice([None, 1, 2, 3, 4, 5]), judge=judge, judge_repetition=repetition)
        for name, dimension, judge, repetition in product(names, RUBRIC.names, ("alpha", "beta", "gamma"), range(3))
    ]
    table = judgements(*rows)
    orders = [table, *(Judgements.validate(table.sample(fraction=1, shuffle=True, seed=seed)) for seed in range(5))]
    assert len({content_sha256(agreements(order, replies, asked, RUBRICS)) for order in orders for _ in range(3)}) == 1


def test_two_judges_agree_as_far_as_by_hand() -> None:
    # Units [1, 1], [2, 4], [5, 5]; two raters, n = 6 ratings 1 1 2 4 5 5.
    # Observed: 2 and 4 differ by 2, counted in both orders: (4 + 4) / 6.
    # Expected: squares of the distances of all ordered pairs / (6 * 5). Sum of squares about the mean 3: 4+4+1+1+4+4 = 18;
    # ordered pairs: 2 * 6 * 18 = 216; 216 / 30 = 36 / 5.  alpha = 1 - (4/3) / (36/5) = 22/27.
    row = only(*rated(FIRST, "beta", 0, 1, 2, 5), *rated(FIRST, "alpha", 0, 1, 4, 5))
    assert row["alpha"] == pytest.approx(22 / 27)
    assert (row["judges"], row["n_answers"], row["n_ratings"]) == (["alpha", "beta"], 3, 6)
    assert (row["dataset"], row["model"], row["setting"]) == ("own", "m", "base")
    assert (row["rubric"], row["dimension"]) == ("mc_stage1", FIRST)
    # Both asked once, in the same order.
    assert row["place_effect"] is None
    # Repetitions of one judge are raters like any other.
    row = only(*rated(FIRST, "alpha", 0, 1, 2, 5), *rated(FIRST, "alpha", 1, 1, 4, 5))
    assert (row["alpha"], row["judges"]) == (pytest.approx(22 / 27), ["alpha"])


def test_missing_ratings_are_missing_and_not_low() -> None:
    row = only(*rated(FIRST, "alpha", 0, 5, 4, None), *rated(FIRST, "beta", 0, 5, 4, 3), *rated(FIRST, "gamma", 0, None, None, 3))
    assert (row["alpha"], row["n_answers"], row["n_ratings"]) == (1.0, 3, 6)


def test_single_ratings_are_counted_but_not_compared() -> None:
    row = only(*rated(FIRST, "alpha", 0, 1, 3, 5))
    assert (row["alpha"], row["n_answers"], row["n_ratings"], row["place_effect"]) == (None, 0, 3, None)
    # Lengths 10, 11, 12.
    assert row["length_correlation"] == 1


def test_where_no_rating_came_there_still_is_row() -> None:
    row = only(*rated(FIRST, "alpha", 0, None, None, None))
    assert [row[name] for name in ("alpha", "length_correlation", "place_effect", "n_answers", "n_ratings")] == [None] * 3 + [
        0,
        0,
    ]


def test_dimensions_and_models_are_compared_separately() -> None:
    others = [{**row, "model": "n"} for row in rated(FIRST, "alpha", 0, 1, 2, 3)]
    table = agreements(
        judgements(*rated(FIRST, "alpha", 0, 1, 2, 3), *rated(SECOND, "alpha", 0, 3, 2, 1), *others),
        answers(*(answer(name, "x" * place, model=model) for model in "mn" for place, name in enumerate(NAMES, start=1))),
        ASKED,
        RUBRICS,
    )
    assert table.select("model", "dimension", "length_correlation").rows() == [
        ("m", SECOND, -1.0),
        ("m", FIRST, 1.0),
        ("n", FIRST, 1.0),
    ]


def test_place_effect_by_hand() -> None:
    # Three repetitions ask for FIRST at places 0, 2, 1. First - last: a 5 - 1 = 4, b 3 - 3 = 0, c has no last: mean 2.
    row = only(*rated(FIRST, "alpha", 0, 5, 3, 5), *rated(FIRST, "alpha", 1, 1, 3, None), *rated(FIRST, "alpha", 2, 2, 2, 2))
    assert row["place_effect"] == 2


def test_place_effect_compares_a_judge_with_itself() -> None:
    # alpha is milder than beta by 3 throughout; of beta there is no rating at the last place.
    row = only(
        *rated(FIRST, "alpha", 0, 5, 5, 5),
        *rated(FIRST, "alpha", 1, 4, 4, 4),
        *rated(FIRST, "beta", 0, 2, 2, 2),
        *rated(FIRST, "beta", 1, None, None, None),
    )
    assert row["place_effect"] == 1


def test_people_are_asked_in_one_order() -> None:
    # Each repetition is a person, and none of them was asked for FIRST at another place.
    ratings = [*rated(FIRST, "people", 0, 5, 5, 5), *rated(FIRST, "people", 1, 1, 1, 1), *rated(FIRST, "people", 2, 2, 2, 2)]
    assert only(*ratings)["place_effect"] is None
    # A judge's FIRST stands at 0, 2 and 1: first - last is 5 - 1.
    assert only(*({**row, "judge": "alpha"} for row in ratings))["place_effect"] == 4
    # Beside a judge they still have one place: the judge's own 4 - 1 = 3 stays.
    both = [*ratings, *rated(FIRST, "alpha", 0, 4, 4, 4), *rated(FIRST, "alpha", 1, 1, 1, 1)]
    assert only(*both)["place_effect"] == 3


def test_place_effect_takes_ends_of_places_asked() -> None:
    # Two repetitions ask for SECOND at places 1 and 0: first - last is the second less the first.
    assert only(*rated(SECOND, "alpha", 0, 1, 1, 1), *rated(SECOND, "alpha", 1, 3, 4, 5))["place_effect"] == 3
    # The fourth repetition asks in the order of the first again: its ratings are averaged. 3 - (1 + 5) / 2 = 0 at place 0.
    row = only(
        *rated(SECOND, "alpha", 0, 1, 1, 1),
        *rated(SECOND, "alpha", 3, 5, 5, 5),
        *rated(SECOND, "alpha", 1, 3, 3, 3),
    )
    assert row["place_effect"] == 0


def test_rank_correlation_is_scipys() -> None:
    random = Random(5)
    for size in (3, 4, 10, 200):
        left = [random.randrange(6) for _ in range(size)]
        right = [value * 40 + random.randrange(90) for value in left]
        expected = spearmanr(left, right).statistic
        assert rank_correlation(pl.Series(left), pl.Series(right)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "n"),
    [([1, 2, 2, 5], [3, 1, 1, 9], 4), ([1, None, 2, 3, 4], [4, 1, 3, 2, 1], 4)],
)
def test_rank_correlation_leaves_gaps_out(first: list[float | None], second: list[float | None], n: int) -> None:
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    assert len(both) == n
    assert rank_correlation(first, second) == pytest.approx(spearmanr(*zip(*both, strict=True)).statistic)


@pytest.mark.parametrize(("left", "right"), [([], []), ([1, 2], [3, 4]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [7, 7, 7])])
def test_rank_correlation_of_too_little_is_null(left: list[int], right: list[int]) -> None:
    assert rank_correlation(pl.Series(left, dtype=pl.Int64), pl.Series(right, dtype=pl.Int64)) is None


def test_no_ratings_are_no_rows() -> None:
    assert compare().is_empty()


def test_ratings_of_no_answer_are_an_error() -> None:
    with pytest.raises(ScoringError, match="belong to no answer") as caught:
        compare(judgement(RUBRIC, FIRST, "z", 3))
    assert "item_id z" in str(caught.value)


@pytest.mark.parametrize("change", [{"rubric": "other"}, {"dimension": "beauty"}], ids=str)
def test_ratings_by_an_unknown_rubric_are_an_error(change: Row) -> None:
    with pytest.raises(ScoringError, match="an unknown rubric"):
        compare({**judgement(RUBRIC, FIRST, "a", 3), **change})


@pytest.mark.parametrize(
    "units",
    [[], [[]], [[3], [4], [5]], [[3, None], [None, 4]], [[4, 4], [4, 4, None]], [[4, 4], [5]]],
    ids=["no units", "no ratings", "one rating each", "one rating each and a missing one", "no variance", "none that counts"],
)
def test_nothing_to_compare_is_null(units: list[list[float | None]]) -> None:
    assert krippendorff_alpha(units) is None


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=3, max_size=3), min_size=2, max_size=12))
def test_the_package_says_the_same(units: list[list[int | None]]) -> None:
    assume(krippendorff_alpha(units) is not None)
    for level in ALPHA_LEVELS:
        theirs = krippendorff.alpha(np.array(units, dtype=float).T, level_of_measurement=level)
        assert krippendorff_alpha(units, level) == pytest.approx(theirs, abs=1e-9)
