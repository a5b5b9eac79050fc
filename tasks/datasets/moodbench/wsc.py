"""WSC: whether a pronoun stands for a noun phrase of the same text."""

from collections.abc import Iterable, Sequence

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

QUESTION = 'Does the pronoun marked as **{pronoun}** refer to "{candidate}"?'


def adapt_wsc(record: Record) -> Iterable[Item]:
    """`label` 1 = it does. The pronoun is marked in the text, since the same one may occur more than once.

    Raises:
        ValueError: the pronoun stands neither where `span2_index` says nor one word further on, as in one record it does.
    """
    fields = record.fields
    words, pronoun = fields["text"].split(), fields["span2_text"].split()
    start = _find(words, pronoun, fields["span2_index"])
    end = start + len(pronoun)
    context = " ".join([*words[:start], f"**{' '.join(pronoun)}**", *words[end:]])
    question = QUESTION.format(pronoun=" ".join(pronoun), candidate=fields["span1_text"])
    return [label_item("en", context, question, ("yes", "no"), find_gold({1: 0, 0: 1}, fields["label"]))]


def _find(words: Sequence[str], pronoun: Sequence[str], index: int) -> int:
    for start in (index, index + 1):
        if words[start : start + len(pronoun)] == pronoun:
            return start
    raise ValueError(f"{' '.join(pronoun)} is neither word {index} (0-based) of the text nor the next one")
