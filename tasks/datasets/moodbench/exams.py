"""Exam questions with lettered options in columns: MMLU-Pro, CMMLU, C-Eval."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold
from tasks.datasets.adapters.placement import order_matters

LETTERS = "ABCD"


def adapt_mmlu_pro(record: Record) -> Iterable[Item]:
    """`options` holds up to ten, `answer_index` is the 0-based place of the right one and `answer` its letter.

    Gold is null where the two disagree. `subset` is the category.
    """
    fields = record.fields
    options = tuple(option.strip() for option in fields["options"])
    place = fields["answer_index"]
    agree = 0 <= place < len(options) and "ABCDEFGHIJ"[place] == fields["answer"]
    return [
        Item(
            language="en",
            question_type="single_choice",
            question=fields["question"].strip(),
            options=options,
            gold_indices=(place,) if agree else None,
            fixed_order=order_matters(options),
            subset=fields["category"],
        )
    ]


def adapt_cmmlu(record: Record) -> Iterable[Item]:
    """Columns `A` to `D` hold the options, `Answer` the letter of the right one. `subset` is the subject, the file's name."""
    fields = record.fields
    return [_chinese_item(record, fields["Question"], fields["Answer"], PurePosixPath(record.file).stem)]


def adapt_ceval(record: Record) -> Iterable[Item]:
    """Columns `A` to `D` hold the options, `answer` the letter of the right one. `subset` is the subject, the file's folder."""
    fields = record.fields
    return [_chinese_item(record, fields["question"], fields["answer"], PurePosixPath(record.file).parent.name)]


def _chinese_item(record: Record, question: str, letter: str, subject: str) -> Item:
    options = tuple(record.fields[name].strip() for name in LETTERS)
    return Item(
        language="zh",
        question_type="single_choice",
        question=question.strip(),
        options=options,
        gold_indices=find_gold({name: place for place, name in enumerate(LETTERS)}, letter),
        fixed_order=order_matters(options),
        subset=subject,
    )
