"""FOLIO: whether a conclusion follows from premises in first-order logic."""

from collections.abc import Iterable

from schemas.item import Item, Record

VERDICTS = {
    "True": "True: the premises imply the conclusion",
    "False": "False: the premises imply that the conclusion does not hold",
    "Uncertain": "Uncertain: the premises imply neither",
}
QUESTION = (
    "Going by the premises alone, how does this conclusion stand? Order the three verdicts, the one that most likely is right "
    "first.\nConclusion: {conclusion}"
)


def adapt_folio(record: Record) -> Iterable[Item]:
    """`label` is the right verdict, the one relevant option of a ranking. Formulas of the release are gold and left out."""
    fields = record.fields
    label = fields["label"]
    return [
        Item(
            language="en",
            question_type="ranking",
            context="Premises:\n" + "\n".join(f"- {premise.strip()}" for premise in fields["premises"]),
            question=QUESTION.format(conclusion=fields["conclusion"].strip()),
            options=tuple(VERDICTS.values()),
            gold_indices=(list(VERDICTS).index(label),) if label in VERDICTS else None,
        )
    ]
