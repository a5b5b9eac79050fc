"""Options of real datasets, read in place: whatever they look like, an answer that repeats one is read as that one."""

import json
from collections.abc import Callable, Iterator

import polars as pl
import pytest

from schemas.letters import option_letters
from tasks.metrics.parsing import parse_choice
from tests.mirror import MIRROR, needs_mirror

MOODBENCH = MIRROR / "github.com" / "QuwanAI" / "MoodBench" / "data"

WRAPPINGS = [
    *("{letter}", "**{letter}**", "选{letter}", "{letter}. {text}", "({letter}) {text}", "**{letter}. {text}**"),
    *("{letter}. {text}\n\nBecause it fits best.", "The correct answer is {letter}. {text}", "答案：{letter}．{text}"),
]


def dialogue_options() -> Iterator[list[str]]:
    """Next utterances, many of them "M: ... F: ..."."""
    for path in sorted((MOODBENCH / "basic_ability" / "NLI").rglob("*.txt")):
        record = json.loads(path.read_text(encoding="utf-8"))
        yield record["options"]


def exam_options() -> Iterator[list[str]]:
    """Ten options each: formulas, code, lists of lists."""
    for path in sorted((MOODBENCH / "basic_ability" / "common_sense" / "MMLU-Pro_parquet").rglob("*.parquet")):
        yield from pl.read_parquet(path)["options"].to_list()


def scale_options() -> Iterator[list[str]]:
    """Grades of agreement that contain each other."""
    for path in sorted(MOODBENCH.rglob("liangbiao/**/*.json")):
        yield from (record["Choices"] for record in json.loads(path.read_text(encoding="utf-8")))


@needs_mirror
@pytest.mark.parametrize("source", [dialogue_options, exam_options, scale_options], ids=lambda source: source.__name__)
def test_every_wrapping_of_every_gold_is_read(source: Callable[[], Iterator[list[str]]]) -> None:
    asked = [[text.strip() for text in options] for options in source()]
    distinct = [options for options in asked if len(set(options)) == len(options)]
    assert len(distinct) > 100
    misread = [
        (reply, options)
        for place, options in enumerate(distinct)
        for wrapping in WRAPPINGS
        for gold in [place % len(options)]
        for reply in [wrapping.format(letter=option_letters(len(options))[gold], text=options[gold])]
        if parse_choice(reply, options).indices != (gold,)
    ]
    assert misread == []
