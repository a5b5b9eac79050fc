"""Texts of our own that hide a feeling or a tone: the bundled items of Emotion Classification.

Records are described in data/bundled/README.md. Of the options of contexts only `depths` changes them: every text has one length.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.errors import UsageError
from schemas.item import Item, Record
from schemas.vocabulary import Language, LongTask
from tasks.datasets.needle.lazy_samples import read_language, read_text
from tasks.datasets.needle.needles import ALL
from tasks.text.tokens import token_offsets

EMOTION: Mapping[Language, str] = {
    "en": "What does {subject} end up feeling?",
    "zh": "{subject}最后是什么心情？",
}

TONE: Mapping[Language, str] = {
    "en": "What is the tone of the text towards {subject}?",
    "zh": "文中谈到{subject}时是什么语气？",
}

GAP: Mapping[Language, str] = {"en": " ", "zh": ""}
"""What stands between sentences."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?![”\s])")


def hidden_in_text(task: LongTask, question: Mapping[Language, str]) -> SampleBuilder:
    """Return the sample builder of Emotion Classification: one text per record, with each of its `needles` hidden in turn.

    Records: `haystack_id`, `language`, `haystack` and `needles`, each with `item_id`, `needle`, `subject`, `choices`, `label`
    and `depth_percent`. Options with `depths` give each needle once per depth, in place of its own.

    Args:
        task: `ec_emobench` or `ec_finentity`.
        question: by language, with a place for the subject.
    """

    def build_samples(records: Sequence[Record], options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        if options.lengths:
            raise UsageError(
                "the lengths of the bundled texts cannot be chosen",
                where="contexts.lengths",
                expected="no lengths",
                got=", ".join(map(str, options.lengths)),
                next_step="leave contexts.lengths out, or take the benchmark longemotion",
            )
        return [
            LazySample(name, record, partial(_build_hidden, task, question, record, fields, depth), fields["item_id"])
            for record in records
            for fields in record.fields["needles"]
            for name, depth in _placements(fields, options.depths)
        ]

    return build_samples


def _placements(fields: Mapping[str, Any], depths: tuple[float, ...]) -> Iterator[tuple[str, float]]:
    """Item id and depth in percent.

    Raises:
        UsageError: a depth is given twice.
    """
    if len({f"{depth:g}" for depth in depths}) < len(depths):
        raise UsageError(
            "the depths of contexts cannot be used",
            where="contexts.depths",
            expected="different numbers",
            got=", ".join(map(str, depths)),
            next_step="name each depth once",
        )
    if not depths:
        yield fields["item_id"], fields["depth_percent"]
    for depth in depths:
        yield f"{fields['item_id']}-depth{depth:g}", depth


def _build_hidden(
    task: LongTask, question: Mapping[Language, str], record: Record, fields: Mapping[str, Any], depth: float
) -> tuple[Item, Context]:
    language, haystack = read_language(record), read_text(record.fields, "haystack")
    needle, subject, choices = read_text(fields, "needle"), read_text(fields, "subject"), tuple(fields["choices"])
    if subject not in needle or subject.casefold() in haystack.casefold():
        raise ValueError(f"{subject} should be named in the needle and nowhere else")
    start = find_place(haystack, depth)
    text = f"{haystack[:start]}{needle}{GAP[language]}{haystack[start:]}"
    item = Item(
        language=language,
        question_type="label_choice",
        context=text,
        question=question[language].format(subject=subject),
        options=choices,
        gold_indices=(choices.index(fields["label"]),),
    )
    tokens, end = [at for at, _ in token_offsets(text)], start + len(needle)
    first, last = bisect_left(tokens, start), bisect_left(tokens, end)
    return item, Context(
        long_task=task,
        query=subject,
        tokens=len(tokens),
        needle=needle,
        needle_id=fields["item_id"],
        needle_start=start,
        needle_end=end,
        needle_token_start=first,
        needle_token_end=last,
        target_depth_percent=depth,
        depth_percent=ALL * first / (len(tokens) - (last - first)),
        haystack=f"{record.file}, {read_text(record.fields, 'haystack_id')}, characters 0-{len(haystack)}",
        needle_style="matched",
    )


def find_place(haystack: str, depth_percent: float) -> int:
    """Return the start of the sentence that has nearest to so many percent of a text's tokens before it; of two, the first."""
    tokens = [start for start, _ in token_offsets(haystack)]
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(haystack) if found.end() < len(haystack))]
    return min(starts, key=lambda start: abs(bisect_left(tokens, start) - depth_percent / ALL * len(tokens)))
