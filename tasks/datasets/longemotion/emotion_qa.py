"""Emotion QA: a question about a whole document, answered in few words.

Source: LongEmotion, section 3.2.2. Its 120 questions over 30 articles are expert-written; they cannot be made anew from public
corpora, so the released file is read.
"""

from schemas.context import Context
from schemas.item import Item, Record
from tasks.datasets.needle.lazy_samples import one_per_record, read_text
from tasks.text.tokens import count_tokens


def read_question(record: Record) -> tuple[Item, Context]:
    """One item of a record of the released file: `number`, `problem`, `answer` and `context`.

    The article is kept as it is, with the marks that reading it off its pages left in it.

    Raises:
        LookupError, TypeError, ValueError: a field is missing, is no text or is empty.
    """
    article = read_text(record.fields, "context")
    item = Item(
        language="en",
        question_type="extractive",
        context=article,
        question=read_text(record.fields, "problem"),
        references=(read_text(record.fields, "answer"),),
    )
    return item, Context(long_task="qa", tokens=count_tokens(article))


read_questions = one_per_record(lambda record: f"qa-{record.fields['number']}", read_question)
"""Construct of Emotion QA; items are named after their `number`."""
