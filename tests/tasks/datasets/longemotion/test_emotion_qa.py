"""Emotion QA, on rows of our own: the released file is not in the mirror."""

from typing import Any

import pytest

from schemas.context import ContextOptions
from schemas.item import Item, Record, text_id
from tasks.datasets.longemotion.emotion_qa import read_questions


def row(number: str = "File3-1", **changes: Any) -> Record:
    fields = {
        "number": number,
        "problem": " What eases worry? ",
        "answer": "a slow walk",
        "source": "On worry",
        "context": "# On worry\n\nA slow walk is good.\n",
        **changes,
    }
    return Record(fields=fields, file="data/Emotion_QA.jsonl", row=0)


def test_a_question_has_its_article_and_short_reference() -> None:
    (sample,) = read_questions([row()], ContextOptions(), 0)
    item, context = sample.build()
    assert (sample.item_id, sample.record) == ("qa-File3-1", row())
    assert sample.cluster == text_id("# On worry\n\nA slow walk is good.")
    assert item == Item(
        question_type="extractive",
        context="# On worry\n\nA slow walk is good.",
        question="What eases worry?",
        references=("a slow walk",),
    )
    # "#", "on", "worry", "a", "slow", "walk", "is", "good" and "." are 9 tokens.
    assert (context.task, context.query, context.needle, context.tokens) == ("qa", None, None, 9)


def test_numbers_that_occur_twice_are_told_apart() -> None:
    samples = read_questions([row(), row("File3-2"), row(problem="Another?")], ContextOptions(), 0)
    assert [sample.item_id for sample in samples] == ["qa-File3-1", "qa-File3-2", "qa-File3-1-2"]


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [({"answer": " "}, ValueError, "answer is empty"), ({"context": None}, TypeError, "context is no text but NoneType")],
)
def test_a_record_without_answer_or_article_is_no_item(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    (sample,) = read_questions([row(**changes)], ContextOptions(), 0)
    with pytest.raises(error, match=said):
        sample.build()
