"""The long items that ship with MoodFlow: one small dataset per dataset of LongEmotion."""

from schemas.context import ASPECTS, Construct
from schemas.dataset import BundledFile, DatasetSpec
from schemas.vocabulary import LongTask, QuestionType
from tasks.datasets.adapters.constructed import adapt_nothing
from tasks.datasets.longemotion.bundled import (
    EMOTION,
    SECTIONS,
    TONE,
    checkpoints_of,
    hidden_in_text,
    read_contrast_sets,
    read_questions,
    read_reports,
    read_situations,
)
from tasks.datasets.longemotion.emotion_conversation import STAGES

_SHORT = "Our own texts of a few hundred tokens in place of LongEmotion's of thousands; too few items to rank models."
_HIDDEN = "A text has one length, whatever lengths are asked for; depths are as asked for."


def _describe(
    task: LongTask, title: str, question_type: QuestionType, construct: Construct, required: tuple[str, ...]
) -> DatasetSpec:
    return DatasetSpec(
        id=f"long_mini_{task}",
        title=f"Bundled long items: {title}",
        files=(BundledFile(name=f"long_{'mc' if task in STAGES else task}.jsonl"),),
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=construct,
        long_task=task,
        question_types=(question_type,),
        languages=("en", "zh"),
        licence="Apache-2.0",
        paper="none: written for MoodFlow, see data/bundled/README.md",
        required=required,
        evaluation_version="1.0",
        redistributable=True,
        differences=(_SHORT, _HIDDEN) if question_type == "label_choice" else (_SHORT,),
    )


_HAYSTACK = ("haystack_id", "language", "haystack", "needles")
_ITEM = ("item_id", "language")

LONG_MINI: tuple[DatasetSpec, ...] = (
    _describe(
        "ec_emobench", "emotion classification, persons", "label_choice", hidden_in_text("ec_emobench", EMOTION), _HAYSTACK
    ),
    _describe(
        "ec_finentity", "emotion classification, companies", "label_choice", hidden_in_text("ec_finentity", TONE), _HAYSTACK
    ),
    _describe("ed", "emotion detection", "odd_one_out", read_contrast_sets, (*_ITEM, "segments", "labels")),
    _describe("qa", "emotion QA", "extractive", read_questions, ("document_id", "language", "document", "questions")),
    _describe("es", "emotion summary", "aspect_summary", read_reports, (*_ITEM, *SECTIONS["en"], *ASPECTS)),
    *(
        _describe(
            task, f"emotion conversation, stage {task[-1]}", "counselor_reply", checkpoints_of(task), ("id", "language", "stages")
        )
        for task in STAGES
    ),
    _describe("ee", "emotion expression", "emotion_expression", read_situations, (*_ITEM, "emotion", "situation")),
)
