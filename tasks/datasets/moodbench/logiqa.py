"""LogiQA: logical reasoning questions of the Chinese civil service examination, as machine-translated upstream."""

import re
from collections.abc import Sequence

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold
from tasks.datasets.pinned_files import pinned_in

LETTERS = ("A", "B", "C", "D")
BLOCK = 8
# A letter and what the release puts after it: a full stop, a blank, in four options a question mark.
PRINTED = re.compile(r"\s*([A-D])[.?\s]\s*")
# Persons of the text may be called A to D; an option that is just such a name must not stand beside another letter.
NAME = re.compile(r"[A-D]\.?")


def join_logiqa_lines(records: Sequence[Record]) -> list[Record]:
    """Join blocks of eight lines into questions: an empty line, the right letter, text, question, four options.

    Raises:
        ValueError: a block is not complete or does not begin with an empty line.
    """
    return [_join(records[start : start + BLOCK]) for start in range(0, len(records), BLOCK)]


def adapt_logiqa(record: Record) -> Item:
    """`label` is the letter printed before the right option; 19 questions print their options in the order A, C, B, D.

    Options are put in the order of their letters. Where the printed letters are not all four, the label is the option's place.
    """
    fields = record.fields
    options = _order_options(fields["options"])
    return Item(
        context=fields["text"].strip(),
        question=fields["question"].strip(),
        options=options,
        gold_indices=find_gold({letter.lower(): place for place, letter in enumerate(LETTERS)}, fields["label"].strip()),
        fixed_order=any(NAME.fullmatch(option) for option in options),
    )


def _join(block: Sequence[Record]) -> Record:
    first, lines = block[0], [record.fields["line"] for record in block]
    if len(lines) != BLOCK or lines[0].strip():
        raise ValueError(f"lines {first.row} and following (0-based) are no block of an empty line and seven others")
    fields = {"label": lines[1], "text": lines[2], "question": lines[3], "options": lines[4:]}
    return Record(fields=fields, file=first.file, row=first.row)


def _order_options(printed: Sequence[str]) -> tuple[str, ...]:
    """Options without their letters, in the order of these; with less than four letters they stay in their places."""
    marks = [PRINTED.match(option) for option in printed]
    letters = [mark.group(1) if mark else None for mark in marks]
    complete = sorted(letter or "" for letter in letters) == list(LETTERS)
    # Where letters lack, one that is not the place's own belongs to the sentence.
    bare = [
        option[mark.end() :].strip() if mark and (complete or letter == own) else option.strip()
        for option, mark, letter, own in zip(printed, marks, letters, LETTERS, strict=True)
    ]
    return tuple(bare[letters.index(letter)] for letter in LETTERS) if complete else tuple(bare)


_logiqa = pinned_in("github.com/lgw863/LogiQA-dataset", "ff6c4cbca47627b3ac2da94a29fa28204a167b41")

LOGIQA = DatasetSpec(
    id="logiqa",
    title="LogiQA",
    files=(_logiqa("Test.txt", "359acb78c37802208f7fde9e2f6574b8526527c63d6a336f90a53f1932cb4701"),),
    record_format="lines",
    join_records=join_logiqa_lines,
    adapter=adapt_logiqa,
    licence="CC BY-NC-SA 4.0",
    paper="Liu et al. 2020, arXiv:2007.08124",
    required=("line",),
    expected_rows=5208,
    redistributable=True,
    differences=(
        "The released code runs LogicNLI in place of LogiQA; we use the English test set of its authors (651 questions).",
        "The Chinese test set is left out: the paper gives English as the language.",
        "Options are put in the order of their printed letters, which the label means; 19 questions print them A, C, B, D.",
        "AGIEval republishes questions of this test set, so these count in both datasets.",
    ),
)
