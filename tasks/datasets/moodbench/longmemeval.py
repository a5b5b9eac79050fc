"""LongMemEval: a question to a chat assistant about what its user told it in earlier sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.pinned_files import MOODBENCH, pinned_in

ABSTENTION = "_abs"


def adapt_longmemeval(record: Record) -> Item:
    """`haystack_sessions` are shown in the order of `haystack_dates`, which the oracle file does not keep.

    `answer` is a text or a number; for `single-session-preference` it is a rubric, and for questions without an answer (names end
    in _abs) it is the reason why there is none. `subset`: `question_type`, or abstention.
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
        subset="abstention" if fields["question_id"].endswith(ABSTENTION) else fields["question_type"],
    )


def _show(date: str, turns: Sequence[Mapping[str, str]]) -> str:
    # Only role and content: a turn may also say whether it holds the answer.
    lines = [f"{turn['role'].capitalize()}: {turn['content'].strip()}" for turn in turns]
    return "\n".join([f"[Session of {date}]", *lines])


_longmemeval = pinned_in("huggingface.co/xiaowu0162/longmemeval", "d8673c8819c3e42833f9b1849300ab94c12bbb6a")
_REVISION_ONLY = "Pinned by revision only: the files could not be had for this entry; layout as public readers of them have it."

_LONGMEMEVAL = DatasetSpec(
    id="longmemeval",
    title="LongMemEval, evidence sessions only",
    files=(_longmemeval("longmemeval_oracle", None),),
    record_format="json",
    adapter=adapt_longmemeval,
    question_types=("open_ended",),
    licence="MIT",
    paper="Wu et al. 2025, arXiv:2410.10813",
    required=(
        *("question_id", "question_type", "question", "answer", "question_date"),
        *("haystack_dates", "haystack_sessions"),
    ),
    expected_rows=500,
    redistributable=True,
    differences=(
        _REVISION_ONLY,
        "As in the released code, only the evidence sessions are shown, so that no long history is searched.",
        "The date of the question is shown, which temporal questions need; the released code does not show it.",
        "Sessions are shown in the order of their dates; the file does not keep it.",
        "The paper names Recall@K, a measure of retrieval; the released code computes recall of the words of the reference.",
        "LongMemEval has a model judge each reply.",
        "The reference is a rubric for preferences, and an explanation for the 30 questions without an answer.",
    ),
)

LONGMEMEVAL = replace(
    _LONGMEMEVAL,
    alternative=replace(
        _LONGMEMEVAL,
        files=(MOODBENCH("data/company_ability/memory/longmemeval/longmemeval_oracle.json", None),),
    ),
)
