"""EmoBench, emotional understanding: what a person in a story feels."""

from collections.abc import Iterable

from schemas.item import Item, Record
from schemas.vocabulary import Language

# The subject is named because several stories ask about more than one person; it may be "I" or 我, which these sentences allow.
QUESTIONS: dict[Language, str] = {
    "en": "At the end of this story, what would {subject} most likely feel?",
    "zh": "故事发展到最后，{subject}最有可能是什么感受？",
}


def adapt_emobench_emotion(record: Record) -> Iterable[Item]:
    """`emotion_label` is the text of the right one of `emotion_choices`. `subset`: coarse category of the release."""
    fields = record.fields
    choices, label = fields["emotion_choices"], fields["emotion_label"]
    return [
        Item(
            language=fields["language"],
            question_type="single_choice",
            context=fields["scenario"].strip(),
            question=QUESTIONS[fields["language"]].format(subject=fields["subject"].strip()),
            options=tuple(choices),
            gold_indices=(choices.index(label),) if label in choices else None,
            subset=fields["coarse_category"],
        )
    ]
