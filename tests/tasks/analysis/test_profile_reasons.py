"""Sentences about why scores differ, on hand-made items; `explain` scores each reply in both profiles first."""

from string import ascii_uppercase
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.vocabulary import Metric
from tasks.analysis.profile_reasons import explain_difference
from tasks.metrics.item_scores import score_items
from tasks.metrics.reference.methods import REASONS, reference_method
from tasks.metrics.reference.scoring import score_reference
from tests.tasks.metrics.reference.rows import item, items, response, responses

TWO = ["Listening", "Leaving"]
LABELS = [f"label {letter}" for letter in ascii_uppercase] + ["surprise", "neutral"]
SCALE = ["never", "rarely", "sometimes", "often", "mostly"]

COPA = item("copa", "single_choice", options=TWO, gold_indices=[1])
PAIR = item("crows_pairs", "single_choice", options=TWO, gold_indices=[1])
ANTI = item("crows_pairs", "single_choice", options=TWO, gold_indices=[1], reference_gold_indices=[0])
LATE = item("edos", "single_choice", options=LABELS, gold_indices=[26])
LATE_WITHOUT_GOLD = LATE | {"reference_gold_indices": []}
FEELINGS = item("goemotions", "multiple_answer", options=LABELS, gold_indices=[0, 26])
JEC = item("agieval", "multiple_answer", options=[*TWO, "Talking"], gold_indices=[0, 1], reference_gold_indices=[])
SKIPPED = item("agieval", "single_choice", options=TWO, gold_indices=[1], subset="sat-math")
FIRST = item("moodbench4", "single_choice", options=TWO, gold_indices=[1], source_row=0)
SECOND = item("moodbench4", "single_choice", options=TWO, gold_indices=[1])
VERDICTS = item("folio", "ranking", options=["True", "False", "Uncertain"], gold_indices=[2])
SUMMARY = item("lcsts", "judged_summary", references=["我们真的很开心"])
SPAN = item("cmrc2018", "extractive", references=["小明"])
POSITIVE = item("eq60", "questionnaire", options=SCALE, option_points=[0.0, 0.0, 0.0, 1.0, 2.0])
REVERSED = item("eq60", "questionnaire", options=SCALE, option_points=[2.0, 1.0, 0.0, 0.0, 0.0])
FILLER = item("eq60", "questionnaire", options=SCALE, option_points=[None] * 5)


def explain(*asked: tuple[dict[str, Any], str | None], metrics: tuple[Metric, ...] = ("accuracy",), **fields: Any) -> list[str]:
    """The reasons for these items and replies; the items are named by their number."""
    rows = [of | {"item_id": str(number)} for number, (of, _) in enumerate(asked)]
    replies = responses(*(response(of, reply, **fields) for of, (_, reply) in zip(rows, asked, strict=True)))
    specs = tuple(MetricSpec(metric=metric, k=1 if metric == "recall_at_k" else None) for metric in metrics)
    ours = MethodSpec(id="ours", metrics=specs)
    theirs = reference_method(rows[0]["dataset"])
    assert theirs is not None
    corrected, reference = score_items(items(*rows), replies, None, ours), score_reference(items(*rows), replies, theirs)
    return list(explain_difference(rows[0]["dataset"], corrected, reference, (ours,)))


def test_replies_read_alike_have_no_reason() -> None:
    assert explain((COPA, "B"), (COPA, "A"), (COPA, "?!...")) == []


def test_letters_read_elsewhere_or_not_at_all() -> None:
    # 选B is B here and nothing there; "I think" is the letter I there.
    assert explain((COPA, "选B"), (COPA, "选B"), (COPA, "I think the answer is B.")) == [
        "2 replies cannot be read as released.",
        "1 reply is read as a letter that no option has.",
    ]
    assert explain((COPA, "A dog is shown, so the answer is B.")) == ["1 reply is read as another option."]


def test_a_reply_that_both_miss_is_no_reason() -> None:
    # 选A is wrong here and cannot be read there: 0 in both.
    assert explain((COPA, "选A")) == []
    # Yet with one that counts, all that cannot be read are told.
    assert explain((COPA, "选A"), (COPA, "选B")) == ["2 replies cannot be read as released."]


def test_what_is_no_answer_here_may_be_one_there() -> None:
    # Two letters are no answer here; the first is one there.
    assert explain((COPA, "B or A"), (COPA, "?!...")) == [
        "1 of 2 replies that are no answer here is one as released, by the first letter found."
    ]


def test_failed_calls() -> None:
    assert explain((COPA, None), (COPA, "B")) == ["1 call failed; as released it is a wrong answer."]
    assert explain((COPA, None), (COPA, None)) == ["2 calls failed; as released they are wrong answers."]


def test_permuted_options_are_compared_as_they_were_shown() -> None:
    assert explain((COPA, "A"), (COPA, "B"), option_order=[1, 0]) == []
    assert explain((ANTI, "A"), option_order=[1, 0])[1] == "1 of 1 replies is held against another gold as released."


def test_another_gold_is_a_reason_only_where_it_is_met() -> None:
    gold = REASONS["crows_pairs"]["gold"]
    assert explain((PAIR, "B"), (ANTI, "B"), (ANTI, "A")) == [gold, "2 of 3 replies are held against another gold as released."]
    assert explain((PAIR, "选B")) == ["1 reply cannot be read as released."]


@pytest.mark.parametrize("late", [LATE, LATE_WITHOUT_GOLD])
def test_labels_after_z_are_a_reason_however_the_cap_is_recorded(late: dict[str, Any]) -> None:
    assert explain((late, "AA")) == [REASONS["edos"]["gold"], "1 reply cannot be read as released."]
    assert explain((late, "B")) == []


def test_labels_named_several_at_once() -> None:
    assert explain((FEELINGS, "A, AA"), metrics=("micro_f1",)) == [
        REASONS["goemotions"]["gold"],
        "1 reply is read as another option.",
    ]
    # Nothing to read is no label here and one wrong label there.
    assert explain((FEELINGS, "?!..."), metrics=("micro_f1",)) == [
        "1 reply that cannot be read counts as a wrong label as released."
    ]


def test_items_left_out() -> None:
    assert explain((FIRST, "B"), (SECOND, "B")) == [
        REASONS["moodbench4"]["left_out"],
        "1 of 2 replies is to items the released code leaves out.",
    ]
    assert explain((SECOND, "选B")) == ["1 reply cannot be read as released."]


def test_the_weightiest_reason_is_first() -> None:
    gold, left_out = REASONS["agieval"]["gold"], REASONS["agieval"]["left_out"]
    assert explain((SKIPPED, "B"), (SKIPPED, "A"), (JEC, "A, B"), (SKIPPED, None)) == [
        left_out,
        "3 of 4 replies are to items the released code leaves out.",
        gold,
        "1 reply is read as another option.",
    ]


def test_a_ranking_is_read_by_its_first_letter() -> None:
    metric = REASONS["folio"]["metric"]
    assert explain((VERDICTS, "C, A, B"), (VERDICTS, "A, C, B"), metrics=("recall_at_k", "mrr")) == [metric]


def test_texts_have_no_letters() -> None:
    metric = REASONS["cmrc2018"]["metric"]
    assert explain((SPAN, "小明"), (SPAN, "A 和小明"), metrics=("rouge_l",)) == [metric]
    assert explain((SPAN, "小明"), (SPAN, None), metrics=("rouge_l",)) == [
        metric,
        "1 call failed; as released it is a wrong answer.",
    ]


def test_a_judge_that_failed() -> None:
    theirs = _method("lcsts")
    ours = MethodSpec(id="judge", judged=True, rubric="summary", metrics=(MetricSpec(metric="judged_rating"),))
    reference = score_reference(items(SUMMARY), responses(response(SUMMARY, "开心")), theirs)
    corrected = reference.with_columns(
        method=pl.lit("judge"),
        metric=pl.lit("judged_rating").cast(reference.schema["metric"]),
        value=pl.lit(None, pl.Float64),
        status=pl.lit("judge_failed").cast(reference.schema["status"]),
    )
    assert explain_difference("lcsts", corrected, reference, (ours,)) == (
        REASONS["lcsts"]["metric"],
        "1 answer could not be judged.",
    )


def test_a_metric_of_an_own_blueprint_is_named() -> None:
    assert explain((COPA, "B"), metrics=("macro_f1", "accuracy")) == [
        "Scored by macro_f1 and accuracy here, by accuracy as released."
    ]


def test_the_key_of_a_questionnaire() -> None:
    key = REASONS["eq60"]["gold"]
    # Often: 1 of 2 points for agreement and 0 for disagreement here, 3 of 4 there; the filler counts there only.
    assert explain((POSITIVE, "E"), (POSITIVE, "D"), (REVERSED, "D"), (FILLER, "D"), metrics=("questionnaire_points",)) == [
        key,
        "2 of 4 replies earn other points as released.",
        "1 of 4 replies is to items that do not count here.",
    ]


def test_datasets_without_a_reference_score_have_no_reasons() -> None:
    scores = score_reference(items(COPA), responses(response(COPA, "B")), _method("copa"))
    assert explain_difference("stereoset", scores, scores, (_method("copa"),)) == ()


def _method(dataset: str) -> MethodSpec:
    method = reference_method(dataset)
    assert method is not None
    return method
