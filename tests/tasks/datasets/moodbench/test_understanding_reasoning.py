"""Datasets of understanding and inference: adapters on records of our own wording, then the entries on the real files."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.item import Record
from tasks.datasets.moodbench.reading_comprehension import adapt_multirc, adapt_record
from tasks.datasets.moodbench.reasoning import adapt_folio, adapt_logiqa, adapt_mutual, adapt_wsc, join_logiqa_lines
from tasks.datasets.moodbench.text_classification import adapt_ag_news
from tests.tasks.datasets.real_datasets import adapt, build, records_of, right

NAMES = ("ag_news", "thucnews", "qqp", "multirc", "record", "mnli", "wsc", "mutual", "folio", "logiqa")


def by_row(name: str, mirror: Path) -> dict[int, dict[str, Any]]:
    return {row["source_row"]: row for row in build(name, mirror).items.iter_rows(named=True)}


def test_ag_news_cleans_backslashes_and_counts_classes_from_one() -> None:
    item = adapt(adapt_ag_news, **{"class": "3", "title": "Tea at \\$4", "description": " Prices\\rose  by\\\\a third.\\"})
    assert item.context == "Tea at $4\nPrices rose by a third."
    assert right(item) == ["Business"]
    assert adapt(adapt_ag_news, **{"class": "0", "title": "", "description": ""}).gold_indices is None


def test_multirc_judges_one_answer_and_keeps_the_question_it_belongs_to() -> None:
    row = {"paragraph": "Ann has a cat.", "question": "Who?", "answer": "Ann", "idx": {"paragraph": 4, "question": 17}}
    items = [adapt(adapt_multirc, **row, label=label) for label in (1, 0)]
    assert (items[0].context, items[0].subset) == ("Ann has a cat.", "4-17")
    assert items[0].question.endswith('\nQuestion asked: "Who?"\nProposed answer: "Ann"')
    assert [right(item) for item in items] == [["yes"], ["no"]]


RECORD = {
    "passage": "Ann Lee met Bo Li.\n@highlight\nThey talked\n@highlight\nBo left",
    "query": "@placeholder went home.",
    "entities": ["Ann Lee", "Bo\u00a0Li", "Bo", "Bo Li"],
}


def test_record_lists_entities_once_and_takes_any_form_of_the_right_one() -> None:
    item = adapt(adapt_record, **RECORD, answers=["Bo", "Bo\u00a0Li", "Bo Li"])
    assert item.context == "Ann Lee met Bo Li.\n- They talked\n- Bo left"
    assert item.question.endswith("Sentence: @placeholder went home.\nEntities:\n- Ann Lee\n- Bo Li\n- Bo")
    assert item.references == ("Bo", "Bo Li")


@pytest.mark.parametrize("answers", [[], ["Cy"], ["Bo", "Cy"]])
def test_record_whose_answers_are_no_entities_has_no_gold(answers: list[str]) -> None:
    assert adapt(adapt_record, **RECORD, answers=answers).references is None


WSC = {"text": "Ann saw Eve when she waved , and she smiled .", "span1_text": "Ann", "span1_index": 0, "span2_text": "she"}


def test_wsc_marks_the_pronoun_that_is_meant() -> None:
    # 7 is one word early, as in one record of the release.
    first, second, early = (adapt(adapt_wsc, **WSC, span2_index=index, label=1) for index in (4, 8, 7))
    assert first.context == "Ann saw Eve when **she** waved , and she smiled ."
    assert second.context == early.context == "Ann saw Eve when she waved , and **she** smiled ."
    assert first.question == 'Does the pronoun marked as **she** refer to "Ann"?'
    assert right(first) == ["yes"]


def test_wsc_without_its_pronoun_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="she is neither word 1 "):
        adapt(adapt_wsc, **WSC, span2_index=1, label=1)


def test_mutual_puts_each_turn_on_a_line() -> None:
    options = ["M: No.", "M:  At 9.", "M: Pardon?", "M: Yes."]
    item = adapt(adapt_mutual, article="F: Is it 5: 30? M: Hm. F: So?", options=options, answers="B", id="dev_0")
    assert item.context == "F: Is it 5: 30?\nM: Hm.\nF: So?"
    assert item.options == ("M: No.", "M: At 9.", "M: Pardon?", "M: Yes.")
    assert right(item) == ["M: At 9."]


@pytest.mark.parametrize("label", ["True", "False", "Uncertain"])
def test_folio_shows_sentences_and_no_formulas(label: str) -> None:
    fields = {"premises": ["All cats purr. ", "Tom is a cat."], "conclusion": "Tom purrs.", "label": label}
    item = adapt(adapt_folio, **fields, **{"premises-FOL": ["∀x Purr(x)"], "conclusion-FOL": "Purr(tom)"})
    assert (item.context, item.question_type) == ("Premises:\n- All cats purr.\n- Tom is a cat.", "ranking")
    assert item.question.endswith("Conclusion: Tom purrs.")
    assert "Purr(" not in item.model_dump_json()
    assert [verdict.split(":")[0] for verdict in right(item)] == [label]


@pytest.mark.parametrize(
    ("printed", "options"),
    [
        (["A.one", "B.two", "C.three", "D.four"], ("one", "two", "three", "four")),
        (["A.one", "C.three", "B.two", "D.four"], ("one", "two", "three", "four")),
        (["A one", "B? two", "C.three", "D. four"], ("one", "two", "three", "four")),
        (["one", "B.two", "C.three", "four"], ("one", "two", "three", "four")),
        (["A.one", "Shed B.3", "C.three", "D.four"], ("one", "Shed B.3", "three", "four")),
        (["A.one", "A two", "C.three", "D.four"], ("one", "A two", "three", "four")),
    ],
    ids=["in order", "out of order", "other marks", "two letters lack", "letter inside", "letter twice"],
)
def test_logiqa_goes_by_the_printed_letter(printed: list[str], options: tuple[str, ...]) -> None:
    item = adapt(adapt_logiqa, label="c", text="Some text.", question="Which?", options=printed)
    assert item.options == options
    assert right(item) == ["three"]


BLOCK = ("", "a", "Some text.", "Which?", "A.1", "B.2", "C.3", "D.4")


def lines(*texts: str) -> list[Record]:
    return [Record(fields={"line": text}, file="Test.txt", row=row) for row, text in enumerate(texts)]


def test_logiqa_gathers_eight_lines_a_question() -> None:
    gathered = join_logiqa_lines(lines(*BLOCK, *BLOCK))
    assert [record.row for record in gathered] == [0, 8]
    assert list(gathered[1].fields.values()) == ["a", "Some text.", "Which?", ["A.1", "B.2", "C.3", "D.4"]]


@pytest.mark.parametrize("texts", [BLOCK[:7], (*BLOCK, ""), BLOCK[1:] + BLOCK[:1]], ids=["short", "rest", "shifted"])
def test_logiqa_refuses_lines_that_are_no_blocks(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="are no block"):
        join_logiqa_lines(lines(*texts))


@pytest.mark.parametrize("name", NAMES)
def test_the_released_code_takes_no_other_option_for_right(name: str, mirror: Path) -> None:
    assert build(name, mirror).items["reference_gold_indices"].is_null().all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "record"])
def test_no_question_has_two_golds(name: str, mirror: Path) -> None:
    asked = build(name, mirror).items.group_by("context", "question", "options").agg(pl.col("gold_indices").n_unique())
    assert asked["gold_indices"].max() == 1


def test_multirc_keeps_the_questions_apart(mirror: Path) -> None:
    # 219 questions with one answer, 36 with two, 3 with three; 136 without a right one.
    items = build("multirc", mirror).items
    assert Counter(items["subset"].value_counts()["count"]) == {1: 219, 2: 36, 3: 3}
    assert items.group_by("subset").agg(pl.col("gold_indices").list.first().min())["gold_indices"].sum() == 136


def test_record_takes_forms_from_the_listed_entities(mirror: Path) -> None:
    rows = by_row("record", mirror)
    listed = {number: [line[2:] for line in row["question"].split("Entities:\n")[1].split("\n")] for number, row in rows.items()}
    assert Counter(len(row["references"]) for row in rows.values()) == {1: 168, 2: 115, 3: 11, 4: 6}
    assert all(set(row["references"]) <= set(listed[number]) for number, row in rows.items())
    assert max(map(len, listed.values())) == 55
    # Entities equal but for white space stand in these rows; they have 18, 15, 10 and 9 entities in the release.
    assert [len(listed[number]) for number in (18, 22, 36, 274)] == [17, 14, 9, 8]
    assert sum(map(len, listed.values())) == sum(len(record.fields["entities"]) for record in records_of("record", mirror)) - 4
    assert [[listed[number].index(form) for form in rows[number]["references"]] for number in (0, 1, 2)] == [[1], [10], [12, 5]]
    assert not any("@highlight" in row["context"] for row in rows.values())


def test_mutual_reads_each_file_once_and_the_letter_of_two_of_them(mirror: Path) -> None:
    golds = {Path(row["source_file"]).stem: row["gold_indices"] for row in build("mutual", mirror).items.iter_rows(named=True)}
    assert len(golds) == 300
    assert (golds["dev_1"], golds["dev_101"]) == ([2], [3])


def test_logiqa_puts_nineteen_questions_into_the_order_of_their_letters(mirror: Path) -> None:
    gathered = join_logiqa_lines(records_of("logiqa", mirror))
    assert len(gathered) == 651
    printed = Counter("".join(option[0] for option in record.fields["options"]) for record in gathered)
    assert (printed["ABCD"], printed["ACBD"]) == (630, 19)
    # Persons called A to D are options of questions 4 and 73.
    fixed = build("logiqa", mirror).items.filter("fixed_order")["source_row"]
    assert sorted(fixed) == [8 * 4, 8 * 73]
