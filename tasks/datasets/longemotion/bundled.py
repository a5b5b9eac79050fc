"""The long items that ship with MoodFlow: texts of our own, in English and Chinese, one small file per task of LongEmotion.

Formats: data/bundled/README.md. Texts are short, so that a small model on a processor reads them within seconds; otherwise the
items are like those of LongEmotion, section 3. Of the options of contexts only `depths` changes them: every text has one length.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from schemas.context import ASPECTS, Construct, Context, ContextOptions, LazySample
from schemas.errors import UsageError
from schemas.item import Item, Record
from schemas.vocabulary import Language, LongTask
from tasks.datasets.longemotion.checkpoints import POINTS, STAGES, build_checkpoint
from tasks.datasets.needle.lazy_samples import one_per_record, read_text
from tasks.datasets.needle.needles import ALL
from tasks.text.tokens import count_tokens, token_offsets

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

EMOTION: Mapping[Language, str] = {
    "en": "What does {subject} end up feeling?",
    "zh": "{subject}最后是什么心情？",
}
TONE: Mapping[Language, str] = {
    "en": "What is the tone of the text towards {subject}?",
    "zh": "文中谈到{subject}时是什么语气？",
}
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
SECTIONS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "case_description": "Case description",
        "consultation_process": "Consultation process",
        "experience_and_reflection": "Experience and reflection",
    },
    "zh": {
        "case_description": "个案描述",
        "consultation_process": "咨询过程",
        "experience_and_reflection": "经验与反思",
    },
}
"""Fields of a report that are shown, in order, with their headings."""

GAP: Mapping[Language, str] = {"en": " ", "zh": ""}
"""What stands between sentences."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?![”\s])")


def hidden_in_text(task: LongTask, question: Mapping[Language, str]) -> Construct:
    """The construct of Emotion Classification: a text per record, in which each of its `needles` is hidden on its own.

    Records: `haystack_id`, `language`, `haystack` and `needles`, each with `item_id`, `needle`, `subject`, `choices`, `label`
    and `depth_percent`. Options with `depths` give each needle once per depth, in place of its own.

    Args:
        task: `ec_emobench` or `ec_finentity`.
        question: by language, with a place for the subject.
    """

    def construct(records: Sequence[Record], options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        if options.lengths:
            raise UsageError(
                "The lengths of the bundled texts cannot be chosen.",
                where="contexts.lengths",
                expected="no lengths",
                got=", ".join(map(str, options.lengths)),
                next_step="leave contexts.lengths out, or take the benchmark longemotion",
            )
        return [
            LazySample(name, record, partial(_build_hidden, task, question, record, fields, depth), fields["item_id"])
            for record in records
            for fields in record.fields["needles"]
            for name, depth in _placements(fields, options.depths)
        ]

    return construct


def _placements(fields: Mapping[str, Any], depths: tuple[float, ...]) -> Iterator[tuple[str, float]]:
    """Item id and depth in percent.

    Raises:
        UsageError: a depth is given twice.
    """
    if len({f"{depth:g}" for depth in depths}) < len(depths):
        raise UsageError(
            "The depths of contexts cannot be used.",
            where="contexts.depths",
            expected="different numbers",
            got=", ".join(map(str, depths)),
            next_step="name each depth once",
        )
    if not depths:
        yield fields["item_id"], fields["depth_percent"]
    for depth in depths:
        yield f"{fields['item_id']}-depth{depth:g}", depth


def _build_hidden(
    task: LongTask, question: Mapping[Language, str], record: Record, fields: Mapping[str, Any], depth: float
) -> tuple[Item, Context]:
    language, haystack = _language(record), read_text(record.fields, "haystack")
    needle, subject, choices = read_text(fields, "needle"), read_text(fields, "subject"), tuple(fields["choices"])
    if subject not in needle or subject.casefold() in haystack.casefold():
        raise ValueError(f"{subject} should be named in the needle and nowhere else")
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
    tokens, end = [at for at, _ in token_offsets(text)], start + len(needle)
    first, last = bisect_left(tokens, start), bisect_left(tokens, end)
    return item, Context(
        long_task=task,
        query=subject,
        tokens=len(tokens),
        needle=needle,
        needle_id=fields["item_id"],
        needle_start=start,
        needle_end=end,
        needle_token_start=first,
        needle_token_end=last,
        target_depth_percent=depth,
        depth_percent=ALL * first / (len(tokens) - (last - first)),
        haystack=f"{record.file}, {read_text(record.fields, 'haystack_id')}, characters 0-{len(haystack)}",
        needle_style="matched",
    )


def find_place(haystack: str, depth_percent: float) -> int:
    """The start of the sentence that has nearest to so many percent of a text's tokens before it; of two, the first."""
    tokens = [start for start, _ in token_offsets(haystack)]
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(haystack) if found.end() < len(haystack))]
    return min(starts, key=lambda start: abs(bisect_left(tokens, start) - depth_percent / ALL * len(tokens)))


def _build_contrast(record: Record) -> tuple[Item, Context]:
    language, segments, labels = _language(record), tuple(record.fields["segments"]), list(record.fields["labels"])
    (majority, _), *others = Counter(labels).most_common()
    if len(segments) != len(labels) or [times for _, times in others] != [1]:
        raise ValueError(f"one of {len(segments)} segments should have another label than all the rest, got {labels}")
    odd = labels.index(others[0][0])
    item = Item(
        language=language,
        question_type="odd_one_out",
        question=ODD_ONE[language],
        options=segments,
        gold_indices=(odd,),
        subset=f"{labels[odd]} among {majority}",
        fixed_order=True,
    )
    return item, Context(long_task="ed", tokens=sum(map(count_tokens, segments)), needle=segments[odd])


def read_questions(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
    """Construct of Emotion QA: each of the `questions` of each `document`."""
    return [
        LazySample(fields["item_id"], record, partial(_build_question, record, fields))
        for record in records
        for fields in record.fields["questions"]
    ]


def _build_question(record: Record, fields: Mapping[str, Any]) -> tuple[Item, Context]:
    document = read_text(record.fields, "document")
    item = Item(
        language=_language(record),
        question_type="extractive",
        context=document,
        question=read_text(fields, "question"),
        references=tuple(fields["references"]),
    )
    return item, Context(long_task="qa", tokens=count_tokens(document))


def _build_report(record: Record) -> tuple[Item, Context]:
    language = _language(record)
    headed = [f"{heading}:\n{read_text(record.fields, name)}" for name, heading in SECTIONS[language].items()]
    text = "\n\n".join(headed)
    item = Item(
        language=language,
        question_type="aspect_summary",
        context=text,
        question=SUMMARY[language],
        references=tuple(read_text(record.fields, aspect) for aspect in ASPECTS),
    )
    return item, Context(long_task="es", tokens=count_tokens(text))


def checkpoints_of(task: LongTask) -> Construct:
    """The construct of one stage of Emotion Conversation: three items per dialogue, in the dialogue's own `language`.

    Args:
        task: `mc1` to `mc4`.
    """
    stage = STAGES.index(task)

    def construct(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        return [
            LazySample(f"long_mini_{task}-{record.fields['id']}-{point}", record, partial(_build_reply, record, stage, point))
            for record in records
            for point in range(1, POINTS + 1)
        ]

    return construct


def _build_reply(record: Record, stage: int, point: int) -> tuple[Item, Context]:
    item, context = build_checkpoint(record, stage, point)
    return item.model_copy(update={"language": _language(record)}), context


def _build_situation(record: Record) -> tuple[Item, Context]:
    language, situation = _language(record), read_text(record.fields, "situation")
    item = Item(
        language=language,
        question_type="emotion_expression",
        context=situation,
        question=SITUATION[language],
        options=ADJECTIVES[language],
        subset=read_text(record.fields, "emotion"),
        fixed_order=True,
    )
    return item, Context(long_task="ee", tokens=count_tokens(situation))


def _language(record: Record) -> Language:
    language: Language = record.fields["language"]
    if language not in ADJECTIVES:
        raise ValueError(f"language should be one of {', '.join(ADJECTIVES)}, got {language!r}")
    return language


def _own_name(record: Record) -> str:
    return read_text(record.fields, "item_id")


read_contrast_sets = one_per_record(_own_name, _build_contrast)
"""Construct of Emotion Detection. Records: `item_id`, `language`, `segments` and their `labels`, one of them unlike the rest."""

read_reports = one_per_record(_own_name, _build_report)
"""Construct of Emotion Summary. Records: `item_id`, `language`, the three sections and the five aspects."""

read_situations = one_per_record(_own_name, _build_situation)
"""Construct of Emotion Expression. Records: `item_id`, `language`, `emotion` and `situation`."""
