"""Imagined models: the perfect one answers the gold, but cannot answer one prompt in two ways."""

from typing import Any

from tasks.analysis.dataset_check.checking import constant_reply, letters_of, perfect_replies
from tests.tasks.rows import item


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
