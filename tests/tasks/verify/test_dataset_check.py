"""Ceilings and constant letters, through the same parsing and scoring as real replies."""

from typing import Any

import dataframely as dy

from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec, MetricSpec
from schemas.metrics import Metric
from schemas.tables.items import Items
from tasks.verify.dataset_check import constant_reply, letters_of, perfect_replies, reachable_scores
from tests.tasks.rows import item
from tests.tasks.rows import items as frame_of
from tests.tasks.scoring.samples import ability, blueprint, task


def items(*rows: dict[str, Any]) -> dy.DataFrame[Items]:
    asked: dict[str, Any] = {"dataset": "moods", "question_type": "single_choice", "options": ["ice", "tea"]}
    named = ({"item_id": f"moods-{number}", "question": f"Which fits {number}?"} for number in range(len(rows)))
    return frame_of(*(item(**{**name, **asked, **row}) for name, row in zip(named, rows, strict=True)))


def scored_by(*metrics: Metric, judged: bool = False) -> Blueprint:
    specs = tuple(MetricSpec(metric=metric) for metric in metrics)
    method = MethodSpec(id="any", metrics=specs, judged=judged, rubric="summary" if judged else None)
    return blueprint(ability("able", task("moods")), datasets={"moods": BlueprintDataset(title="Moods", methods=(method,))})


def test_a_sound_dataset_can_be_won_and_a_constant_letter_earns_its_share() -> None:
    rows: list[dict[str, Any]] = [{"gold_indices": [1]}, {"gold_indices": [1]}, {"gold_indices": [0]}, {"gold_indices": [1]}]
    found = reachable_scores(items(*rows), scored_by("accuracy"))
    assert found.ceiling == 100
    assert found.constant == {"A": 25, "B": 75}


def test_one_question_with_two_golds_lowers_the_ceiling() -> None:
    same: dict[str, Any] = {"question": "Which is warmer?"}
    rows: list[dict[str, Any]] = [
        {"gold_indices": [1], **same},
        {"gold_indices": [0], **same},
        {"gold_indices": [1]},
        {"gold_indices": [0]},
    ]
    assert reachable_scores(items(*rows), scored_by("accuracy")).ceiling == 75


def test_text_answers_have_a_ceiling_and_no_letters() -> None:
    free: dict[str, Any] = {"question_type": "extractive", "options": None, "references": ["hot tea"]}
    found = reachable_scores(items(free, free), scored_by("token_f1"))
    assert (found.ceiling, found.constant) == (100, {})


def test_labels_and_segments_have_ceilings_and_constants_under_both_accuracies() -> None:
    label: dict[str, Any] = {"question_type": "label_choice", "options": ["Joy", "Relief & Hope"]}
    odd: dict[str, Any] = {"question_type": "odd_one_out", "options": ["x", "y", "z"]}
    labels = [label | {"gold_indices": [gold]} for gold in (1, 1, 0, 1)]
    segments = [odd | {"gold_indices": [gold]} for gold in (2, 0, 0, 1)]
    for metric in ("accuracy", "strict_accuracy"):
        found, places = (reachable_scores(items(*rows), scored_by(metric)) for rows in (labels, segments))
        assert (found.ceiling, found.constant) == (100, {"A": 25, "B": 75})
        assert (places.ceiling, places.constant) == (100, {"A": 50, "B": 25, "C": 25})


def test_what_only_a_judge_decides_has_no_ceiling() -> None:
    free: dict[str, Any] = {"question_type": "judged_summary", "options": None, "references": ["hot tea"]}
    found = reachable_scores(items(free), scored_by("judged_rating", judged=True))
    assert (found.ceiling, found.constant) == (None, {})


def test_what_several_answers_earn_together_has_no_ceiling() -> None:
    free: dict[str, Any] = {"question_type": "annotation", "options": None, "gold_indices": None}
    found = reachable_scores(items(free), scored_by("composite_score"))
    assert (found.ceiling, found.constant) == (None, {})


def row(item_id: str, **changed: Any) -> dict[str, Any]:
    asked = {"question": "Which is warmer?", "options": ["ice", "tea"], "gold_indices": [1]}
    empty = dict.fromkeys(("subset", "context", "references", "option_points", "option_roles", "wrong_references"))
    return {**item(item_id, "single_choice", **empty, **asked), **changed}


def test_the_same_option_is_named_as_the_question_type_asks() -> None:
    label = row("a", question_type="label_choice", options=["Joy", "Relief & Hope"])
    odd = row("a", question_type="odd_one_out", options=["x", "y", "z"], gold_indices=[2])
    assert constant_reply(label, "A") == '```json\n{"Emotion": "Joy"}\n```'
    assert constant_reply(odd, "B") == '```json\n{"index": 1}\n```'
    # a letter that this item has no option for, and an item that is answered by letter
    assert (constant_reply(label, "C"), constant_reply(row("a"), "A")) == ("C", "A")


def test_equal_prompts_get_the_more_frequent_gold() -> None:
    rows = [row("a"), row("b", gold_indices=[0]), row("c"), row("d", question="Which is colder?", gold_indices=[0])]
    assert list(perfect_replies(rows)) == ["B", "B", "B", "A"]


def test_letters_reach_to_the_longest_list_of_options() -> None:
    assert letters_of([row("a"), row("b", options=["a", "b", "c"])]) == ("A", "B", "C")
    assert letters_of([row("a", options=None)]) == ()
