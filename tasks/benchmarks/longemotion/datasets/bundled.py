"""The long items that ship with MoodFlow: texts of our own, in English and Chinese, one small file per task of LongEmotion.

Texts are short, so that a small model on a processor reads them within seconds. Of the options of contexts only `depths` changes
them. Formats: data/bundled/README.md.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.dataset import BundledFile, DatasetSpec
from schemas.errors import UsageError
from schemas.item import Item, Record, text_id
from schemas.question_types import QuestionType
from schemas.vocabulary import ContextTask, Language
from tasks.benchmarks.longemotion.datasets.emotion_conversation import STAGES, checkpoints_of
from tasks.benchmarks.longemotion.datasets.emotion_detection import build_contrast
from tasks.benchmarks.longemotion.datasets.emotion_expression import ask_to_live_through
from tasks.benchmarks.longemotion.datasets.release import one_per_record, read_language
from tasks.benchmarks.longemotion.datasets.whole_documents import ask_about, read_report
from tasks.benchmarks.longemotion.needle.needles import ALL, checked, placed_needle
from tasks.benchmarks.moodbench.bundled import BUNDLED
from tasks.text.tokens import token_offsets

ADJECTIVES: Mapping[Language, tuple[str, ...]] = {
    "en": (
        *("Interested", "Distressed", "Excited", "Upset", "Strong", "Guilty", "Scared", "Hostile", "Enthusiastic", "Proud"),
        *("Irritable", "Alert", "Ashamed", "Inspired", "Nervous", "Determined", "Attentive", "Jittery", "Active", "Afraid"),
    ),
    "zh": (
        *("感兴趣的", "苦恼的", "兴奋的", "心烦的", "有力量的", "内疚的", "惊恐的", "有敌意的", "热情的", "自豪的"),
        *("易怒的", "警觉的", "羞愧的", "受鼓舞的", "紧张的", "坚决的", "专注的", "坐立不安的", "有活力的", "害怕的"),
    ),
}
"""The adjectives of PANAS in their order (Watson, Clark and Tellegen 1988, doi:10.1037/0022-3514.54.6.1063); Chinese: ours."""

ODD_ONE: Mapping[Language, str] = {
    "en": "All of these texts but one tell of the same emotion. Which one tells of another?",
    "zh": "这些文字里，只有一段表达的情绪和其他各段不同。是哪一段？",
}

SUMMARY: Mapping[Language, str] = {
    "en": "Summarise this counselling report by its five aspects: causes, symptoms, treatment process, characteristics of the "
    "illness and treatment effect.",
    "zh": "请从五个方面概括这份咨询报告：成因、症状、咨询过程、问题的特点、咨询效果。",
}

SITUATION: Mapping[Language, str] = {
    "en": "Imagine that this happens to you. What do you feel, and what becomes of it?",
    "zh": "想象这件事发生在你身上。你有什么感受，后来又会怎样？",
}

EMOTION: Mapping[Language, str] = {"en": "What does {subject} end up feeling?", "zh": "{subject}最后是什么心情？"}

TONE: Mapping[Language, str] = {
    "en": "What is the tone of the text towards {subject}?",
    "zh": "文中谈到{subject}时是什么语气？",
}

GAP: Mapping[Language, str] = {"en": " ", "zh": ""}

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?![”\s])")


def hidden_in_text(task: ContextTask, question: Mapping[Language, str]) -> SampleBuilder:
    """Return the sample builder of Emotion Classification: one text per record, with each of its `needles` hidden in turn.

    Options with `depths` give each needle once per depth, in place of its own. A question has a place for the subject.
    """

    def build_samples(records: Sequence[Record], options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        if options.lengths:
            raise UsageError(
                "contexts.lengths cannot be used with the bundled texts",
                where="contexts.lengths",
                expected="no lengths",
                got=", ".join(map(str, options.lengths)),
                next_step="remove contexts.lengths, or use the benchmark longemotion",
            )
        depths, build = checked("depths", options.depths), partial(_build_hidden, task, question)
        return [
            LazySample(
                fields["item_id"] + (f"-depth{depth:g}" if depths else ""),
                record,
                partial(build, record, fields, depth),
                text_id(fields["needle"].strip()),
                fields["item_id"],
            )
            for record in records
            for fields in record.fields["needles"]
            for depth in depths or (fields["depth_percent"],)
        ]

    return build_samples


def _build_hidden(
    task: ContextTask, question: Mapping[Language, str], record: Record, fields: Mapping[str, Any], depth: float
) -> tuple[Item, Context]:
    language, haystack = read_language(record), record.fields["haystack"].strip()
    needle, subject, choices = fields["needle"].strip(), fields["subject"].strip(), tuple(fields["choices"])
    start = find_place(haystack, depth)
    text = f"{haystack[:start]}{needle}{GAP[language]}{haystack[start:]}"
    item = Item(
        language=language,
        question_type="label_choice",
        context=text,
        question=question[language].format(subject=subject),
        options=choices,
        gold_indices=(choices.index(fields["label"]),),
    )
    context = placed_needle(task, text, start, needle, fields["item_id"]).model_copy(
        update={
            "query": subject,
            "target_depth_percent": depth,
            "haystack": f"{record.file}, {record.fields['haystack_id']}, characters 0-{len(haystack)}",
            "needle_style": "matched",
        }
    )
    return item, context


def find_place(haystack: str, depth_percent: float) -> int:
    """Return the start of the sentence that has nearest to so many percent of a text's tokens before it; of two, the first."""
    tokens = [start for start, _ in token_offsets(haystack)]
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(haystack) if match.end() < len(haystack))]
    return min(starts, key=lambda start: abs(bisect_left(tokens, start) - depth_percent / ALL * len(tokens)))


def _build_contrast(record: Record) -> tuple[Item, Context]:
    language, segments, labels = read_language(record), record.fields["segments"], record.fields["labels"]
    (odd,) = (index for index, label in enumerate(labels) if labels.count(label) == 1)
    return build_contrast(segments, labels, odd, ODD_ONE[language], language)


def read_questions(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
    """List the samples of Emotion QA: each of the `questions` of each `document`."""
    return [
        LazySample(
            fields["item_id"], record, partial(_build_question, record, fields), text_id(record.fields["document"].strip())
        )
        for record in records
        for fields in record.fields["questions"]
    ]


def _build_question(record: Record, fields: Mapping[str, Any]) -> tuple[Item, Context]:
    texts = (record.fields["document"].strip(), fields["question"].strip(), *fields["references"])
    return ask_about(*texts, language=read_language(record))


def _build_situation(record: Record) -> tuple[Item, Context]:
    language = read_language(record)
    return ask_to_live_through(record, "situation", SITUATION[language], ADJECTIVES[language], language)


def _own_name(record: Record) -> str:
    return str(record.fields["item_id"])


_SHORT = "Our own texts of a few hundred tokens in place of LongEmotion's of thousands; too few items to rank models."

_HIDDEN = "A text has one length, whatever lengths are asked for; depths are as asked for."


def _describe(task: ContextTask, title: str, question_type: QuestionType, sample_builder: SampleBuilder) -> DatasetSpec:
    return replace(
        BUNDLED[0],
        id=f"long_mini_{task}",
        # Of those whose items share a text, or have a gold reply now.
        evaluation_version="1.1" if task in (*STAGES, "qa") else "1.0",
        title=f"Bundled long items: {title}",
        files=(BundledFile(name=f"long_{'mc' if task in STAGES else task}.jsonl"),),
        adapter=None,
        sample_builder=sample_builder,
        task=task,
        question_types=(question_type,),
        required=(),
        differences=(_SHORT, _HIDDEN) if question_type == "label_choice" else (_SHORT,),
    )


LONG_MINI: tuple[DatasetSpec, ...] = (
    _describe("ec_emobench", "emotion classification, persons", "label_choice", hidden_in_text("ec_emobench", EMOTION)),
    _describe("ec_finentity", "emotion classification, companies", "label_choice", hidden_in_text("ec_finentity", TONE)),
    _describe("ed", "emotion detection", "odd_one_out", one_per_record(_own_name, _build_contrast)),
    _describe("qa", "emotion QA", "extractive", read_questions),
    _describe("es", "emotion summary", "aspect_summary", one_per_record(_own_name, partial(read_report, question=SUMMARY))),
    *(
        _describe(task, f"emotion conversation, stage {task[-1]}", "counselor_reply", checkpoints_of(task, "long_mini_"))
        for task in STAGES
    ),
    _describe("ee", "emotion expression", "emotion_expression", one_per_record(_own_name, _build_situation)),
)
