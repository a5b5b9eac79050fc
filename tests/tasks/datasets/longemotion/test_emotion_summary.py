"""Emotion Summary: three forms of a section, five aspects in their order."""

from typing import Any

import pytest

from schemas.context import ASPECTS, ContextOptions
from schemas.item import Record
from tasks.datasets.longemotion.emotion_summary import join_readable, read_reports

FIELDS: dict[str, Any] = {
    "id": 7,
    "case_description": ["A baker who cannot sleep."],
    "consultation_process": [" First talk. ", "", "Second talk."],
    "experience_and_reflection": "Patience helped.",
    # In another order than ASPECTS.
    "treatment_effect": "sleeps again",
    "symptoms": "sleeplessness",
    "causes": "night work",
    "characteristics_of_illness": "comes with\nthe season",
    "treatment_process": "two talks",
}


def record(**changes: Any) -> Record:
    return Record(fields=FIELDS | changes, file="f", row=0)


def test_a_report_is_three_labelled_sections_and_five_references() -> None:
    (sample,) = read_reports([record()], ContextOptions(), 0)
    item, context = sample.build()
    assert sample.item_id == "es-7"
    assert item.context == (
        "Case description:\nA baker who cannot sleep.\n\n"
        "Consultation process:\nFirst talk.\nSecond talk.\n\n"
        "Experience and reflection:\nPatience helped."
    )
    assert item.references is not None
    assert dict(zip(ASPECTS, item.references, strict=True)) == {aspect: FIELDS[aspect] for aspect in ASPECTS}
    assert (item.question_type, context.task, context.query) == ("aspect_summary", "es", None)
    assert context.tokens > len(item.context.split())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" one ", "one"),
        (["one", " ", "two"], "one\ntwo"),
        ({"session 1": "talk", "session 2": ["walk", "rest"], "none": ""}, "session 1: talk\nsession 2: walk\nrest"),
        ([{"age": "34"}, "rest"], "age: 34\nrest"),
        ([], ""),
    ],
)
def test_texts_lists_and_objects_become_readable_text(value: Any, text: str) -> None:
    assert join_readable(value) == text


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"case_description": []}, ValueError, "case_description is empty"),
        ({"case_description": {"age": ""}}, ValueError, "case_description is empty"),
        ({"consultation_process": [34]}, TypeError, "got int"),
        ({"experience_and_reflection": None}, TypeError, "got NoneType"),
        ({"symptoms": "\n"}, ValueError, "symptoms is empty"),
        ({"causes": ["a", "b"]}, TypeError, "causes is no text but list"),
    ],
)
def test_what_cannot_be_shown_or_compared_is_no_item(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    (sample,) = read_reports([record(**changes)], ContextOptions(), 0)
    with pytest.raises(error, match=said):
        sample.build()
