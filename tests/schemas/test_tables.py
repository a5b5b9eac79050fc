"""Each rule of the layers that hold items, responses, judgements and scores accepts and rejects."""

from math import inf

import dataframely as dy
import polars as pl
import pytest

from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import (
    AbilityScores,
    DatasetScores,
    DimensionScores,
    ItemScores,
    LevelScores,
    NormalizedScores,
    RawScores,
    SubAbilityScores,
    TaskScores,
    Totals,
)
from tests.rows import each_row
from tests.tasks.reporting.example_scores import totals_row
from tests.tasks.rows import Row, item, judgement, response

ITEM = item("d-1", "single_choice", options=["this", "that", "both"], gold_indices=[1])
SEVERAL = ITEM | {"question_type": "multiple_answer", "gold_indices": [0, 2]}
ORDERED = ITEM | {"question_type": "ordered_recall", "gold_indices": [2, 0, 1]}
SCALE = ITEM | {"question_type": "questionnaire", "gold_indices": None, "option_points": [1.0, 2.0, 3.0]}
OPEN = ITEM | {"question_type": "open_ended", "options": None, "gold_indices": None, "references": ["that"]}

CALL, FAILED = response("d-1", "B"), response("d-1", None)
JUDGED = judgement("d-1", "fluency", 4)

KEY: Row = {"model": "m", "dataset": "d", "method": "choice", "metric": "accuracy", "setting": "base"}
SCORE: Row = KEY | {"item_id": "d-1", "part": "", "repetition": 0, "cluster": "d-1"}
SCORE |= {"parsed_answer": "A", "chosen_place": 0, "value": 1.0, "status": "scored"}
RAW: Row = KEY | {"value": 0.5, "ci_low": None, "ci_high": None, "n_scored": 4, "n_unparsed": 1, "n_total": 5}
DIMENSION: Row = {"model": "m", "dataset": "d", "setting": "base", "rubric": "r", "dimension": "warmth", "judge": "j"}
RATED: Row = DIMENSION | {"scale_min": 0, "scale_max": 4, "mean": 2.5, "n_answers": 4, "n_total": 5, "n_clusters": 2}
NORMALIZED: Row = KEY | {"normalized_0_100": 50.0, "n_scored": 4, "n_total": 5}
AGGREGATE: Row = {"model": "m", "setting": "base", "score_0_100": 50.0}
AGGREGATE |= {"datasets_scored": 1, "datasets_total": 2, "n_scored": 4, "n_total": 5}
TOTAL = totals_row(rank=1)
VETOED: Row = TOTAL | {"total": 0.0, "vetoed": True, "veto_reason": "safe scored 10", "rank": None}
UNSCORED: Row = TOTAL | dict.fromkeys(("total", "total_before_veto", "ci_low", "ci_high", "gate_score", "vetoed", "rank"))

ACCEPTED: list[tuple[type[dy.Schema], Row]] = [
    (Items, SCALE | {"option_points": [None, None, None]}),
    (Items, OPEN | {"references": ["a", "b"]}),
    (Responses, CALL),
    (Responses, CALL | {"token_logprobs": [{"token": "A", "logprob": -0.5}, {"token": " ", "logprob": -9999.0}]}),
    (Responses, FAILED),
    (Judgements, JUDGED),
    (Judgements, JUDGED | {"lowest": 0, "rating": 0}),
    (Judgements, JUDGED | {"parse_status": "unparsed", "rating": None}),
    (Judgements, JUDGED | {"parse_status": "failed", "rating": None, "raw_reply": None}),
    (ItemScores, SCORE),
    (ItemScores, SCORE | {"value": 0.0, "status": "unparsed", "parsed_answer": None}),
    (ItemScores, SCORE | {"value": None, "status": "call_failed"}),
    (RawScores, RAW),
    (RawScores, RAW | {"value": None, "n_scored": 0, "n_unparsed": 0}),
    (NormalizedScores, NORMALIZED),
    (DatasetScores, AGGREGATE | {"dataset": "d"}),
    (TaskScores, AGGREGATE | {"task": "t"}),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": None, "datasets_scored": 0}),
    (LevelScores, AGGREGATE | {"sub_ability": "s", "level": "low"}),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 4}),
    (AbilityScores, AGGREGATE | {"ability": "a"}),
    (DimensionScores, RATED),
    (DimensionScores, RATED | {"mean": None, "n_answers": 0}),
    (Totals, TOTAL),
    (Totals, VETOED),
    (Totals, UNSCORED),
    (Totals, TOTAL | {"vetoed": None, "gate_score": None}),
    (Totals, VETOED | {"total_before_veto": None}),
]
REJECTED: list[tuple[type[dy.Schema], Row, str]] = [
    (Items, SCALE | {"options": ["yes"], "option_points": [1.0]}, "choices_have_two_options_or_more"),
    (Items, ITEM | {"options": ["this"], "gold_indices": [0]}, "choices_have_two_options_or_more"),
    (Items, SCALE | {"options": ["yes", "yes"], "option_points": [1.0, 2.0]}, "options_are_distinct_and_not_empty"),
    (Items, ITEM | {"options": ["this", " "]}, "options_are_distinct_and_not_empty"),
    (Items, SEVERAL | {"gold_indices": [0, 3]}, "gold_indices_point_at_options"),
    (Items, SEVERAL | {"gold_indices": [-1]}, "gold_indices_point_at_options"),
    (Items, SEVERAL | {"gold_indices": [0, 0]}, "gold_indices_point_at_options"),
    (Items, SEVERAL | {"gold_indices": []}, "gold_indices_point_at_options"),
    (Items, SEVERAL | {"gold_indices": None}, "gold_indices_point_at_options"),
    (Items, ITEM | {"gold_indices": [0, 1]}, "single_choice_has_one_gold"),
    (Items, ITEM | {"question_type": "label_choice", "gold_indices": [0, 1]}, "single_choice_has_one_gold"),
    (Items, ITEM | {"question_type": "odd_one_out", "gold_indices": [3]}, "gold_indices_point_at_options"),
    (Items, OPEN | {"question_type": "aspect_summary", "references": None}, "references_are_given_and_not_empty"),
    (Items, ORDERED | {"gold_indices": [2, 0]}, "ordered_recall_orders_every_option"),
    (Items, OPEN | {"references": None}, "references_are_given_and_not_empty"),
    (Items, OPEN | {"references": []}, "references_are_given_and_not_empty"),
    (Items, OPEN | {"references": ["that", " "]}, "references_are_given_and_not_empty"),
    (Items, SCALE | {"option_points": [1.0, 2.0]}, "every_option_has_points"),
    (Items, SCALE | {"option_points": None}, "every_option_has_points"),
    (Responses, CALL | {"reply": None}, "answered_has_a_reply_and_failed_a_failure"),
    (Responses, CALL | {"failure": "timeout_total"}, "answered_has_a_reply_and_failed_a_failure"),
    (Responses, FAILED | {"failure": None}, "answered_has_a_reply_and_failed_a_failure"),
    (Responses, FAILED | {"reply": "B"}, "answered_has_a_reply_and_failed_a_failure"),
    (Responses, CALL | {"token_logprobs": [{"token": "A", "logprob": -inf}]}, "token_logprobs|inner_inner_logprob_inf"),
    (Judgements, JUDGED | {"rating": None}, "parsed_has_a_rating"),
    (Judgements, JUDGED | {"parse_status": "failed"}, "parsed_has_a_rating"),
    (Judgements, JUDGED | {"rating": 0}, "rating_lies_on_its_scale"),
    (Judgements, JUDGED | {"rating": 6}, "rating_lies_on_its_scale"),
    (ItemScores, SCORE | {"value": float("inf")}, "value|inf"),
    (ItemScores, SCORE | {"value": None}, "value_follows_status"),
    (ItemScores, SCORE | {"status": "judge_failed", "value": 0.0}, "value_follows_status"),
    (ItemScores, SCORE | {"status": "not_counted", "value": 0.0}, "value_follows_status"),
    (ItemScores, SCORE | {"value": None, "status": "unparsed"}, "value_follows_status"),
    (RawScores, RAW | {"n_unparsed": 5}, "counts_add_up"),
    (RawScores, RAW | {"n_scored": 6}, "counts_add_up"),
    (RawScores, RAW | {"value": None}, "nothing_scored_means_no_value"),
    (RawScores, RAW | {"n_scored": 0, "n_unparsed": 0}, "nothing_scored_means_no_value"),
    (NormalizedScores, NORMALIZED | {"normalized_0_100": 100.5}, "normalized_0_100|max"),
    (NormalizedScores, NORMALIZED | {"normalized_0_100": -0.5}, "normalized_0_100|min"),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": None}, "nothing_scored_means_no_score"),
    (TaskScores, AGGREGATE | {"task": "t", "datasets_scored": 0}, "nothing_scored_means_no_score"),
    (TaskScores, AGGREGATE | {"task": "t", "datasets_scored": 3}, "coverage_is_a_share"),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": 101.0}, "score_0_100|max"),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 1}, "tier|min"),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 5}, "tier|max"),
    (DimensionScores, RATED | {"mean": None}, "no_rating_means_no_mean"),
    (DimensionScores, RATED | {"mean": 0.0, "n_answers": 0}, "no_rating_means_no_mean"),
    (DimensionScores, RATED | {"mean": 4.5}, "mean_lies_on_its_scale"),
    (Totals, VETOED | {"rank": 3}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, VETOED | {"total": 40.0}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, VETOED | {"veto_reason": None}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, TOTAL | {"total": 49.0}, "total_is_the_one_before_unless_vetoed"),
    (Totals, UNSCORED | {"total": 0.0}, "total_is_the_one_before_unless_vetoed"),
    (Totals, TOTAL | {"coverage": 1.2}, "coverage|max"),
]


def frame(schema: type[dy.Schema], row: Row) -> pl.DataFrame:
    return pl.DataFrame([row], schema={name: column.dtype for name, column in schema.columns().items()})


@each_row(("schema", "row"), ACCEPTED)
def test_sound_rows_are_accepted(schema: type[dy.Schema], row: Row) -> None:
    schema.validate(frame(schema, row))


@each_row(("schema", "row", "rule"), REJECTED)
def test_each_rule_rejects_and_no_other(schema: type[dy.Schema], row: Row, rule: str) -> None:
    _, failures = schema.filter(frame(schema, row))
    assert failures.counts() == {rule: 1}
    with pytest.raises(dy.exc.ValidationError):
        schema.validate(frame(schema, row))


@each_row(("schema", "row"), dict(ACCEPTED).items())
def test_a_key_occurs_once(schema: type[dy.Schema], row: Row) -> None:
    twice = pl.concat([frame(schema, row)] * 2)
    assert schema.filter(twice)[1].counts() == {"primary_key": 2}


def test_statuses_are_a_closed_set() -> None:
    plain = {name: pl.String if isinstance(column, dy.Enum) else column.dtype for name, column in ItemScores.columns().items()}
    with pytest.raises(dy.exc.ValidationError, match="'dtype' failed for 1 rows"):
        ItemScores.validate(pl.DataFrame([SCORE | {"status": "skipped"}], schema=plain), cast=True)


def test_repetitions_of_judge_are_rows_of_their_own() -> None:
    again = frame(Judgements, JUDGED | {"judge_repetition": 1, "rating": 2})
    assert Judgements.is_valid(frame(Judgements, JUDGED).vstack(again))
    assert not Judgements.is_valid(frame(Judgements, JUDGED).vstack(frame(Judgements, JUDGED | {"rating": 2})))
