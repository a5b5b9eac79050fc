"""What answers without reading earn: every expected share is worked out beside it."""

from typing import Any

import polars as pl
import pytest
from sklearn.metrics import f1_score

from schemas.metrics import Metric
from schemas.tables.items import Items
from tasks.metrics.measures import POSITIVE
from tasks.runs.baselines import (
    Baselines,
    FixedAnswer,
    measure_baselines,
    no_better,
    orders_shown,
    score_constant_answers,
)
from tests.tasks.reporting.example_run import BLUEPRINT

MOODS = ["calm", "angry", "sad"]


def near(value: float) -> Any:
    return pytest.approx(value)


def items(*rows: dict[str, Any]) -> pl.DataFrame:
    shared = {"dataset": "d", "question_type": "single_choice", "options": MOODS}
    return pl.DataFrame([shared | {"item_id": f"i{n}"} | row for n, row in enumerate(rows)], schema=Items.create_empty().schema)


def golds(*gold: int) -> pl.DataFrame:
    return items(*({"gold_indices": [index]} for index in gold))


def test_a_letter_that_an_item_lacks_is_wrong() -> None:
    # C is right in the two items that have it, of three.
    two = {"gold_indices": [1], "options": ["yes", "no"]}
    found = measure_baselines(items({"gold_indices": [2]}, {"gold_indices": [2]}, two), "accuracy")
    assert found.constant == FixedAnswer("C", near(2 / 3))


@pytest.mark.parametrize("metric", ["accuracy", "strict_accuracy"])
def test_labels_have_letters_and_segments_numbers(metric: Metric) -> None:
    labels = items(*({"question_type": "label_choice", "gold_indices": [index]} for index in (0, 1, 1, 1)))
    segments = {"question_type": "odd_one_out"}
    odd = [segments | {"gold_indices": [gold], "options": [f"{n}x", f"{n}y"]} for n, gold in enumerate((0, 0, 1))]
    assert measure_baselines(labels, metric) == Baselines(FixedAnswer("B", 0.75), FixedAnswer("angry", 0.75))
    # No segment is right twice.
    assert measure_baselines(items(*odd), metric) == Baselines(FixedAnswer("0", near(2 / 3)), None)


def test_a_letter_is_wrong_for_two_right_options() -> None:
    both = {"question_type": "multiple_answer", "gold_indices": [0, 1]}
    one = {"question_type": "multiple_answer", "gold_indices": [0]}
    assert measure_baselines(items(both, one), "accuracy").constant == FixedAnswer("A", 0.5)


def test_of_equal_letters_the_first() -> None:
    assert measure_baselines(golds(1, 0), "accuracy").constant == FixedAnswer("A", 0.5)


def test_options_written_for_one_item_are_no_classes() -> None:
    own = ({"gold_indices": [gold], "options": [f"{n}x", f"{n}y", f"{n}z"]} for n, gold in enumerate((1, 1, 1, 0)))
    assert measure_baselines(items(*own), "accuracy") == Baselines(FixedAnswer("B", 0.75), None)


def test_the_majority_label_is_found_wherever_it_stands() -> None:
    # calm is right in 3 of 4, at A, B, C and sad once: no letter is right more than twice.
    moved = items(
        {"gold_indices": [0]},
        {"gold_indices": [1], "options": ["angry", "calm", "sad"]},
        {"gold_indices": [2], "options": ["angry", "sad", "calm"]},
        {"gold_indices": [2]},
    )
    assert measure_baselines(moved, "accuracy") == Baselines(FixedAnswer("C", 0.5), FixedAnswer("calm", 0.75))


def test_orders_move_letters_and_not_labels() -> None:
    # Gold 1 in the orders 0 1 2, 1 2 0 and 2 0 1 stands at B, A and C: each letter is right once in three times.
    orders = {("d", f"i{n}"): ((0, 1, 2), (1, 2, 0), (2, 0, 1)) for n in range(2)}
    found = measure_baselines(golds(1, 1), "accuracy", orders)
    assert found == Baselines(FixedAnswer("A", near(1 / 3)), FixedAnswer("angry", 1.0))


@pytest.mark.parametrize(("metric", "average"), [("micro_f1", "micro"), ("macro_f1", "macro")])
def test_majority_f1_is_that_of_scikit_learn(metric: Metric, average: str) -> None:
    gold = [1, 1, 1, 1, 0, 2]
    expected = f1_score(gold, [1] * 6, average=average, zero_division=0)
    found = measure_baselines(golds(*gold), metric)
    assert found.majority == FixedAnswer("angry", near(expected))
    assert found.constant == FixedAnswer("B", near(expected))


def test_micro_f1_of_one_label_against_several() -> None:
    # Gold {calm, sad}, {calm}, {calm}: always calm hits 3, names 3, right are 4: 2 x 3 / 7.
    many = items(*({"question_type": "multiple_answer", "gold_indices": gold} for gold in ([0, 2], [0], [0])))
    assert measure_baselines(many, "micro_f1").majority == FixedAnswer("calm", near(6 / 7))
    # Exactly the right set in two of three.
    assert measure_baselines(many, "exact_match").majority == FixedAnswer("calm", near(2 / 3))


def test_binary_f1_of_always_positive() -> None:
    gold = [0, 1, 1, 0, 1]
    expected = f1_score(gold, [0] * 5, pos_label=0)
    # 2 right, 5 named: 2 x 2 / (5 + 2).
    assert expected == near(4 / 7)
    options = {"options": ["yes", "no"]}
    found = measure_baselines(items(*({"gold_indices": [index]} | options for index in gold)), "binary_f1")
    assert found == Baselines(FixedAnswer("A", near(expected)), FixedAnswer(POSITIVE, near(expected)))


def test_a_class_is_one_in_all_languages() -> None:
    # Literal is right in 3 of 4, in either language: 6 / 7 for it, 0 for the other.
    english, chinese = {"options": ["literal", "metaphorical"]}, {"options": ["字面义", "隐喻义"], "language": "zh"}
    both = items(
        {"gold_indices": [0], **english}, {"gold_indices": [1], **english}, *({"gold_indices": [0], **chinese} for _ in range(2))
    )
    assert measure_baselines(both, "macro_f1").majority == FixedAnswer("literal / 字面义", near(3 / 7))


def test_items_without_letters_are_wrong_in_an_exam() -> None:
    written = {"question_type": "extractive", "options": None}
    exam = items({"gold_indices": [1]}, {"gold_indices": [1]}, written, written)
    assert measure_baselines(exam, "accuracy") == Baselines(FixedAnswer("B", 0.5), FixedAnswer("angry", 0.5))
    assert measure_baselines(exam, "macro_f1") == Baselines()


def test_metrics_that_compare_no_choices_have_no_baseline() -> None:
    assert measure_baselines(golds(0, 0), "stereotype_score") == Baselines()
    assert measure_baselines(items({"question_type": "open_ended", "options": None}), "accuracy") == Baselines()


def test_questionnaires_have_the_best_letter_and_both_ends() -> None:
    # Points 1 2 3 and reversed 3 1 2; a filler. A: (0 + 1) / 2, B: (0.5 + 0) / 2, C: (1 + 0.5) / 2.
    form = [{"question_type": "questionnaire", "option_points": points} for points in ([1, 2, 3], [3, 1, 2], [None] * 3)]
    found = measure_baselines(items(*form), "questionnaire_points")
    assert found == Baselines(FixedAnswer("C", 0.75), None, (FixedAnswer("A", 0.5),))


def test_orders_are_one_per_repetition_of_any_models() -> None:
    columns = (pl.String, pl.String, pl.Int64, pl.List(pl.Int64))
    schema: dict[str, Any] = dict(zip(("dataset", "item_id", "repetition", "option_order"), columns, strict=True))
    asked = [("d", "i0", 0, [1, 0]), ("d", "i0", 1, [0, 1]), ("d", "i1", 0, None), ("d", "i1", 1, None), ("plain", "i0", 0, None)]
    both_models = pl.DataFrame([*asked, *asked], schema=schema, orient="row")
    assert orders_shown(both_models) == {("d", "i0"): ((1, 0), (0, 1)), ("d", "i1"): (None, None)}


def test_constant_answers_are_scored_as_a_model() -> None:
    shares: dict[tuple[str, Metric], float] = {
        ("kind", "accuracy"): 0.5,
        ("mood", "accuracy"): 0.5,
        ("lost", "accuracy"): 0.25,
        ("tale", "judged_rating"): 0.1,
    }
    known = {key: Baselines(FixedAnswer("A", share)) for key, share in shares.items()}
    # Moods, of the low level, are (50 + 25) / 2, tales, of the medium one, 10; 0.4 and 0.6 of these. The gate is apart.
    scores = {"values_safety": 50.0, "emotional": near(0.4 * 37.5 + 0.6 * 10), "overall": near(21.0)}
    assert score_constant_answers(BLUEPRINT, known) == scores
    # A dataset that was not asked takes no part.
    without = {key: each for key, each in known.items() if key[0] != "tale"}
    assert score_constant_answers(BLUEPRINT, without) == {"values_safety": 50.0, "emotional": 37.5, "overall": 37.5}
    # A dataset without a constant answer: nothing is known of what is above it.
    known["tale", "judged_rating"] = Baselines()
    assert score_constant_answers(BLUEPRINT, known) == {"values_safety": 50.0}
    assert score_constant_answers(BLUEPRINT, {}) == {}


@pytest.mark.parametrize(
    ("score", "constant", "answer", "said"),
    [
        (0.25, 0.25, "B", "no better than always answering B (0.250)"),
        (0.2, 0.25, None, "no better than the best constant answers (0.250)"),
        (0.2501, 0.25, "B", ""),
        (None, 0.25, "B", ""),
        (0.0, None, None, ""),
    ],
)
def test_no_better_than_a_constant_answer(score: float | None, constant: float | None, answer: str | None, said: str) -> None:
    assert no_better(score, constant, answer) == said
