"""The sets that the authors of MoodBench built themselves: per row a situation, a question and lettered options, in Chinese."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold
from tasks.datasets.options import shuffle_options

# Files have no header. These are the columns of those whose names end in _un and _ma, in _re and in _er.
FOUR_OPTION_COLUMNS = ("id", "text", "option_a", "option_b", "option_c", "option_d", "gold", "category", "subcategory")
SIX_OPTION_COLUMNS = (*FOUR_OPTION_COLUMNS[:6], "option_e", "option_f", "gold", "category", "subcategory")
REPLY_COLUMNS = (*FOUR_OPTION_COLUMNS[:7], "code")
# A situation may mention a 问题 of its own: the last line that starts with the word divides.
SITUATION_AND_QUESTION = re.compile(r"(?s)(.+)\n\s*问题[:：]\s*(.+)")


def adapt_moodbench_four(record: Record) -> Iterable[Item]:
    """Situation and question share the cell `text`, divided by 问题:; `gold` is the letter of the right option."""
    return [_adapt(record, "abcd", _category(record))]


def adapt_moodbench_six(record: Record) -> Iterable[Item]:
    """As `adapt_moodbench_four`, with six options."""
    return [_adapt(record, "abcdef", _category(record))]


def adapt_moodbench_causes(record: Record) -> Iterable[Item]:
    """As `adapt_moodbench_four`, in an order drawn per item: the release has the right option at A in seven rows of ten."""
    item = _adapt(record, "abcd", _category(record))
    drawn = shuffle_options(record, item.options or (), item.gold_indices or ())
    return [item.model_copy(update={"options": drawn.options, "gold_indices": drawn.gold_indices or None})]


def adapt_moodbench_replies(record: Record) -> Iterable[Item]:
    """As `adapt_moodbench_four`, of a file without categories. `subset`: the file; the meaning of `code` is not documented."""
    name = PurePosixPath(record.file).stem.removesuffix("_er").replace("_", " ")
    return [_adapt(record, "abcd", name)]


def _category(record: Record) -> str:
    return f"{record.fields['category']}: {record.fields['subcategory']}"


def _adapt(record: Record, letters: str, subset: str) -> Item:
    fields = record.fields
    divided = SITUATION_AND_QUESTION.fullmatch(fields["text"].strip())
    if divided is None:
        raise ValueError("no line of the text starts with 问题:")
    return Item(
        language="zh",
        question_type="single_choice",
        context=divided[1].strip(),
        question=divided[2],
        options=tuple(fields[f"option_{letter}"] for letter in letters),
        gold_indices=find_gold({letter.upper(): place for place, letter in enumerate(letters)}, fields["gold"]),
        subset=subset,
    )
