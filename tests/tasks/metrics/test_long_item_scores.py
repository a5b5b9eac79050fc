"""Item scores of the question types of long contexts: status, value, and whose failure a missing one is."""

from typing import Any

import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.metrics import Metric
from tasks.metrics.item_scores import score_items
from tests.tasks.metrics.test_item_scores import method, score_one
from tests.tasks.rows import answer, answers, item, items, judgement, judgements

LABEL = item("a", "label_choice", context="Long.", options=["Joy", "Relief & Gratitude", "Anger"], gold_indices=[1])
ODD = item("a", "odd_one_out", options=[f"text {number}" for number in range(30)], gold_indices=[24])
QUOTED = item("a", "extractive", context="Long.", references=["social support"])
SUMMARY = item("a", "aspect_summary", references=["a", "b", "c", "d", "e"])
ADVICE = item("a", "counselor_reply")
FEELING = item("a", "emotion_expression", options=["proud", "upset"])
BOTH = method("accuracy", "strict_accuracy")
JUDGED = MethodSpec(id="judge", judged=True, rubric="summary", metrics=(MetricSpec(metric="mean_rating"),))


def values(question: dict[str, Any], reply: str | None) -> list[tuple[str, float | None, str, str | None]]:
    scores = score_items(items(question), answers(answer("a", reply)), None, BOTH)
    return scores.select("metric", "value", "status", "parsed_answer").rows()


@pytest.mark.parametrize(
    ("question", "reply", "lenient", "strict", "shown"),
    [
        (LABEL, '{"Emotion": "Relief & Gratitude"}', 1.0, 1.0, "Relief & Gratitude"),
        (LABEL, "gratitude and relief", 1.0, 0.0, "Relief & Gratitude"),
        (LABEL, '{"Emotion": "Anger"}', 0.0, 0.0, "Anger"),
        (ODD, '```json\n{"index": 24}\n```', 1.0, 1.0, "24"),
        (ODD, '```json\n{"index": "24"}\n```', 1.0, 0.0, "24"),
        (ODD, "0", 0.0, 0.0, "0"),
    ],
)
def test_lenient_and_strict_accuracy(question: dict[str, Any], reply: str, lenient: float, strict: float, shown: str) -> None:
    expected = [("accuracy", lenient, "scored", shown), ("strict_accuracy", strict, "scored", shown)]
    assert values(question, reply) == expected


@pytest.mark.parametrize(("question", "reply"), [(LABEL, "Hope"), (LABEL, ""), (ODD, "30"), (ODD, "1 and 2")])
def test_unreadable_is_wrong_in_both(question: dict[str, Any], reply: str) -> None:
    assert values(question, reply) == [(metric, 0.0, "unparsed", None) for metric in ("accuracy", "strict_accuracy")]


def test_a_failed_call_is_missing_in_both() -> None:
    assert {row[1:3] for row in values(ODD, None)} == {(None, "call_failed")}


def test_labels_are_kept_and_segments_are_not() -> None:
    label, odd = score_one(LABEL, "Anger", "accuracy"), score_one(ODD, "3", "accuracy")
    assert (label["predicted"], label["gold"]) == (["Anger"], ["Relief & Gratitude"])
    assert (odd["predicted"], odd["gold"]) == (None, None)


def test_an_order_of_segments_is_undone_for_both() -> None:
    three = item("a", "odd_one_out", options=["x", "y", "z"], gold_indices=[2])
    # shown: z, x, y; the first one is z
    asked = answers(answer("a", '```json\n{"index": 0}\n```', option_order=[2, 0, 1]))
    scores = score_items(items(three), asked, None, BOTH)
    assert scores.select("value", "parsed_answer").rows() == [(1.0, "2"), (1.0, "2")]


def test_qa_drops_thoughts() -> None:
    row = score_one(QUOTED, "<think>maybe work stress</think>The social support.", "qa_f1")
    assert (row["value"], row["status"], row["parsed_answer"]) == (1.0, "scored", "The social support.")


@pytest.mark.parametrize("question", [SUMMARY, ADVICE, FEELING], ids=lambda question: question["question_type"])
def test_mean_rating_is_the_share_of_the_highest(question: dict[str, Any]) -> None:
    # 4 and 0 of 5: 0.8 and 0
    rated = judgements(judgement("a", "warmth", 4, lowest=0), judgement("a", "depth", 0, lowest=0))
    scores = score_items(items(question), answers(answer("a", "I see.")), rated, JUDGED)
    assert scores.select("value", "status", "parsed_answer").rows() == [(pytest.approx(0.4), "scored", "I see.")]


@pytest.mark.parametrize(("metric", "value"), [("mean_rating", 0.7), ("judged_rating", 0.625)])
def test_repetitions_of_the_judge_are_averaged(metric: Metric, value: float) -> None:
    # repetition 0: 4 and 4, repetition 1: 5 and missing, repetition 2: 3 and 3
    # rating / 5: (0.8 + 0.6) / 2 = 0.7; (rating - 1) / 4: (0.75 + 0.5) / 2 = 0.625
    ratings = [(0, 4, 4), (1, 5, None), (2, 3, 3)]
    rated = judgements(
        *(judgement("a", "warmth", warmth, judge_repetition=number) for number, warmth, _ in ratings),
        *(judgement("a", "depth", depth, judge_repetition=number) for number, _, depth in ratings),
    )
    judged = JUDGED.model_copy(update={"metrics": (MetricSpec(metric=metric),)})
    scores = score_items(items(ADVICE), answers(answer("a", "I see.")), rated, judged)
    assert scores["value"].to_list() == [pytest.approx(value)]


def test_repetitions_without_a_complete_one_are_missing() -> None:
    rated = judgements(
        *(judgement("a", "warmth", 4, judge_repetition=number) for number in (0, 1)),
        *(judgement("a", "depth", None, judge_repetition=number) for number in (0, 1)),
    )
    scores = score_items(items(ADVICE), answers(answer("a", "I see.")), rated, JUDGED)
    assert scores.select("value", "status").rows() == [(None, "judge_failed")]


def test_repetitions_of_the_answer_keep_their_own_ratings() -> None:
    rated = judgements(judgement("a", "warmth", 5), judgement("a", "warmth", 2, repetition=1))
    asked = answers(answer("a", "I see."), answer("a", "And?", repetition=1))
    scores = score_items(items(ADVICE), asked, rated, JUDGED)
    assert scores.select("repetition", "value").rows() == [(0, 1.0), (1, pytest.approx(0.4))]
