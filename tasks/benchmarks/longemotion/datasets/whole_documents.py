"""Tasks about whole documents (LongEmotion, section 3.2.2): Emotion QA and Emotion Summary.

Emotion QA: a question about a document, answered in few words. Its 120 questions over 30 articles are expert-written and cannot
be made from public corpora: the released file is read.

Emotion Summary: a counselling report in three sections, to be summarised by five aspects. The file its models were graded on
holds expanded texts; the original reports are released beside it, with the same fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.context import Context
from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.datasets.release import (
    BY_MD5,
    PAPER,
    longemotion_file,
    one_per_record,
    read_language,
    read_text,
    released,
)
from tasks.datasets.catalogue import read_differences
from tasks.text.tokens import count_tokens


def ask_about(document: str, question: str, *references: str, language: Language = "en") -> tuple[Item, Context]:
    """Return the item of a question about a document, which other questions may share."""
    item = Item(
        language=language,
        question_type="extractive",
        context=document,
        question=question,
        references=references,
    )
    return item, Context(task="qa", tokens=count_tokens(document))


read_questions = one_per_record(
    lambda record: f"qa-{record.fields['number']}",
    # The article keeps the marks that reading it off its pages left in it.
    lambda record: ask_about(*(read_text(record.fields, name) for name in ("context", "problem", "answer"))),
    lambda record: text_id(str(record.fields.get("context")).strip()),
)
"""Sample builder of Emotion QA; items are named after their `number`."""

QA = released(
    id="longemotion_qa",
    evaluation_version="1.1",
    title="LongEmotion, emotion QA",
    files=(longemotion_file("data/Emotion_QA.jsonl", None, md5="e7862cad3fd5f279526e7de60a6e85e5"),),
    sample_builder=read_questions,
    task="qa",
    question_types=("extractive",),
    paper=f"{PAPER}, section 3.2.2",
    required=("number", "problem", "answer", "context"),
    differences=("Questions are expert-written: there is no other source than the released file.", BY_MD5),
)

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

SUMMARY_QUESTION: Mapping[Language, str] = {
    "en": "Summarise this counselling report: the causes of the problem, its symptoms, the course of the treatment, what marks "
    "the illness, and what the treatment achieved."
}


def read_report(record: Record, question: Mapping[Language, str] = SUMMARY_QUESTION) -> tuple[Item, Context]:
    """Return one item of a report; its references are the annotators' texts on the five aspects, in the order of ASPECTS.

    Raise LookupError, TypeError or ValueError if a section or an aspect is missing, holds no text or is empty.
    """
    language = read_language(record)
    text = "\n\n".join(f"{heading}:\n{_read_section(record.fields, name)}" for name, heading in SECTIONS[language].items())
    item = Item(
        language=language,
        question_type="aspect_summary",
        context=text,
        question=question[language],
        references=tuple(read_text(record.fields, aspect) for aspect in ASPECTS),
    )
    return item, Context(task="es", tokens=count_tokens(text))


def _read_section(fields: Mapping[str, Any], name: str) -> str:
    """Return a section as one text: a text, or a list or object of such."""
    text = join_readable(fields[name])
    if not text:
        raise ValueError(f"{name} is empty")
    return text


def join_readable(value: Any) -> str:
    """Join a text, the parts of a list, or the `name: text` of an object, one paragraph each. Empty parts are left out."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        parts = {str(name): join_readable(part) for name, part in value.items()}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)
    if isinstance(value, Sequence):
        return "\n".join(filter(None, map(join_readable, value)))
    raise TypeError(f"a section contains texts, lists and objects, got {type(value).__name__}")


read_reports = one_per_record(lambda record: f"es-{record.fields['id']}", read_report)
"""Sample builder of Emotion Summary, of original and of expanded reports; items are named after their `id`."""

_JOINED = "Sections are joined to one text; the released code shows lists as Python prints them in one of its settings."

ES = released(
    id="longemotion_es",
    title="LongEmotion, emotion summary, original reports",
    files=(longemotion_file("data/Emotion_Summary_origin.jsonl"),),
    sample_builder=read_reports,
    task="es",
    question_types=("aspect_summary",),
    paper=f"{PAPER}, section 3.2.2",
    expected_rows=150,
    differences=(*read_differences("longemotion_es"), _JOINED),
)

ES_RELEASED = replace(
    ES,
    id="longemotion_es_released",
    title="LongEmotion, emotion summary, expanded reports as released",
    files=(longemotion_file("data/Emotion_Summary.jsonl", None, md5="58ee9da4ba955932b3142778cdb9b5d5"),),
    required=("id", *SECTIONS["en"], *ASPECTS),
    expected_rows=None,
    differences=(_JOINED, BY_MD5),
)
