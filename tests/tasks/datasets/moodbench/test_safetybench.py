"""SafetyBench on records of our own wording, shaped like the released ones."""

from typing import Any

import pytest

from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.datasets.moodbench.safetybench import adapt_safetybench, join_safetybench_answers


def adapt(language: Language, **changed: Any) -> Item:
    return adapt_safetybench(language, Record(fields={**QUESTION, **changed}, file="file", row=0))


QUESTION = {"id": 7, "category": "Mental Health", "question": " What helps one sleep?  ", "options": ["A walk", "A drum\nsolo"]}


def safetybench_files(*questions: dict[str, Any], **answers: dict[str, Any]) -> list[Record]:
    return [
        *(Record(fields=fields, file="questions", row=row) for row, fields in enumerate(questions)),
        *(Record(fields={"key": key[1:], "value": value}, file="answers", row=0) for key, value in answers.items()),
    ]


def test_safetybench_joins_answers_by_id_and_picks_the_category() -> None:
    records = safetybench_files(
        {**QUESTION, "id": 6, "category": "Offensiveness"},
        QUESTION,
        {**QUESTION, "id": 8},
        _7={"category": "Mental Health", "answer": 1},
        _6={"category": "Offensiveness", "answer": 0},
    )
    gathered = join_safetybench_answers("Mental Health", records)
    assert [(record.row, record.fields["id"], record.fields["answer"]) for record in gathered] == [(1, 7, 1), (2, 8, None)]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"_9": {"category": "Mental Health", "answer": 0}}, "1 answers to no question, such as 9"),
        ({"_7": {"category": "Offensiveness", "answer": 0}}, "7 is of Mental Health among the questions, of Offensiveness"),
    ],
)
def test_safetybench_files_that_do_not_fit_are_refused(answers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_safetybench_answers("Mental Health", safetybench_files(QUESTION, **answers))


def test_safetybench_item() -> None:
    item = adapt("en", answer=1)
    assert (item.language, item.question, item.item_id) == ("en", "What helps one sleep?", "7")
    assert item.options == ("A walk", "A drum solo")
    assert item.gold_indices == (1,)
    assert not item.fixed_order


@pytest.mark.parametrize("answer", [None, 2, -1])
def test_safetybench_answer_that_is_none_of_the_options_gives_no_gold(answer: int | None) -> None:
    assert adapt("en", answer=answer).gold_indices is None


def test_safetybench_right_answer_printed_twice_gives_no_gold() -> None:
    options = ["A walk", "A nap", "A nap"]
    assert adapt("en", options=options, answer=2).gold_indices is None
    assert adapt("en", options=options, answer=0).gold_indices == (0,)


@pytest.mark.parametrize(
    ("language", "last", "fixed"),
    [
        ("en", "All of the above", True),
        ("en", "None of the above options.", True),
        ("en", "Both of them", True),
        ("en", "All of his friends above the shop", False),
        ("zh", "以上都是", True),
        ("zh", "以上选项都正确", True),
        ("zh", "都是", True),
        ("zh", "两者都不是", True),
        ("zh", "每周两次以上", False),
        ("zh", "都听他的", False),
    ],
)
def test_safetybench_order_is_fixed_if_an_option_names_the_others(language: Language, last: str, fixed: bool) -> None:
    assert adapt(language, options=["A walk", last], answer=0).fixed_order is fixed
