from typing import Any

import dataframely as dy
import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import ItemScores
from schemas.vocabulary import METRICS, QUESTION_TYPES, Metric
from tasks.metrics.answers import SUITED
from tasks.metrics.item_scores import score_items

HASH = "0" * 64
FEELINGS = ["joy", "sadness", "anger"]
SCALE = ["never", "sometimes", "always"]


def item(item_id: str, question_type: str, **fields: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("subset", "context", "options", "gold_indices", "references", "option_points"))
    fixed = {"dataset": "own", "source_file": "own.jsonl", "source_row": 0, "source_row_sha256": HASH, "language": "en"}
    return {**fixed, **empty, "question": "What fits?", "item_id": item_id, "question_type": question_type, **fields}


def items(*rows: dict[str, Any]) -> dy.DataFrame[Items]:
    return Items.validate(pl.DataFrame(list(rows), schema=Items.create_empty().schema))


def response(item_id: str, reply: str | None, **fields: Any) -> dict[str, Any]:
    row = {
        **dict.fromkeys(Responses.create_empty().columns),
        "dataset": "own",
        "item_id": item_id,
        "model": "m",
        "setting": "base",
        "repetition": 0,
        "turn": 0,
        "call_key": HASH,
        "messages": "[]",
        "messages_sha256": HASH,
        "reply": reply,
        "latency_s": 0.1,
        "attempts": 1,
        "status": "failed" if reply is None else "answered",
        "failure": "timeout" if reply is None else None,
    }
    return {**row, **fields}


def responses(*rows: dict[str, Any]) -> dy.DataFrame[Responses]:
    return Responses.validate(pl.DataFrame(list(rows), schema=Responses.create_empty().schema))


def judgement(item_id: str, dimension: str, rating: int | None, **fields: Any) -> dict[str, Any]:
    return {
        "dataset": "own",
        "item_id": item_id,
        "model": "m",
        "setting": "base",
        "repetition": 0,
        "judge": "j",
        "dimension": dimension,
        "rubric": "summary",
        "call_key": HASH,
        "rating_1_5": rating,
        "parse_status": "parsed" if rating else "unparsed",
        "raw_reply": "{}",
        "error": None,
        **fields,
    }


def judgements(*rows: dict[str, Any]) -> dy.DataFrame[Judgements]:
    return Judgements.validate(pl.DataFrame(list(rows), schema=Judgements.create_empty().schema))


def method(*metrics: Metric, k: int | None = None) -> MethodSpec:
    return MethodSpec(
        id="auto", metrics=tuple(MetricSpec(metric=metric, k=k if metric == "recall_at_k" else None) for metric in metrics)
    )


JUDGED = MethodSpec(id="judge", judged=True, rubric="summary", metrics=(MetricSpec(metric="judged_rating"),))
CHOICE = items(item("a", "single_choice", options=FEELINGS, gold_indices=[1]))


def score_one(question: dict[str, Any], reply: str | None, metric: Metric, k: int | None = None) -> dict[str, Any]:
    scores = score_items(items(question), responses(response(question["item_id"], reply)), None, method(metric, k=k))
    assert scores.height == 1
    return scores.row(0, named=True)


SINGLE = item("a", "single_choice", options=FEELINGS, gold_indices=[1])
SEVERAL = item("a", "multiple_answer", options=FEELINGS, gold_indices=[0, 1])
ORDER = item("a", "ordered_recall", options=FEELINGS, gold_indices=[2, 0, 1])
RANKING = item("a", "ranking", options=FEELINGS, gold_indices=[1])
SCALED = item("a", "questionnaire", options=SCALE, option_points=[1, 2, 3])
EXTRACT = item("a", "extractive", references=["her cousin Tess", "Tess"])
OPEN = item("a", "open_ended", references=["Wine makes sleep lighter."])
SUMMARY = item("a", "judged_summary", references=["Beth will visit."])


@pytest.mark.parametrize(
    ("question", "metric", "reply", "shown", "value"),
    [
        (SINGLE, "accuracy", "(B)", "B", 1.0),
        (SINGLE, "accuracy", "joy", "A", 0.0),
        (SINGLE, "macro_f1", "B", "B", 1.0),
        (SEVERAL, "accuracy", "B and A", "A,B", 1.0),
        (SEVERAL, "exact_match", "A, C", "A,C", 0.0),
        # p = 1/2, r = 1/2
        (SEVERAL, "micro_f1", "A, C", "A,C", 0.5),
        (ORDER, "order_accuracy", "C > A > B", "C,A,B", 1.0),
        # of the pairs CA, CB, AB only AB is kept: 1/3
        (ORDER, "order_accuracy", "A, B, C", "A,B,C", 1 / 3),
        (RANKING, "mrr", "A, B, C", "A,B,C", 0.5),
        (RANKING, "mrr", "A", "A", 0.0),
        (SCALED, "questionnaire_points", "sometimes", "B", 0.5),
        (EXTRACT, "exact_match", "Tess.", "Tess.", 1.0),
        (EXTRACT, "accuracy", "Ann", "Ann", 0.0),
        # said: with tess; best reference tess: p = 1/2, r = 1
        (EXTRACT, "token_f1", "with Tess", "with Tess", 2 / 3),
        (OPEN, "rouge_l", "Wine makes sleep lighter", "Wine makes sleep lighter", 1.0),
        # beth will stay against beth will visit: 2 of 3 and 3
        (SUMMARY, "rouge_l", "Beth will stay.", "Beth will stay.", 2 / 3),
    ],
)
def test_answer_is_measured(question: dict[str, Any], metric: Metric, reply: str, shown: str, value: float) -> None:
    row = score_one(question, reply, metric)
    assert (row["parsed_answer"], row["status"]) == (shown, "scored")
    assert row["value"] == pytest.approx(value)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 1.0)])
def test_recall_looks_at_the_first_k(k: int, value: float) -> None:
    assert score_one(RANKING, "A, B, C", "recall_at_k", k)["value"] == value


@pytest.mark.parametrize(
    ("question", "metric", "reply"),
    [
        (SINGLE, "accuracy", "A or B"),
        (SINGLE, "accuracy", "D"),
        (SEVERAL, "micro_f1", "A, D"),
        (ORDER, "order_accuracy", "C, A"),
        (RANKING, "mrr", "C, C"),
        (SCALED, "questionnaire_points", "I would rather not say."),
        (EXTRACT, "exact_match", "..."),
        (SUMMARY, "rouge_l", "<think>Beth</think>"),
    ],
)
def test_unreadable_answer_is_wrong_and_counted_apart(question: dict[str, Any], metric: Metric, reply: str) -> None:
    row = score_one(question, reply, metric)
    assert (row["value"], row["status"], row["parsed_answer"]) == (0.0, "unparsed", None)


@pytest.mark.parametrize("question", [SINGLE, SEVERAL, SCALED, EXTRACT], ids=lambda question: question["question_type"])
def test_failed_call_is_missing_not_wrong(question: dict[str, Any]) -> None:
    metric: Metric = "questionnaire_points" if question is SCALED else "accuracy"
    row = score_one(question, None, metric)
    assert (row["value"], row["status"], row["predicted"]) == (None, "call_failed", None)


@pytest.mark.parametrize("reply", ["A", "no comment, really", None])
def test_filler_is_not_counted_whatever_came_back(reply: str | None) -> None:
    filler = item("a", "questionnaire", options=SCALE, option_points=[None, None, None])
    row = score_one(filler, reply, "questionnaire_points")
    assert (row["value"], row["status"]) == (None, "not_counted")


@pytest.mark.parametrize(
    ("reply", "predicted"), [("B", ["sadness"]), ("A or B", []), (None, None)], ids=["read", "unread", "failed"]
)
def test_label_columns_hold_option_texts(reply: str | None, predicted: list[str] | None) -> None:
    row = score_one(SINGLE, reply, "macro_f1")
    assert (row["predicted"], row["gold"]) == (predicted, ["sadness"])


def test_label_columns_of_several_answers() -> None:
    row = score_one(SEVERAL, "C, A", "micro_f1")
    assert (row["predicted"], row["gold"]) == (["joy", "anger"], ["joy", "sadness"])


def test_label_columns_are_null_where_gold_is_no_option() -> None:
    row = score_one(EXTRACT, "Tess", "exact_match")
    assert (row["predicted"], row["gold"]) == (None, None)


def test_one_row_per_metric_item_and_repetition() -> None:
    asked = responses(*(response("a", reply, repetition=turn) for turn, reply in enumerate(["B", "C"])))
    scores = score_items(CHOICE, asked, None, method("accuracy", "micro_f1"))
    assert scores.select("metric", "repetition", "value").rows() == [
        ("accuracy", 0, 1.0),
        ("accuracy", 1, 0.0),
        ("micro_f1", 0, 1.0),
        ("micro_f1", 1, 0.0),
    ]
    assert ItemScores.is_valid(scores)


def test_last_turn_is_the_answer() -> None:
    asked = responses(response("a", "B", turn=1), response("a", "A", turn=0))
    assert score_items(CHOICE, asked, None, method("accuracy"))["parsed_answer"].to_list() == ["B"]


def test_call_that_failed_in_the_last_turn_is_missing() -> None:
    asked = responses(response("a", "B", turn=0), response("a", None, turn=1))
    assert score_items(CHOICE, asked, None, method("accuracy"))["status"].to_list() == ["call_failed"]


def test_reply_cut_at_its_limit_is_read_as_such() -> None:
    asked = responses(response("a", "joy\nsadness\nA.", finish_reason="length"))
    assert score_items(CHOICE, asked, None, method("accuracy"))["status"].to_list() == ["unparsed"]


def test_item_without_response_is_an_error() -> None:
    two = items(SINGLE, item("b", "single_choice", options=FEELINGS, gold_indices=[0]))
    with pytest.raises(ScoringError, match="Items have no response row") as caught:
        score_items(two, responses(response("a", "B")), None, method("accuracy"))
    assert "item_id b" in str(caught.value)
    assert "1 without counterpart" in str(caught.value)


def test_no_responses_at_all_is_an_error() -> None:
    with pytest.raises(ScoringError, match="Items have no response row"):
        score_items(CHOICE, responses(), None, method("accuracy"))


def test_repetition_that_skips_an_item_is_an_error() -> None:
    two = items(SINGLE, item("b", "single_choice", options=FEELINGS, gold_indices=[0]))
    asked = responses(response("a", "B"), response("b", "A"), response("a", "B", repetition=1))
    with pytest.raises(ScoringError, match="Items have no response row") as caught:
        score_items(two, asked, None, method("accuracy"))
    assert "repetition 1" in str(caught.value)


def test_response_without_item_is_an_error() -> None:
    with pytest.raises(ScoringError, match="Responses belong to no item"):
        score_items(CHOICE, responses(response("a", "B"), response("z", "B")), None, method("accuracy"))


@pytest.mark.parametrize(
    ("question", "metric"), [(SINGLE, "mrr"), (SCALED, "accuracy"), (ORDER, "accuracy"), (RANKING, "macro_f1")]
)
def test_metric_that_does_not_suit_is_an_error(question: dict[str, Any], metric: Metric) -> None:
    with pytest.raises(ScoringError, match=f"Metric {metric} cannot score {question['question_type']} items"):
        score_one(question, "A", metric)


def test_every_metric_suits_something_and_every_type_is_suited() -> None:
    assert set(SUITED) == set(METRICS)
    assert {question_type for suited in SUITED.values() for question_type in suited} == set(QUESTION_TYPES)


def test_judged_rating_is_the_mean_over_dimensions() -> None:
    rated = judgements(judgement("a", "fluency", 5), judgement("a", "faithfulness", 2))
    scores = score_items(items(SUMMARY), responses(response("a", "Beth will visit.")), rated, JUDGED)
    # mean 3.5, (3.5 - 1) / 4 = 0.625
    assert scores.select("value", "status", "parsed_answer").rows() == [(0.625, "scored", "Beth will visit.")]


def test_missing_or_unreadable_rating_is_the_judges_failure() -> None:
    asked = items(*(item(name, "judged_summary", references=["x"]) for name in "abc"))
    rated = judgements(
        judgement("a", "fluency", 5),
        judgement("a", "faithfulness", None),
        judgement("b", "fluency", 4),
        judgement("b", "faithfulness", 4),
    )
    replies = responses(*(response(name, "Beth will visit.") for name in "abc"))
    scores = score_items(asked, replies, rated, JUDGED)
    assert scores.select("item_id", "value", "status").rows() == [
        ("a", None, "judge_failed"),
        ("b", 0.75, "scored"),
        ("c", None, "judge_failed"),
    ]


def test_judged_answer_that_failed_or_says_nothing_needs_no_rating() -> None:
    asked = items(*(item(name, "judged_summary", references=["x"]) for name in "ab"))
    replies = responses(response("a", None), response("b", "..."))
    scores = score_items(asked, replies, judgements(), JUDGED)
    assert scores.select("value", "status").rows() == [(None, "call_failed"), (0.0, "unparsed")]


def test_ratings_by_other_rubrics_do_not_count() -> None:
    rated = judgements(judgement("a", "fluency", 5), judgement("a", "warmth", 1, rubric="empathy"))
    scores = score_items(items(SUMMARY), responses(response("a", "Beth will visit.")), rated, JUDGED)
    assert scores["value"].to_list() == [1.0]


def test_judged_method_without_judgements_is_an_error() -> None:
    with pytest.raises(ScoringError, match="needs a judge's ratings"):
        score_items(items(SUMMARY), responses(response("a", "Beth will visit.")), None, JUDGED)


def test_ratings_of_two_judges_are_an_error() -> None:
    rated = judgements(judgement("a", "fluency", 5), judgement("a", "fluency", 1, judge="k"))
    with pytest.raises(ScoringError, match="several judges"):
        score_items(items(SUMMARY), responses(response("a", "Beth will visit.")), rated, JUDGED)
