"""EmoBench: what a person in a story feels, why, and what to do or say."""

from collections.abc import Iterable, Mapping

from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.datasets.options import shuffle_options

# The subject is named because several stories ask about more than one person; it may be "I" or 我, which these sentences allow.
QUESTIONS: dict[Language, str] = {
    "en": "At the end of this story, what would {subject} most likely feel?",
    "zh": "故事发展到最后，{subject}最有可能是什么感受？",
}
CAUSE_QUESTIONS: dict[Language, str] = {
    "en": "At the end of this story, {subject} would most likely feel the following: {emotion}. Why?",
    "zh": "故事发展到最后，{subject}最有可能的感受是：{emotion}。原因是什么？",
}
APPLICATION_QUESTIONS: Mapping[str, Mapping[Language, str]] = {
    "Action": {
        "en": "In this situation, what is the most effective thing {subject} could do?",
        "zh": "在这种情况下，{subject}最有效的做法是什么？",
    },
    "Response": {
        "en": "In this situation, what is the most effective thing {subject} could say?",
        "zh": "在这种情况下，{subject}最有效的回应是什么？",
    },
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


def adapt_emobench_cause(record: Record) -> Iterable[Item]:
    """`cause_label` is the text of the right one of `cause_choices` (4, 6 or 7); the emotion is given.

    The order of options is drawn per item: the release has the right one first in 136 of 300 rows.
    """
    fields = record.fields
    choices, label = fields["cause_choices"], fields["cause_label"]
    drawn = shuffle_options(record, choices, [choices.index(label)] if label in choices else [])
    question = CAUSE_QUESTIONS[fields["language"]]
    return [
        Item(
            language=fields["language"],
            question_type="single_choice",
            context=fields["scenario"].strip(),
            question=question.format(subject=fields["subject"].strip(), emotion=fields["emotion_label"].strip()),
            options=drawn.options,
            gold_indices=drawn.gold_indices or None,
            subset=fields["coarse_category"],
        )
    ]


def adapt_emobench_application(record: Record) -> Iterable[Item]:
    """`label` is the text of the right one of `choices`; `question type` says whether they are actions or responses."""
    fields = record.fields
    choices, label = fields["choices"], fields["label"]
    question = APPLICATION_QUESTIONS[fields["question type"]][fields["language"]]
    return [
        Item(
            language=fields["language"],
            question_type="single_choice",
            context=fields["scenario"].strip(),
            question=question.format(subject=fields["subject"].strip()),
            options=tuple(choices),
            gold_indices=(choices.index(label),) if label in choices else None,
            subset=f"{fields['category']}: {fields['question type']}",
        )
    ]
