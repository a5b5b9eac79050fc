"""ReCoRD: the entity of a news text that fills a blank."""

from collections.abc import Iterable, Sequence

from schemas.item import Item, Record

QUESTION = (
    "Which of the entities below stands at @placeholder in this sentence about the text? Name one, as it is listed.\n"
    "Sentence: {query}\n"
    "Entities:\n{entities}"
)
HIGHLIGHT = "\n@highlight\n"


def adapt_record(record: Record) -> Iterable[Item]:
    """`entities` are the candidates, `answers` those of them that are right: forms of one name, of which any will do.

    Marks before the highlights of the news text become list marks. Entities that differ in white space alone are shown once.
    Answers that are not among the entities are an error of the release: there is no gold then.
    """
    fields = record.fields
    entities, answers = fields["entities"], fields["answers"]
    listed = "\n".join(f"- {entity}" for entity in _merge(entities))
    return [
        Item(
            language="en",
            question_type="extractive",
            context=fields["passage"].replace(HIGHLIGHT, "\n- ").strip(),
            question=QUESTION.format(query=" ".join(fields["query"].split()), entities=listed),
            references=_merge(answers) if answers and set(answers) <= set(entities) else None,
        )
    ]


def _merge(names: Sequence[str]) -> tuple[str, ...]:
    """Names in order, of those that are equal but for white space the first; white space inside them becomes single blanks."""
    merged: dict[str, str] = {}
    for name in names:
        merged.setdefault("".join(name.split()), " ".join(name.split()))
    return tuple(merged.values())
