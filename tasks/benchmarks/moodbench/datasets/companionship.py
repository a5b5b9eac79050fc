"""What is known of a user or remembered of a long text: PersonaFeedback, Book-SORT, LongMemEval."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.benchmarks.moodbench.datasets.release import MOODBENCH, moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in, read_differences
from tasks.datasets.options import shuffle_options

PERSONAS = "persona"
# The folder's name upstream is misspelt.
KINDS = {"general": "general", "spedific": "specific"}


def join_personas(records: Sequence[Record]) -> Sequence[Record]:
    """Give each question the persona of its user, whose file has a record per top-level key; raise ValueError if it has none."""
    personas = defaultdict[str, dict[str, object]](dict)
    for record in records:
        if _folder(record) == PERSONAS:
            user = PurePosixPath(record.file).stem
            personas[user][record.fields["key"]] = record.fields["value"]
    questions = [record for record in records if _folder(record) != PERSONAS]
    if absent := sorted({str(record.fields["user_id"]) for record in questions} - personas.keys()):
        raise ValueError(f"no persona of {len(absent)} users, such as {', '.join(absent[:5])}")
    return [replace(record, fields={**record.fields, "persona": personas[str(record.fields["user_id"])]}) for record in questions]


def adapt_personafeedback(record: Record) -> Item:
    """`chosen` is the reply that people preferred for this user, `reject` the other."""
    fields, path = record.fields, PurePosixPath(record.file)
    persona = "\n".join(_describe(fields["persona"]))
    item = Item(
        context=f"User:\n{persona}\n\nRequest: {fields['question'].strip()}",
        question="Which of these two replies to the request fits this user better?",
        options=(fields["chosen"].strip(), fields["reject"].strip()),
        gold_indices=(0,),
        subset=f"{KINDS[path.parent.name]}, {path.stem}",
        cluster=f"user {fields['user_id']}",
    )
    return shuffle_options(item, record)


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
_REVISION_ONLY = "Pinned by revision only: the files could not be had for this entry; layout as public readers of them have it."

PERSONAFEEDBACK = DatasetSpec(
    id="personafeedback",
    evaluation_version="1.1",
    title="PersonaFeedback",
    files=(
        *(_personas(f"data/{kind}/{difficulty}.jsonl", None) for kind in KINDS for difficulty in ("easy", "medium", "hard")),
        *(_personas(f"persona/{user}.json", None, record_format="json_object") for user in range(1, 201)),
    ),
    join_records=join_personas,
    adapter=adapt_personafeedback,
    draws_options=True,
    licence="Apache-2.0",
    paper="Tao et al. 2025, arXiv:2506.12915",
    required=("user_id", "question", "chosen", "reject"),
    differences=(_REVISION_ONLY, *read_differences("personafeedback")),
)


def adapt_booksort(record: Record) -> Item:
    """`segment_1` is the earlier one; the flag says whether it is shown first, and the released code takes it for the answer."""
    fields = record.fields
    first, second = _strip(fields["segment_1"]), _strip(fields["segment_2"])
    flag = fields["present_seg1_first"]
    return Item(
        context=_strip(fields["excerpt_text"]),
        question="Which of these two segments comes first in the excerpt?",
        options=(first, second) if flag else (second, first),
        gold_indices=(0,) if flag else (1,),
        reference_gold_indices=None if flag else (0,),
        subset=f"distance {fields['distance_bin']}",
        cluster=f"book {fields['book_idx']}",
    )


def _strip(text: str) -> str:
    """Without the one asterisk that the release puts at either end; asterisks inside are the book's."""
    return text.strip().removeprefix("*").removesuffix("*").strip()


BOOKSORT = moodbench_entry(
    id="booksort",
    evaluation_version="1.1",
    title="Book-SORT",
    files=(moodbench_file("company_ability/memory/booksort/data/test_e1000_s50.parquet"),),
    adapter=adapt_booksort,
    licence="CC0-1.0",
    paper="Pink et al. 2024, Assessing Episodic Memory in LLMs with Sequence Order Recall Tasks, arXiv:2410.08133",
)


def adapt_longmemeval(record: Record) -> Item:
    """`haystack_sessions` are shown in the order of `haystack_dates`, which the oracle file does not keep.

    `answer` is a text or a number; where there is none (names end in _abs), the reason why.
    """
    fields = record.fields
    dated = zip(fields["haystack_dates"], fields["haystack_sessions"], strict=True)
    # Dates are written year first, so that their texts sort as the dates do.
    sessions = [_show(date, turns) for date, turns in sorted(dated, key=lambda session: session[0])]
    answer = fields["answer"]
    return Item(
        question_type="open_ended",
        context="\n\n".join(sessions),
        question=f"(Asked on {fields['question_date']}.) {fields['question'].strip()}",
        references=None if answer is None else (str(answer).strip(),),
        subset="abstention" if fields["question_id"].endswith("_abs") else fields["question_type"],
    )


def _show(date: str, turns: Sequence[Mapping[str, str]]) -> str:
    # Only role and content: a turn may also say whether it holds the answer.
    lines = [f"{turn['role'].capitalize()}: {turn['content'].strip()}" for turn in turns]
    return "\n".join([f"[Session of {date}]", *lines])


_longmemeval = pinned_in("huggingface.co/xiaowu0162/longmemeval", "d8673c8819c3e42833f9b1849300ab94c12bbb6a")

LONGMEMEVAL = DatasetSpec(
    id="longmemeval",
    title="LongMemEval, evidence sessions only",
    files=(_longmemeval("longmemeval_oracle", None),),
    file_format="json",
    adapter=adapt_longmemeval,
    question_types=("open_ended",),
    licence="MIT",
    paper="Wu et al. 2025, arXiv:2410.10813",
    required=(
        *("question_id", "question_type", "question", "answer", "question_date"),
        *("haystack_dates", "haystack_sessions"),
    ),
    expected_rows=500,
    differences=(_REVISION_ONLY, *read_differences("longmemeval")),
).with_alternative(files=(MOODBENCH("data/company_ability/memory/longmemeval/longmemeval_oracle.json", None),))
