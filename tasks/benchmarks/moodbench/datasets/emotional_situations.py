"""What a person in a situation feels, why, and what to do or say: EmoBench, and MoodBench1 to MoodBench4.

MoodBench's authors built the latter: per row a situation, a question and lettered options, in Chinese.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in
from tasks.datasets.options import choice, find_gold, shuffle_options

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


def adapt_emobench_understanding(aspect: Literal["emotion", "cause"], record: Record) -> Item:
    """`<asked>_label` is the text of the right one of `<asked>_choices`: six emotions, or 4, 6 or 7 causes of the one given."""
    fields = record.fields
    item = _emobench_item(fields, aspect, fields[f"{aspect}_choices"], fields[f"{aspect}_label"], fields["coarse_category"])
    return shuffle_options(item, record)


def adapt_emobench_application(record: Record) -> Item:
    """`label` is the text of the right one of `choices`; `question type` says whether they are actions or responses."""
    fields = record.fields
    kind = fields["question type"]
    return _emobench_item(fields, kind, fields["choices"], fields["label"], f"{fields['category']}: {kind}")


def _emobench_item(fields: Mapping[str, Any], aspect: str, options: Sequence[str], label: str, subset: str) -> Item:
    question = QUESTIONS[aspect][fields["language"]]
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
    draws_options=True,
    differences=(
        "Options are shown in an order drawn per item; as released, the right one of six comes first in 106 of 300 rows.",
        _LANGUAGE,
        "EmoBench counts an item as right if emotion and cause are; here, as in MoodBench, the emotion is scored alone.",
    ),
)

EMOBENCH2 = replace(
    EMOBENCH1,
    id="emobench2",
    title="EmoBench, causes of emotions",
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


# Files have no header. These are the columns of those whose names end in _un and _ma, in _re and in _er.
FOUR_OPTION_COLUMNS = ("id", "text", "option_a", "option_b", "option_c", "option_d", "gold", "category", "subcategory")
SIX_OPTION_COLUMNS = (*FOUR_OPTION_COLUMNS[:6], "option_e", "option_f", "gold", "category", "subcategory")
REPLY_COLUMNS = (*FOUR_OPTION_COLUMNS[:7], "code")
# A situation may mention a 问题 of its own: the last line that starts with the word divides.
SITUATION_AND_QUESTION = re.compile(r"(?s)(.+)\n\s*问题[:：]\s*(.+)")


def _divide(record: Record) -> dict[str, str | list[str]]:
    """Divide situation and question, else raise ValueError; replies have no category, and a `code` of unknown meaning."""
    fields = record.fields
    _, situation, question, _ = SITUATION_AND_QUESTION.split(fields["text"].strip())
    name = PurePosixPath(record.file).stem.removesuffix("_er").replace("_", " ")
    subset = f"{fields['category']}: {fields['subcategory']}" if "category" in fields else name
    options = [text for name, text in fields.items() if name.startswith("option_")]
    return {"situation": situation, "question": question, "options": options, "subset": subset}


_SUBTASKS = "emo_ability/PQEmotion/emotional_subtask"
_ASPECTS = ("Context_of_Emotion", "Dynamic_Changes_in_Emotion", "Modes_of_Emotional_Expression", "Sources_of_Emotion")


def _moodbench_set(
    number: int, kind: str, files: Sequence[str], columns: tuple[str, ...], *differences: str, shuffled: bool = False
) -> DatasetSpec:
    """Describe a set; of its rows the released code asks 300, all but the first of each file."""
    rows = 300 + len(files)
    letters = "ABCDEF"[: columns.index("gold") - columns.index("option_a")]
    options = {letter: f"{{options[{index}]}}" for index, letter in enumerate(letters)}
    ask = choice("{question}", options, gold="gold", read=_divide, context="{situation}", language="zh", subset="{subset}")
    lost = (
        f"The files have no header; the released code takes the first row of each for one and loses it (300 of {rows} are left)."
    )
    return DatasetSpec(
        id=f"moodbench{number}",
        title=f"MoodBench{number}, {kind}",
        files=tuple(moodbench_file(f"{_SUBTASKS}/{name}.csv") for name in files),
        columns=columns,
        adapter=(lambda record: shuffle_options(ask(record), record)) if shuffled else ask,
        draws_options=shuffled,
        languages=("zh",),
        licence="CC BY-NC-SA 4.0",
        paper="MoodBench 1.0: An Evaluation Benchmark for Emotional Companionship Dialogue Systems, section 4",
        expected_rows=rows,
        differences=(lost, *differences),
    )


MOODBENCH1 = _moodbench_set(
    1,
    "emotion recognition",
    [f"{aspect}_re" for aspect in _ASPECTS],
    SIX_OPTION_COLUMNS,
    "Task as in the paper, coarse-grained recognition; the released weights have it at fine-grained recognition.",
)
MOODBENCH2 = _moodbench_set(
    2,
    "causes of emotions",
    [f"{aspect}_un" for aspect in _ASPECTS],
    FOUR_OPTION_COLUMNS,
    "Options are shown in an order drawn per item; as released, the right one is A in 214 of 304 rows (70.4 %).",
    "Level low as in the paper; the released weights have it at medium.",
    "38 situations also occur in MoodBench1; the question here names the emotion that is asked for there.",
    shuffled=True,
)
MOODBENCH3 = _moodbench_set(
    3,
    "strategy selection",
    ["person_scenarios_ma", "social_scenarios_ma"],
    FOUR_OPTION_COLUMNS,
    "Level high as in the paper; the released weights have it at medium.",
)
MOODBENCH4 = _moodbench_set(
    4,
    "empathetic replies",
    ["Emotional_counseling_er", "Psychological_guidance_er"],
    REPLY_COLUMNS,
    "The released code runs these files twice under two names; they count once here, as in the paper.",
)
