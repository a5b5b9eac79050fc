"""Imagined models: the perfect one answers the gold, but cannot answer one prompt in two ways."""

from typing import Any

from tasks.analysis.dataset_check.replies import constant_reply, gold_reply, letters_of, perfect_replies
from tests.tasks.rows import item


def row(item_id: str, **changed: Any) -> dict[str, Any]:
    asked = {"question": "Which is warmer?", "context": None, "options": ["ice", "tea"], "gold_indices": [1]}
    return {**item(item_id, "single_choice", references=None, option_points=None, **asked), **changed}


def test_gold_is_said_in_the_form_of_each_question_type() -> None:
    four = ["a", "b", "c", "d"]
    assert gold_reply(row("a")) == "B"
    assert gold_reply(row("a", question_type="multiple_answer", options=four, gold_indices=[0, 3])) == "A, D"
    assert gold_reply(row("a", question_type="ranking", options=four, gold_indices=[2])) == "C, A, B, D"
    assert gold_reply(row("a", question_type="ordered_recall", options=four, gold_indices=[3, 1, 0, 2])) == "D, B, A, C"
    assert (
        gold_reply(row("a", question_type="extractive", options=None, gold_indices=None, references=["tea", "hot tea"])) == "tea"
    )
    points = {"question_type": "questionnaire", "gold_indices": None, "option_points": [0.0, 2.0]}
    assert gold_reply(row("a", **points)) == "B"


def test_labels_and_indices_are_said_as_json() -> None:
    label = row("a", question_type="label_choice", options=["Joy", "Relief & Hope"])
    odd = row("a", question_type="odd_one_out", options=["x", "y", "z"], gold_indices=[2])
    assert gold_reply(label) == '```json\n{"Emotion": "Relief & Hope"}\n```'
    assert gold_reply(odd) == '```json\n{"index": 2}\n```'
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
