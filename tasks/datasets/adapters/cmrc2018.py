"""CMRC 2018: answers that are spans of a Chinese encyclopaedia text."""

from collections.abc import Iterable

from schemas.item import Item, Record


def adapt_cmrc2018(record: Record) -> Iterable[Item]:
    """`answers.text` lists the reference spans; each distinct one is a reference. The text stays as it is: spans are exact."""
    fields = record.fields
    return [
        Item(
            language="zh",
            question_type="extractive",
            context=fields["context"],
            question=fields["question"],
            references=tuple(dict.fromkeys(fields["answers"]["text"])) or None,
        )
    ]
