"""LongMemEval: a question to a chat assistant about what its user told it in earlier sessions."""

from collections.abc import Iterable, Mapping, Sequence

from schemas.item import Item, Record

ABSTENTION = "_abs"


def adapt_longmemeval(record: Record) -> Iterable[Item]:
    """`haystack_sessions` are shown in the order of `haystack_dates`, which the oracle file does not keep.

    `answer` is a text or a number; for `single-session-preference` it is a rubric, and for questions without an answer (names end
    in _abs) it is the reason why there is none. `subset`: `question_type`, or abstention.
    """
    fields = record.fields
    dated = zip(fields["haystack_dates"], fields["haystack_sessions"], strict=True)
    # Dates are written year first, so that their texts sort as the dates do.
    sessions = [_show(date, turns) for date, turns in sorted(dated, key=lambda session: session[0])]
    answer = fields["answer"]
    return [
        Item(
            language="en",
            question_type="open_ended",
            context="\n\n".join(sessions),
            question=f"(Asked on {fields['question_date']}.) {fields['question'].strip()}",
            references=None if answer is None else (str(answer).strip(),),
            subset="abstention" if fields["question_id"].endswith(ABSTENTION) else fields["question_type"],
        )
    ]


def _show(date: str, turns: Sequence[Mapping[str, str]]) -> str:
    # Only role and content: a turn may also say whether it holds the answer.
    lines = [f"{turn['role'].capitalize()}: {turn['content'].strip()}" for turn in turns]
    return "\n".join([f"[Session of {date}]", *lines])
