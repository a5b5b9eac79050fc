"""PersonaFeedback: which of two replies to a request fits a described user."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from schemas.item import Item, Record
from tasks.datasets.options import shuffle_options

PERSONAS = "persona"
# The folder's name upstream is misspelt.
KINDS = {"general": "general", "spedific": "specific"}
QUESTION = "Which of these two replies to the request fits this user better?"


def join_personas(records: Sequence[Record]) -> Sequence[Record]:
    """Give each question the persona of its `user_id`, in the field `persona`.

    Args:
        records: of persona/<user_id>.json (one per top-level key) and of data/<kind>/<difficulty>.jsonl.

    Raises:
        ValueError: a question whose user has no persona.
    """
    personas: dict[str, dict[str, Any]] = {}
    for record in records:
        if _folder(record) == PERSONAS:
            user = PurePosixPath(record.file).stem
            personas.setdefault(user, {})[record.fields["key"]] = record.fields["value"]
    questions = [record for record in records if _folder(record) != PERSONAS]
    if absent := sorted({str(record.fields["user_id"]) for record in questions} - personas.keys()):
        raise ValueError(f"no persona of {len(absent)} users, such as {', '.join(absent[:5])}")
    return [
        Record(fields={**record.fields, "persona": personas[str(record.fields["user_id"])]}, file=record.file, row=record.row)
        for record in questions
    ]


def adapt_personafeedback(record: Record) -> Iterable[Item]:
    """`chosen` is the reply that people preferred for this user, `reject` the other. `subset`: kind of question, difficulty."""
    fields = record.fields
    drawn = shuffle_options(record, (fields["chosen"].strip(), fields["reject"].strip()), (0,))
    persona = "\n".join(_describe(fields["persona"]))
    path = PurePosixPath(record.file)
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=f"User:\n{persona}\n\nRequest: {fields['question'].strip()}",
            question=QUESTION,
            options=drawn.options,
            gold_indices=drawn.gold_indices,
            subset=f"{KINDS[path.parent.name]}, {path.stem}",
        )
    ]


def _folder(record: Record) -> str:
    return PurePosixPath(record.file).parent.name


def _describe(persona: Mapping[str, Any]) -> Iterator[str]:
    for key, value in persona.items():
        if isinstance(value, Mapping):
            yield from _describe(value)
        else:
            texts = value if isinstance(value, list) else [value]
            yield f"{key.replace('_', ' ')}: {'; '.join(str(text).strip() for text in texts)}"
