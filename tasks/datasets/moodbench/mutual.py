"""MuTual-plus: the reply that logically continues a dialogue."""

import re
from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold

# Turns are run together; M and F say who speaks. A time of day such as 5:30 is no turn.
TURN = re.compile(r"\s+(?=[MF]:)")


def adapt_mutual(record: Record) -> Iterable[Item]:
    """`answers` is the letter of the right one of four replies; a reply that asks to repeat is right if no other fits."""
    fields = record.fields
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=TURN.sub("\n", fields["article"].strip()),
            question="Which of these replies continues the dialogue logically? Speakers are marked M (man) and F (woman).",
            options=tuple(" ".join(option.split()) for option in fields["options"]),
            gold_indices=find_gold({"A": 0, "B": 1, "C": 2, "D": 3}, fields["answers"]),
        )
    ]
