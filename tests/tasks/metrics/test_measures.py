"""What an answer is worth, and what a judge's ratings come to: per answer and scale, over repetitions of judge and answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata
from sklearn.metrics import f1_score

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.metrics import Metric
from schemas.vocabulary import OptionRole
from tasks.metrics.answer_forms import rank_by_logprobs
from tasks.metrics.item_scores import score_items
from tasks.metrics.measures import (
    Rating,
    icat_share,
    label_f1,
    meaningful_share,
    order_accuracy,
    points_share,
    rating_level,
    rating_share,
    recall_at_k,
    reciprocal_rank,
    stereotype_share,
)
from tests.rows import each_row
from tests.tasks.rows import answer, answers, item, items, judgement, judgements


@each_row(
    ("ranking", "lms", "ss"),
    [
        (("stereotype", "anti_stereotype", "unrelated"), 1.0, 1.0),
        (("anti_stereotype", "stereotype", "unrelated"), 1.0, 0.0),
        (("anti_stereotype", "unrelated", "stereotype"), 0.5, 0.0),
        (("unrelated", "stereotype", "anti_stereotype"), 0.0, 1.0),
        (("unrelated", "anti_stereotype", "stereotype"), 0.0, 0.0),
        # What is left out comes last.
        (("anti_stereotype", "unrelated"), 0.5, 0.0),
        (("stereotype", "anti_stereotype"), 1.0, 1.0),
        # Two are left out: their order is open.
        (("stereotype",), None, 1.0),
        (("anti_stereotype",), None, 0.0),
        (("unrelated",), 0.0, None),
    ],
)
def test_every_ranking(ranking: tuple[OptionRole, ...], lms: float | None, ss: float | None) -> None:
    assert meaningful_share(ranking) == lms
    assert stereotype_share(ranking) == ss
    assert icat_share(ranking) == (None if ss is None else lms)


INDICES = st.sets(st.integers(0, 5), min_size=1)


@given(predicted=st.sets(st.integers(0, 5)), gold=INDICES)
def test_label_f1_agrees_with_scikit_learn(predicted: set[int], gold: set[int]) -> None:
    theirs = f1_score([index in gold for index in range(6)], [index in predicted for index in range(6)])
    assert label_f1(predicted, gold) == pytest.approx(theirs)


PERMUTATIONS = st.integers(2, 7).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "expected"),
    [
        ((2, 0, 1), (2,), 1, 1.0),
        ((0, 2, 1), (2,), 1, 0.0),
        ((0, 2, 1), (2,), 2, 1.0),
        # one of the two relevant options is among the first two
        ((0, 2, 1, 3), (2, 3), 2, 0.5),
        # two relevant options cannot both come first
        ((2, 3, 0, 1), (2, 3), 1, 0.5),
        # what was not named is not found
        ((0,), (2,), 3, 0.0),
    ],
)
def test_recall_at_k(ranking: tuple[int, ...], relevant: tuple[int, ...], k: int, expected: float) -> None:
    assert recall_at_k(ranking, relevant, k) == expected


@settings(max_examples=50)
@given(ranking=st.integers(2, 8).flatmap(lambda n: st.permutations(range(n))), data=st.data())
def test_mean_reciprocal_rank_from_the_ranks_of_scores(ranking: list[int], data: st.DataObject) -> None:
    """Several relevant options, or none among those named: the best rank of a relevant one, by scipy's ranks of scores."""
    named = ranking[: data.draw(st.integers(0, len(ranking)))]
    relevant = data.draw(st.sets(st.sampled_from(range(len(ranking))), min_size=1))
    scores = np.array([len(ranking) - named.index(index) if index in named else -np.inf for index in range(len(ranking))])
    ranks = np.where(np.isinf(scores), np.inf, rankdata(-scores, method="min"))
    assert reciprocal_rank(named, relevant) == pytest.approx(1 / ranks[sorted(relevant)].min())


@settings(max_examples=50)
@given(orders=PERMUTATIONS)
def test_order_accuracy_is_kendalls_tau_rescaled(orders: tuple[list[int], list[int]]) -> None:
    order, gold = orders
    tau = kendalltau([order.index(index) for index in range(len(order))], [gold.index(index) for index in range(len(gold))])
    assert order_accuracy(order, gold) == pytest.approx((tau.statistic + 1) / 2)


@each_row(
    ("tokens", "ranking"),
    [
        ([("A", -2.0), ("B", -0.5), ("C", -1.0)], (1, 2, 0)),
        # " B" is likelier than "A", and of two tokens for B the likelier counts, wherever it stands
        ([("B", -3.0), ("A", -1.0), (" B", -0.1)], (1, 0)),
        # equal ones in the order of the letters
        ([("C", -1.0), ("B", -1.0), ("A", -1.0)], (0, 1, 2)),
        ([("(b", -0.2), ("C.", -0.1), (" (A.", -0.3)], (2, 1, 0)),
        # D is not shown; the others are words, digits and marks
        ([("D", -0.1), ("The", -0.2), ("AB", -0.3), ("1", -0.4), ("(", -0.5), ("", -0.6), ("A)", -0.7)], ()),
        ([("C", -4.0)], (2,)),
        ([], ()),
    ],
)
def test_letters_are_ranked_by_their_log_probabilities(tokens: list[tuple[str, float]], ranking: tuple[int, ...]) -> None:
    assert rank_by_logprobs(tokens, 3) == ranking


def test_unlikely_first_tokens_rank_nothing() -> None:
    assert rank_by_logprobs([("The", -0.2), (" I", -2.5), ("A", -3.0)], 9) == ()
    # As likely as the likeliest is likely enough.
    assert rank_by_logprobs([("The", -1.0), ("B", -1.0), ("A", -3.0)], 9) == (1, 0)


RISING, FALLING = (1.0, 2.0, 3.0, 4.0, 5.0), (5.0, 4.0, 3.0, 2.0, 1.0)


@each_row(
    ("points", "chosen", "expected"),
    [
        (RISING, 0, 0.0),
        (RISING, 3, 0.75),
        (FALLING, 0, 1.0),
        ((3.0, 1.0, 2.0), 2, 0.5),
        ((2.0, 1.0, 0.0, 0.0), 3, 0.0),
        ((-2.0, 2.0, 0.0), 2, 0.5),
    ],
)
def test_points_share(points: tuple[float, ...], chosen: int, expected: float) -> None:
    assert points_share(points, chosen) == expected


@pytest.mark.parametrize("points", [(1.0, None, 3.0), (2.0, 2.0)])
def test_unusable_key_is_an_error(points: tuple[float | None, ...]) -> None:
    with pytest.raises(ScoringError, match="cannot be scored") as caught:
        points_share(points, 0)
    assert "points for every option" in str(caught.value)


SUMMARY = item("a", "judged_summary", references=["Beth will visit."])
ADVICE = item("a", "counselor_reply")


def judged_by(metric: Metric) -> MethodSpec:
    return MethodSpec(id="judge", judged=True, rubric="summary", metrics=(MetricSpec(metric=metric),))


JUDGED, LEVEL = judged_by("judged_rating"), judged_by("mean_rating")


def test_missing_or_unreadable_rating_is_the_judges_failure() -> None:
    asked = items(*(item(name, "judged_summary", references=["x"]) for name in "abc"))
    rated = judgements(
        judgement("a", "fluency", 5),
        judgement("a", "faithfulness", None),
        judgement("b", "fluency", 4),
        judgement("b", "faithfulness", 4),
    )
    replies = answers(*(answer(name, "Beth will visit.") for name in "abc"))
    scores = score_items(asked, replies, rated, JUDGED)
    assert scores.select("item_id", "value", "status").rows() == [
        ("a", None, "judge_failed"),
        ("b", 0.75, "scored"),
        ("c", None, "judge_failed"),
    ]


def test_empty_or_failed_answer_needs_no_rating() -> None:
    asked = items(*(item(name, "judged_summary", references=["x"]) for name in "ab"))
    replies = answers(answer("a", None), answer("b", "..."))
    scores = score_items(asked, replies, judgements(), JUDGED)
    assert scores.select("value", "status").rows() == [(None, "call_failed"), (0.0, "unparsed")]


def test_ratings_by_other_rubrics_do_not_count() -> None:
    rated = judgements(judgement("a", "fluency", 5), judgement("a", "warmth", 1, rubric="empathy"))
    scores = score_items(items(SUMMARY), answers(answer("a", "Beth will visit.")), rated, JUDGED)
    assert scores["value"].to_list() == [1.0]


def test_judged_method_without_judgements_is_an_error() -> None:
    with pytest.raises(ScoringError, match="needs a judge's ratings"):
        score_items(items(SUMMARY), answers(answer("a", "Beth will visit.")), None, JUDGED)


@pytest.mark.parametrize(
    ("ratings", "share"), [([1, 1, 1], 0.0), ([5], 1.0), ([4], 0.75), ([5, 2], 0.625), ([2, 3, 4, 5], 0.625), ([3, 3, 3], 0.5)]
)
def test_share_of_the_scale(ratings: list[int], share: float) -> None:
    # the mean less 1, divided by 4
    assert rating_share([Rating(rating, 1, 5) for rating in ratings]) == share


def test_share_where_dimensions_have_scales_of_their_own() -> None:
    # (3 - 1) / 4 = 0.5 and 25 / 100 = 0.25
    assert rating_share([Rating(3, 1, 5), Rating(25, 0, 100)]) == 0.375


@pytest.mark.parametrize(
    ("ratings", "level"),
    [
        # 20 x mean on 1 to 5: mean 4, 20 x 4 = 80
        ([Rating(5, 1, 5), Rating(3, 1, 5)], 0.8),
        ([Rating(1, 1, 5)], 0.2),
        ([Rating(0, 0, 5), Rating(0, 0, 5), Rating(0, 0, 5)], 0.0),
        ([Rating(80, 0, 100), Rating(61, 0, 100)], 0.705),
    ],
)
def test_level_on_the_scale(ratings: list[Rating], level: float) -> None:
    assert rating_level(ratings) == pytest.approx(level)


def test_a_scale_below_zero_has_no_level() -> None:
    with pytest.raises(ScoringError, match="a scale from -2 to 2"):
        rating_level([Rating(1, -2, 2)])


@pytest.mark.parametrize(("metric", "value"), [("mean_rating", 0.7), ("judged_rating", 0.625)])
def test_repetitions_of_the_judge_are_averaged(metric: Metric, value: float) -> None:
    # repetition 0: 4 and 4, repetition 1: 5 and missing, repetition 2: 3 and 3
    # rating / 5: (0.8 + 0.6) / 2 = 0.7; (rating - 1) / 4: (0.75 + 0.5) / 2 = 0.625
    ratings = [(0, 4, 4), (1, 5, None), (2, 3, 3)]
    rated = judgements(
        *(judgement("a", "warmth", warmth, judge_repetition=number) for number, warmth, _ in ratings),
        *(judgement("a", "depth", depth, judge_repetition=number) for number, _, depth in ratings),
    )
    scores = score_items(items(ADVICE), answers(answer("a", "I see.")), rated, judged_by(metric))
    assert scores["value"].to_list() == [pytest.approx(value)]


def test_repetitions_of_the_answer_keep_their_own_ratings() -> None:
    rated = judgements(judgement("a", "warmth", 5), judgement("a", "warmth", 2, repetition=1))
    asked = answers(answer("a", "I see."), answer("a", "And?", repetition=1))
    scores = score_items(items(ADVICE), asked, rated, LEVEL)
    assert scores.select("repetition", "value").rows() == [(0, 1.0), (1, pytest.approx(0.4))]
