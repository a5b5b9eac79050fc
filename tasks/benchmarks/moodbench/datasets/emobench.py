"""EmoBench: what a person in a story feels, why, and what to do or say."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in
from tasks.datasets.options import find_gold, shuffle_options

# The subject is named because several stories ask about more than one person; it may be "I" or 我, which these sentences allow.
QUESTIONS: Mapping[str, Mapping[Language, str]] = {
    "emotion": {
        "en": "At the end of this story, what would {subject} most likely feel?",
        "zh": "故事发展到最后，{subject}最有可能是什么感受？",
    },
    "cause": {
        "en": "At the end of this story, {subject} would most likely feel the following: {emotion}. Why?",
        "zh": "故事发展到最后，{subject}最有可能的感受是：{emotion}。原因是什么？",
    },
    "Action": {
        "en": "In this situation, what is the most effective thing {subject} could do?",
        "zh": "在这种情况下，{subject}最有效的做法是什么？",
    },
    "Response": {
        "en": "In this situation, what is the most effective thing {subject} could say?",
        "zh": "在这种情况下，{subject}最有效的回应是什么？",
    },
}


def adapt_emobench_understanding(asked: Literal["emotion", "cause"], record: Record) -> Item:
    """`<asked>_label` is the text of the right one of `<asked>_choices`: six emotions, or 4, 6 or 7 causes of the one given."""
    fields = record.fields
    item = _item(fields, asked, fields[f"{asked}_choices"], fields[f"{asked}_label"], fields["coarse_category"])
    return shuffle_options(item, record)


def adapt_emobench_application(record: Record) -> Item:
    """`label` is the text of the right one of `choices`; `question type` says whether they are actions or responses."""
    fields = record.fields
    kind = fields["question type"]
    return _item(fields, kind, fields["choices"], fields["label"], f"{fields['category']}: {kind}")


def _item(fields: Mapping[str, Any], asked: str, options: Sequence[str], label: str, subset: str) -> Item:
    question = QUESTIONS[asked][fields["language"]]
    return Item(
        language=fields["language"],
        context=fields["scenario"].strip(),
        question=question.format(subject=fields["subject"].strip(), emotion=fields.get("emotion_label", "").strip()),
        options=tuple(options),
        gold_indices=find_gold(options, label),
        subset=subset,
        cluster=text_id(fields["scenario"]),
    )


_LANGUAGE = "The released code asks Chinese items in English; we ask in the item's language."

_emobench = partial(moodbench_entry, languages=("en", "zh"), licence="MIT", paper="Sabour et al. 2024, arXiv:2402.12071")

EMOBENCH1 = _emobench(
    id="emobench1",
    evaluation_version="1.1",
    title="EmoBench, emotion recognition",
    files=(moodbench_file("emo_ability/emo_understanding/emobench_jsonl/EU.jsonl"),),
    adapter=partial(adapt_emobench_understanding, "emotion"),
    differences=(
        "Options are shown in an order drawn per item; as released, the right one of six comes first in 106 of 300 rows.",
        _LANGUAGE,
        "EmoBench counts an item as right if emotion and cause are; here, as in MoodBench, the emotion is scored alone.",
    ),
)

EMOBENCH2 = _emobench(
    id="emobench2",
    evaluation_version="1.1",
    title="EmoBench, causes of emotions",
    files=(moodbench_file("emo_ability/emo_understanding/emobench_jsonl/EU.jsonl"),),
    adapter=partial(adapt_emobench_understanding, "cause"),
    differences=(
        "The right emotion is given, as in the released code; EmoBench asks for emotion and cause together.",
        _LANGUAGE,
        "Options are shown in an order drawn per item; as released, the right one comes first in 136 of 300 rows.",
        "Only the options that exist are shown; the released prompt has empty ones up to H.",
        "Level low as in the paper; the released weights have it at medium.",
    ),
)

EMOBENCH3 = _emobench(
    id="emobench3",
    title="EmoBench, emotional application",
    files=(moodbench_file("emo_ability/emo_understanding/emobench_jsonl/EA.jsonl"),),
    adapter=adapt_emobench_application,
    differences=(
        "Items about responses ask for a response; the released code asks all of them for an action.",
        _LANGUAGE,
        "300 of the 400 items of EmoBench, as released with MoodBench.",
    ),
)

UPSTREAM = pinned_in("github.com/Sahandfer/EmoBench", "3b4f84312541f8469e909965e1fff3691ef85c62")("data/EU.jsonl")
"""The authors' own file of EmoBench's emotional understanding, 400 questions, which LongEmotion is built from."""
