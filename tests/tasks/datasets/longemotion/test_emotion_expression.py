"""Emotion Expression: one item per situation, the adjectives by number."""

from typing import Any

import pytest

from schemas.context import ContextOptions
from schemas.item import Record
from tasks.datasets.longemotion.emotion_expression import read_situations

WORDS = [f"Word{number}" for number in range(1, 21)]
EMOTIONS = [
    {"name": "Anger", "factors": [{"name": "Traffic", "scenarios": ["A car cuts in.", " A horn sounds. "]}]},
    {"name": "Guilt", "factors": [{"name": "Lies", "scenarios": ["You told a lie.", "A car cuts in."]}]},
]


def situations(emotions: Any = EMOTIONS) -> Record:
    return Record(fields={"key": "emotions", "value": emotions}, file="situations.json", row=0)


def panas(words: list[str] = WORDS) -> Record:
    # "10" sorts before "2" as text.
    questions = {str(number): word for number, word in sorted(enumerate(words, start=1), key=lambda pair: str(pair[0]))}
    return Record(fields={"name": "PANAS", "questions": questions}, file="questionnaires.json", row=0)


def test_every_situation_is_an_item_even_if_its_words_occur_twice() -> None:
    samples = read_situations([situations(), panas()], ContextOptions(), 0)
    built = [sample.build() for sample in samples]
    assert [sample.item_id for sample in samples] == ["ee-001", "ee-002", "ee-003", "ee-004"]
    assert [item.context for item, _ in built] == ["A car cuts in.", "A horn sounds.", "You told a lie.", "A car cuts in."]
    assert [item.subset for item, _ in built] == ["Anger", "Anger", "Guilt", "Guilt"]
    # a car cuts in . : five tokens.
    assert built[0][1].tokens == 5
    assert {context.task for _, context in built} == {"ee"}
    assert len({sample.record.sha256 for sample in samples}) == 4
    assert [sample.record.row for sample in samples] == [0, 1, 2, 3]
    for item, _ in built:
        assert (item.options, item.fixed_order) == (tuple(WORDS), True)
        # Neither emotion nor factor is shown.
        shown = f"{item.context} {item.question} {item.options}".casefold()
        assert not any(word in shown for word in ("anger", "guilt", "traffic"))


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([situations()], "one questionnaire PANAS, got 0"),
        ([situations(), panas(), panas()], "one questionnaire PANAS, got 2"),
        ([panas()], "no object `emotions`"),
        ([situations([]), panas()], "no object `emotions`"),
        ([situations(), panas([*WORDS[:19], "word1"])], "20 different adjectives"),
        ([situations(), panas([*WORDS, "more"])], "20 different adjectives"),
        ([situations(), panas([*WORDS[:19], " "])], "20 different adjectives"),
    ],
)
def test_files_that_do_not_fit(records: list[Record], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_situations(records, ContextOptions(), 0)


def test_an_empty_situation_is_no_item() -> None:
    emotions = [{"name": "Anger", "factors": [{"name": "Traffic", "scenarios": [" "]}]}]
    (sample,) = read_situations([situations(emotions), panas()], ContextOptions(), 0)
    with pytest.raises(ValueError, match="scenario is empty"):
        sample.build()
