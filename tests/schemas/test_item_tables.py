"""Each rule of the layers items, responses and judgements accepts and rejects."""

from math import inf

import dataframely as dy

from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from tests.rows import each_row
from tests.schemas.breaches import accepts, frame, rejects
from tests.tasks.rows import Row, item, judgement, response

ITEM = item("d-1", "single_choice", options=["this", "that", "both"], gold_indices=[1])
SEVERAL = ITEM | {"question_type": "multiple_answer", "gold_indices": [0, 2]}
ORDERED = ITEM | {"question_type": "ordered_recall", "gold_indices": [2, 0, 1]}
SCALE = ITEM | {"question_type": "questionnaire", "gold_indices": None, "option_points": [1.0, 2.0, 3.0]}
OPEN = ITEM | {"question_type": "open_ended", "options": None, "gold_indices": None, "references": ["that"]}

CALL, FAILED = response("d-1", "B"), response("d-1", None)
JUDGED = judgement("d-1", "fluency", 4)


@each_row(
    ("schema", "row"),
    [
        (Items, SCALE | {"option_points": [None, None, None]}),
        (Items, OPEN | {"references": ["a", "b"]}),
        (Responses, CALL),
        (Responses, CALL | {"reply": ""}),
        (Responses, CALL | {"token_logprobs": [{"token": "A", "logprob": -0.5}, {"token": " ", "logprob": -9999.0}]}),
        (Responses, CALL | {"token_logprobs": []}),
        (Responses, FAILED),
        (Judgements, JUDGED),
        (Judgements, JUDGED | {"rating": 1}),
        (Judgements, JUDGED | {"rating": 5}),
        (Judgements, JUDGED | {"lowest": 0, "rating": 0}),
        (Judgements, JUDGED | {"lowest": 0, "highest": 100, "rating": 100}),
        (Judgements, JUDGED | {"judge_repetition": 3}),
        (Judgements, JUDGED | {"parse_status": "unparsed", "rating": None}),
        (Judgements, JUDGED | {"parse_status": "failed", "rating": None, "raw_reply": None}),
    ],
)
def test_sound_rows_are_accepted(schema: type[dy.Schema], row: Row) -> None:
    accepts(schema, row)


@each_row(
    ("schema", "row", "rule"),
    [
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
        (Items, ITEM | {"question_type": "odd_one_out", "gold_indices": [0, 1]}, "single_choice_has_one_gold"),
        (Items, ITEM | {"question_type": "odd_one_out", "gold_indices": [3]}, "gold_indices_point_at_options"),
        (Items, OPEN | {"question_type": "aspect_summary", "references": None}, "references_are_given_and_not_empty"),
        (Items, ORDERED | {"gold_indices": [2, 0]}, "ordered_recall_orders_every_option"),
        (Items, OPEN | {"references": None}, "references_are_given_and_not_empty"),
        (Items, OPEN | {"references": []}, "references_are_given_and_not_empty"),
        (Items, OPEN | {"references": ["that", " "]}, "references_are_given_and_not_empty"),
        (Items, SCALE | {"option_points": [1.0, 2.0]}, "every_option_has_points"),
        (Items, SCALE | {"option_points": None}, "every_option_has_points"),
        (Items, ITEM | {"source_row_sha256": "0" * 63}, "source_row_sha256|regex"),
        (Items, ITEM | {"source_row": -1}, "source_row|min"),
        (Items, ITEM | {"question": ""}, "question|min_length"),
        (Responses, CALL | {"reply": None}, "answered_has_a_reply_and_failed_a_failure"),
        (Responses, CALL | {"failure": "timeout_total"}, "answered_has_a_reply_and_failed_a_failure"),
        (Responses, FAILED | {"failure": None}, "answered_has_a_reply_and_failed_a_failure"),
        (Responses, FAILED | {"reply": "B"}, "answered_has_a_reply_and_failed_a_failure"),
        (Responses, CALL | {"attempts": 0}, "attempts|min"),
        (
            Responses,
            CALL | {"token_logprobs": [{"token": None, "logprob": -0.5}]},
            "token_logprobs|inner_inner_token_nullability",
        ),
        (Responses, CALL | {"token_logprobs": [{"token": "A", "logprob": -inf}]}, "token_logprobs|inner_inner_logprob_inf"),
        (Responses, CALL | {"call_key": "x"}, "call_key|regex"),
        (Judgements, JUDGED | {"rating": None}, "parsed_has_a_rating"),
        (Judgements, JUDGED | {"parse_status": "unparsed"}, "parsed_has_a_rating"),
        (Judgements, JUDGED | {"parse_status": "failed"}, "parsed_has_a_rating"),
        (Judgements, JUDGED | {"rating": 0}, "rating_lies_on_its_scale"),
        (Judgements, JUDGED | {"rating": 6}, "rating_lies_on_its_scale"),
        (Judgements, JUDGED | {"lowest": 0, "highest": 100, "rating": 101}, "rating_lies_on_its_scale"),
        (Judgements, JUDGED | {"lowest": 0, "highest": 100, "rating": -1}, "rating_lies_on_its_scale"),
        (Judgements, JUDGED | {"lowest": None}, "lowest|nullability"),
        (Judgements, JUDGED | {"highest": None}, "highest|nullability"),
        (Judgements, JUDGED | {"judge_repetition": -1}, "judge_repetition|min"),
        (Judgements, JUDGED | {"judge_repetition": None}, "judge_repetition|nullability"),
        (Judgements, JUDGED | {"call_key": "x"}, "call_key|regex"),
    ],
)
def test_each_rule_rejects(schema: type[dy.Schema], row: Row, rule: str) -> None:
    rejects(schema, row, rule)


def test_repetitions_of_a_judge_are_rows_of_their_own() -> None:
    again = frame(Judgements, JUDGED | {"judge_repetition": 1, "rating": 2})
    assert Judgements.is_valid(frame(Judgements, JUDGED).vstack(again))
    assert not Judgements.is_valid(frame(Judgements, JUDGED).vstack(frame(Judgements, JUDGED | {"rating": 2})))
