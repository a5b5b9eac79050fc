"""MuTual-plus: the reply that logically continues a dialogue."""

import re

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold
from tasks.datasets.pinned_files import MOODBENCH, pinned_list

# Turns are run together; M and F say who speaks. A time of day such as 5:30 is no turn.
TURN = re.compile(r"\s+(?=[MF]:)")


def adapt_mutual(record: Record) -> Item:
    """`answers` is the letter of the right one of four replies; a reply that asks to repeat is right if no other fits."""
    fields = record.fields
    return Item(
        context=TURN.sub("\n", fields["article"].strip()),
        question="Which of these replies continues the dialogue logically? Speakers are marked M (man) and F (woman).",
        options=tuple(" ".join(option.split()) for option in fields["options"]),
        gold_indices=find_gold({"A": 0, "B": 1, "C": 2, "D": 3}, fields["answers"]),
    )


MUTUAL = DatasetSpec(
    id="mutual",
    title="MuTual-plus",
    files=pinned_list("mutual", MOODBENCH),
    record_format="jsonl",
    adapter=adapt_mutual,
    licence="none stated upstream",
    paper="Cui et al. 2020, MuTual: A Dataset for Multi-Turn Dialogue Reasoning, arXiv:2004.04494",
    required=("article", "options", "answers"),
    expected_rows=300,
    differences=(
        "The paper names MuTual, its release holds MuTual-plus, where one reply is replaced by one that asks to repeat.",
        "The release has 300 of the 886 dialogues of the MuTual-plus development set; we use these.",
        "MuTual is upstream scored by Recall@1, Recall@2 and MRR; here, as in the paper, by accuracy, which is Recall@1.",
    ),
)
