"""The sets that the authors of MoodBench built themselves: per row a situation, a question and lettered options, in Chinese."""

import re
from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold

# Files have no header. These are the columns of those whose names end in _un and _ma.
FOUR_OPTION_COLUMNS = ("id", "text", "option_a", "option_b", "option_c", "option_d", "gold", "category", "subcategory")
# A situation may mention a 问题 of its own: the last line that starts with the word divides.
SITUATION_AND_QUESTION = re.compile(r"(?s)(.+)\n\s*问题[:：]\s*(.+)")


def adapt_moodbench_four(record: Record) -> Iterable[Item]:
    """Situation and question share the cell `text`, divided by 问题:; `gold` is the letter of the right option."""
    fields = record.fields
    divided = SITUATION_AND_QUESTION.fullmatch(fields["text"].strip())
    if divided is None:
        raise ValueError("no line of the text starts with 问题:")
    options = tuple(fields[f"option_{letter}"] for letter in "abcd")
    return [
        Item(
            language="zh",
            question_type="single_choice",
            context=divided[1].strip(),
            question=divided[2],
            options=options,
            gold_indices=find_gold({"A": 0, "B": 1, "C": 2, "D": 3}, fields["gold"]),
            subset=f"{fields['category']}: {fields['subcategory']}",
        )
    ]
