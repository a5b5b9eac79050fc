"""Needles from EmoBench and FinEntity records, and released records: what is read, asked, chosen and left out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from schemas.context import ContextOptions
from schemas.item import Record
from tasks.benchmarks.longemotion.datasets.emotion_classification import (
    ask_feeling,
    ask_tone,
    find_reports,
    list_emobench_samples,
    list_finentity_samples,
    occurs,
)
from tasks.benchmarks.longemotion.datasets.released_classification import read_released
from tasks.benchmarks.longemotion.needle.haystacks import lay_out
from tasks.benchmarks.longemotion.needle.needles import Needle
from tasks.text.tokens import count_tokens

SHORT = ContextOptions(lengths=(200,), depths=(50,))
LINES = [
    "Licence",
    "CHAPTER I.",
    "",
    *(f"Joe had {number} apples. He ate one.\n".strip() for number in range(40)),
    "",
    "THE END.",
]
BOOK = [Record(fields={"line": line}, file="book.txt", row=row) for row, line in enumerate("\n\n".join(LINES).split("\n"))]
HAYSTACK = lay_out(("Joe ate an apple near the Delta. He had gold.",), "b", "matched")


def scenario(**changes: Any) -> Record:
    fields = {
        "qid": "7",
        "language": "en",
        "coarse_category": "complex_emotions",
        "scenario": "Joe found Mia's letter. He read it.",
        "subject": "Joe",
        "emotion_choices": ["Joy", "Fear"],
        "emotion_label": "Fear",
        **changes,
    }
    return Record(fields=fields, file="EU.jsonl", row=0)


def report(content: str, *annotations: tuple[str, str], row: int = 0) -> Record:
    fields = {"content": content, "annotations": [{"value": value, "label": label} for value, label in annotations]}
    return Record(fields=fields, file="FinEntity.json", row=row)


_OPENED = (
    "One passage of the text begins \"a 'b' c d e f g h\". What would the narrator of that passage most likely feel in the end?"
)
LONG = "{} reported on Monday that its sales had grown by 5% over the whole year."


def test_an_item_of_a_scenario() -> None:
    (sample,) = list_emobench_samples([scenario(), scenario(language="zh"), *BOOK], SHORT, 1)
    item, context = sample.build()
    ((old, new),) = context.renamed
    assert (sample.item_id, item.subset, item.options, item.gold_indices) == (
        "ec_emobench-7-len200-depth50",
        "complex_emotions",
        ("Joy", "Fear"),
        (1,),
    )
    assert old == "Joe"
    assert item.question == f"The text tells of {new}. What would {new} most likely feel in the end?"
    assert context.needle == f"{new} found Mia's letter. He read it."
    assert (context.query, context.needle_id, context.task, context.needle_style) == (new, "7", "ec_emobench", "matched")


def test_scenario_questions_have_names_and_rename_alike() -> None:
    records = [scenario(), scenario(qid="8", subject="Mia"), scenario(qid="8", subject="I"), *BOOK]
    samples = list_emobench_samples(records, ContextOptions(lengths=(200,), depths=(0, 50)), 1)
    assert [sample.item_id for sample in samples] == [
        f"ec_emobench-{name}-len200-depth{depth}" for name in ("7", "8", "8-2") for depth in (0, 50)
    ]
    assert len({sample.build()[1].renamed for sample in samples}) == 1


def test_as_is_keeps_needle_on_own_line() -> None:
    (sample,) = list_emobench_samples(
        [scenario(subject="Mia", scenario="Mia read — it”"), *BOOK], SHORT.model_copy(update={"needle_style": "as_is"}), 1
    )
    item, context = sample.build()
    assert context.needle == "Mia read — it”"
    assert f" .\n{context.needle}\n" in (item.context or "")
    assert (item.context or "").replace(context.needle, "").islower()


@pytest.mark.parametrize(
    ("subject", "text", "expected"),
    [
        ("Nora's brother", "x", "The text tells of Nora's brother. What would Nora's brother most likely feel in the end?"),
        ("I", 'a "b" c d e f g h i', _OPENED),
        ("my mom", None, "What would the narrator's mom most likely feel in the end?"),
        ("the teacher", None, "What would the teacher most likely feel in the end?"),
    ],
)
def test_whoever_has_no_name_is_told_by_passage(subject: str, text: str | None, expected: str) -> None:
    assert ask_feeling(subject, text) == expected


def test_an_item_of_a_report() -> None:
    content = "Acme Corp <ACME.N> reported on Monday that its sales had grown by 5% over the year. [nL1N2A3B4C]  "
    (sample,) = list_finentity_samples([report(content, ("Acme Corp", "Positive"), row=3), *BOOK], SHORT, 1)
    item, context = sample.build()
    assert sample.item_id == "ec_finentity-3-len200-depth50"
    assert context.needle == "Acme Corp reported on Monday that its sales had grown by 5% over the year."
    assert (item.question, context.query) == (ask_tone("Acme Corp", None), "Acme Corp")
    assert (item.options, item.gold_indices, item.subset) == (("Positive", "Neutral", "Negative"), (0,), None)
    (as_is,) = list_finentity_samples(
        [report(content, ("Acme Corp", "Positive")), *BOOK], SHORT.model_copy(update={"needle_style": "as_is"}), 1
    )
    assert as_is.build()[1].needle == " ".join(content.split())


def reports(records: Sequence[Record]) -> Sequence[Needle]:
    return find_reports(records, HAYSTACK, ContextOptions())


@pytest.mark.parametrize(
    "record",
    [
        report(LONG.format("Acme"), ("Acme", "Positive"), ("Acme", "Negative")),  # contradicts itself
        report(LONG.format("Delta"), ("Delta", "Positive")),  # the book has it
        report(LONG.format("Gold"), ("Gold", "Positive")),  # in lower case, too
        report(LONG.format("Acme"), ("Acm", "Positive")),  # no whole word
        report("Acme sales grew by 5%.", ("Acme", "Positive")),  # short
        report(LONG.format("of Acme"), ("Acme", "Positive")),  # a fragment
        report(LONG.format("Acme").rstrip("."), ("Acme", "Positive")),  # not closed
        report(LONG.format("* Acme"), ("Acme", "Positive")),  # of a list
        report(LONG.format("Acme's \ufffd"), ("Acme", "Positive")),  # unreadable
        report(LONG.format("Acme") + " (Reporting by N. N.)", ("Acme", "Positive")),
        report(LONG.format("Acme"), ("", "Positive")),
        report(LONG.format("Acme")),
    ],
)
def test_unusable_reports_are_left_out(record: Record) -> None:
    usable = report(LONG.format("Bolt"), ("Bolt", "Neutral"), row=1)
    assert [(needle.subject, needle.label) for needle in reports([record, usable])] == [("Bolt", "Neutral")]


def test_repeated_reports_and_nested_entities_are_skipped() -> None:
    repeated = [report(LONG.format("Bolt"), ("Bolt", "Neutral"), row=row) for row in range(2)]
    nested = report(LONG.format("Acme Oil"), ("Acme", "Negative"), ("Acme Oil", "Positive"), row=2)
    assert [(needle.subject, needle.record.row) for needle in reports([*repeated, nested])] == [("Acme Oil", 2)]


def test_report_fills_tone_that_lacks_most() -> None:
    both = [
        report(LONG.format(f"Acme{row} and Bolt{row}"), (f"Acme{row}", "Positive"), (f"Bolt{row}", "Negative"), row=row)
        for row in range(150)
    ]
    chosen = reports(both)
    tones = [needle.label for needle in chosen]
    assert (tones.count("Positive"), tones.count("Negative")) == (67, 66)
    assert [needle.record.row for needle in chosen] == sorted(needle.record.row for needle in chosen)
    # Which ones does not depend on the order of the file.
    assert {needle.text for needle in reports(both[::-1])} == {needle.text for needle in chosen}


def test_words_occur_as_whole_words() -> None:
    assert occurs("S&P", "the S&P.")
    assert not occurs("S&P", "AS&P or S&P500")


BEFORE, NEEDLE, AFTER = "it was dark .\n", "Joe found Mia's letter. He read it.", "\nhe slept . \n"


def released(**changes: Any) -> Record:
    fields: dict[str, Any] = {
        "id": 3,
        "content": BEFORE + NEEDLE + AFTER,
        "subject": "Joe",
        "label": "Fear",
        "choices": ["Joy", "Fear"],
        "source": "Bookcorpus_1.txt",
        **changes,
    }
    return Record(fields={name: value for name, value in fields.items() if value is not None}, file="released.jsonl", row=0)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"choices": json.dumps(["Joy", "Fear"])},
        {"content": None, "context": BEFORE + NEEDLE + AFTER},
        {"subject": None, "Subject": "Joe"},
    ],
)
def test_released_records_are_read_and_needles_located(changes: dict[str, Any]) -> None:
    (sample,) = read_released("ec_emobench")([released(**changes), scenario(), scenario(language="zh")], ContextOptions(), 0)
    item, context = sample.build()
    text = BEFORE + NEEDLE + AFTER
    assert (sample.item_id, item.context, item.options, item.gold_indices) == ("ec_emobench-3", text, ("Joy", "Fear"), (1,))
    assert (context.query, context.haystack, context.needle_id, context.needle) == ("Joe", "Bookcorpus_1.txt", "7", NEEDLE)
    assert text[context.needle_start : context.needle_end] == NEEDLE
    # it was dark . = 4 tokens; he slept . = 3; the needle lies after 4 of these 7.
    assert (context.needle_token_start, context.needle_token_end) == (4, 4 + count_tokens(NEEDLE))
    assert context.tokens == 7 + count_tokens(NEEDLE)
    assert context.depth_percent == pytest.approx(400 / 7)


@pytest.mark.parametrize(
    ("record", "scenarios"),
    [
        (released(content=BEFORE + NEEDLE.replace("Joe", "Ann") + AFTER), [scenario()]),  # adjusted by hand
        (released(content=NEEDLE + BEFORE + NEEDLE), [scenario()]),  # twice
        (released(), [scenario(), scenario(scenario="He read it.")]),  # two scenarios fit
        (released(), []),
    ],
)
def test_needle_that_is_not_certain_is_not_guessed(record: Record, scenarios: list[Record]) -> None:
    ((_, context),) = [sample.build() for sample in read_released("ec_emobench")([record, *scenarios], ContextOptions(), 0)]
    assert context.tokens == count_tokens(record.fields["content"])
    spans = (context.needle_start, context.needle_end, context.needle_token_start, context.needle_token_end)
    assert (context.needle, context.needle_id, context.depth_percent, *spans) == (None,) * 7


def test_released_reports_ask_tone_without_needle() -> None:
    record = released(choices='["Positive", "Neutral", "Negative"]', label="Neutral", subject="Acme")
    (sample,) = read_released("ec_finentity")([record], ContextOptions(), 0)
    item, context = sample.build()
    assert (item.question, item.gold_indices, context.needle) == ("What tone does the text take towards Acme?", (1,), None)
    assert (sample.item_id, context.task) == ("ec_finentity-3", "ec_finentity")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"content": None}, LookupError),
        ({"content": "  "}, ValueError),
        ({"choices": "Joy, Fear"}, ValueError),
        ({"choices": [1, 2]}, TypeError),
        ({"label": 3}, TypeError),
    ],
)
def test_released_records_that_lack_something_are_refused(changes: dict[str, Any], error: type[Exception]) -> None:
    (sample,) = read_released("ec_emobench")([released(**changes)], ContextOptions(), 0)
    with pytest.raises(error):
        sample.build()


def test_a_question_of_another_subject_names_no_needle() -> None:
    (sample,) = read_released("ec_emobench")([released(subject="Mia"), scenario()], ContextOptions(), 0)
    assert (sample.build()[1].needle, sample.build()[1].needle_id) == (NEEDLE, None)
