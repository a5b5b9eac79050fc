"""What adapters of label tasks share: the item is a text and a closed set of labels in fixed order."""

from collections.abc import Mapping
from typing import Any

from schemas.item import Item
from schemas.vocabulary import Language


def find_gold(indices: Mapping[Any, int], label: Any) -> tuple[int, ...] | None:
    """Index of the option that a released label stands for; null for a label that stands for none, such as -1 or "-"."""
    index = indices.get(label)
    return None if index is None else (index,)


def label_item(language: Language, context: str, question: str, options: tuple[str, ...], gold: tuple[int, ...] | None) -> Item:
    """A single-choice item about `context`."""
    return Item(
        language=language,
        question_type="single_choice",
        context=context,
        question=question,
        options=options,
        gold_indices=gold,
    )
