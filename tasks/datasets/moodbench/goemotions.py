"""GoEmotions: which of 28 emotions a Reddit comment expresses."""

from collections.abc import Iterable

from schemas.item import Item, Record

# The released taxonomy in its own order: labels in the data are positions in this list.
EMOTIONS = (
    "admiration",
    "amusement",
    "anger",
    "annoyance",
    "approval",
    "caring",
    "confusion",
    "curiosity",
    "desire",
    "disappointment",
    "disapproval",
    "disgust",
    "embarrassment",
    "excitement",
    "fear",
    "gratitude",
    "grief",
    "joy",
    "love",
    "nervousness",
    "optimism",
    "pride",
    "realization",
    "relief",
    "remorse",
    "sadness",
    "surprise",
    "neutral",
)
INDICES = {str(index): index for index in range(len(EMOTIONS))}


def adapt_goemotions(record: Record) -> Iterable[Item]:
    """`labels` is a comma-separated list of positions in the taxonomy; a list that names any other yields no gold."""
    labels = record.fields["labels"].split(",")
    known = all(label in INDICES for label in labels)
    return [
        Item(
            language="en",
            question_type="multiple_answer",
            context=record.fields["text"].strip(),
            question="Which emotions does the writer of this comment express? Name all that apply, or neutral if there is none.",
            options=EMOTIONS,
            gold_indices=tuple(sorted(INDICES[label] for label in labels)) if known else None,
        )
    ]
