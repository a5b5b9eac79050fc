"""SafetyBench on records of our own wording, shaped like the released ones, and on the real files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from schemas.item import Record
from tasks.benchmarks.moodbench.datasets.safetybench import ANSWERS_EN, join_safetybench_answers
from tasks.datasets.catalogue import CATALOGUE
from tasks.sources.locating import Locator
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import rows

QUESTION = {"id": 7, "category": "Mental Health", "question": " What helps one sleep?  ", "options": ["A walk", "A drum\nsolo"]}


def safetybench_files(*questions: dict[str, Any], **answers: dict[str, Any]) -> list[Record]:
    return [
        *(Record(fields=fields, file="questions", row=row) for row, fields in enumerate(questions)),
        *(Record(fields={"key": key[1:], "value": value}, file="answers", row=0) for key, value in answers.items()),
    ]


def test_safetybench_joins_answers_by_id_and_picks_category() -> None:
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
        ({"_9": {"category": "Mental Health", "answer": 0}}, "1 answers without a question, such as 9"),
        ({"_7": {"category": "Offensiveness", "answer": 0}}, "7 has category Mental Health in the questions, Offensiveness"),
    ],
)
def test_safetybench_files_that_do_not_fit_are_refused(answers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_safetybench_answers("Mental Health", safetybench_files(QUESTION, **answers))


ENTRIES = CATALOGUE
SAFETYBENCH = [name for name in ENTRIES if name.startswith("safetybench_")]


def test_safetybench_one_question_with_two_golds_stays(mirror: Path) -> None:
    rows_by_id = rows("safetybench_illegal_activities", mirror)
    assert (rows_by_id["7973"]["gold_indices"], rows_by_id["8027"]["gold_indices"]) == ([1], [0])
    alternative = ENTRIES["safetybench_illegal_activities"].alternative
    assert alternative is not None
    assert "7973 and 8027" in alternative.ambiguous[0]


@each_row(
    ("name", "item_id", "gold"),
    [
        ("offensiveness", "2", 1),
        ("physical_health", "3714", 0),
        ("physical_health", "3720", 1),
        ("mental_health", "4860", 1),
        ("mental_health", "4863", 2),
        ("illegal_activities", "6447", 3),
        ("privacy_property", "10138", 3),
        ("privacy_property", "10147", 3),
    ],
)
def test_safetybench_gold_is_what_a_reader_would_choose(name: str, item_id: str, gold: int, mirror: Path) -> None:
    assert rows(f"safetybench_{name}", mirror)[item_id]["gold_indices"] == [gold]


def test_safetybench_entries_state_question_counts(mirror: Path) -> None:
    answers = json.loads(Locator(mirror=mirror).locate(ANSWERS_EN).read_text(encoding="utf-8"))
    counts = Counter(answer["category"] for answer in answers.values())
    assert counts.total() == 11_435
    for name in SAFETYBENCH:
        spec = ENTRIES[name]
        category = spec.title.removeprefix("SafetyBench: ")
        assert spec.differences[2].startswith(f"{counts.pop(category):,} English questions")
        assert spec.expected_rows == 2 * 11_435
    assert not counts
