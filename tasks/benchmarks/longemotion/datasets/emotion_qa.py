"""Emotion QA: a question about a whole document, answered in few words (LongEmotion, section 3.2.2).

Its 120 questions over 30 articles are expert-written and cannot be made from public corpora: the released file is read.
"""

from schemas.context import Context
from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.datasets.release import BY_MD5, PAPER, longemotion_file, released
from tasks.benchmarks.longemotion.needle.lazy_samples import one_per_record, read_text
from tasks.text.tokens import count_tokens


def _read_question(record: Record) -> tuple[Item, Context]:
    """Return the item of a released question. The article keeps the marks that reading it off its pages left in it."""
    texts = (read_text(record.fields, name) for name in ("context", "problem", "answer"))
    return ask_about(*texts)


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
    _read_question,
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
