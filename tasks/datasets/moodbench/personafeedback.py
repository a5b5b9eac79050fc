"""PersonaFeedback: which of two replies to a request fits a described user."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import shuffle_options
from tasks.datasets.pinned_files import pinned_in

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


def adapt_personafeedback(record: Record) -> Item:
    """`chosen` is the reply that people preferred for this user, `reject` the other. `subset`: kind of question, difficulty."""
    fields = record.fields
    drawn = shuffle_options(record, (fields["chosen"].strip(), fields["reject"].strip()), (0,))
    persona = "\n".join(_describe(fields["persona"]))
    path = PurePosixPath(record.file)
    return Item(
        context=f"User:\n{persona}\n\nRequest: {fields['question'].strip()}",
        question=QUESTION,
        options=drawn.options,
        gold_indices=drawn.gold_indices,
        subset=f"{KINDS[path.parent.name]}, {path.stem}",
    )


def _folder(record: Record) -> str:
    return PurePosixPath(record.file).parent.name


def _describe(persona: Mapping[str, Any]) -> Iterator[str]:
    for key, value in persona.items():
        if isinstance(value, Mapping):
            yield from _describe(value)
        else:
            texts = value if isinstance(value, list) else [value]
            yield f"{key.replace('_', ' ')}: {'; '.join(str(text).strip() for text in texts)}"


_personas = pinned_in("huggingface.co/PersonalAILab/PersonaFeedback", "785d590")
_USERS = range(1, 201)
_REVISION_ONLY = "Pinned by revision only: the files could not be had for this entry; layout as public readers of them have it."

PERSONAFEEDBACK = DatasetSpec(
    id="personafeedback",
    title="PersonaFeedback",
    files=(
        *(_personas(f"data/{kind}/{difficulty}.jsonl", None) for kind in KINDS for difficulty in ("easy", "medium", "hard")),
        *(_personas(f"persona/{user}.json", None, record_format="json_object") for user in _USERS),
    ),
    record_format="jsonl",
    join_records=join_personas,
    adapter=adapt_personafeedback,
    licence="Apache-2.0",
    paper="Tao et al. 2025, arXiv:2506.12915",
    required=("user_id", "question", "chosen", "reject"),
    redistributable=True,
    differences=(
        _REVISION_ONLY,
        "200 users are expected, from the number of uploaded files; a user without a persona is an error.",
        "The sample is drawn from all questions of the six files; the released code draws 100 of each file.",
        "The folder of the specific questions is spelt spedific upstream, where the released code does not find it.",
        "The model chooses as an onlooker; the released prompt has it play the user.",
        "The paper calls the evaluation model-based; as in the released code, one of two replies is chosen without a judge.",
    ),
)
