"""What a judge's ratings come to: per answer and scale, over repetitions of judge and answer, and where some are missing."""

import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.metrics import Metric
from tasks.metrics.item_scores import score_items
from tasks.metrics.measures import Rating, rating_level, rating_share
from tests.tasks.rows import answer, answers, item, items, judgement, judgements

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
