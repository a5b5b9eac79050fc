"""HellaSwag: how an everyday scene or a how-to text goes on."""

import re
from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold

# WikiHow texts mark their layout with these four words; other brackets would be text.
LAYOUT_MARKS = re.compile(r"\s*(?:\[(?:header|title|step|substeps)\]\s*)+")


def adapt_hellaswag(record: Record) -> Iterable[Item]:
    """`label` is the 0-based number of the right ending, as text. `subset`: activitynet (captions) or wikihow.

    Layout marks become line breaks in the context and spaces in the endings, which have to stay one line each.
    """
    fields = record.fields
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=LAYOUT_MARKS.sub("\n", fields["ctx"]).strip(),
            question="How does this text most plausibly go on?",
            options=tuple(LAYOUT_MARKS.sub(" ", ending).strip() for ending in fields["endings"]),
            gold_indices=find_gold({str(index): index for index in range(len(fields["endings"]))}, fields["label"]),
            subset=fields["source_id"].split("~")[0],
        )
    ]
