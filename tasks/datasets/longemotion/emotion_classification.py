"""Emotion classification: what somebody feels, or what tone a report has, in a passage hidden in a novel.

Source: LongEmotion, sections 3.1 and 3.2.1. The released files show what the paper leaves open: an EmoBench scenario with its
choices and label in book text.
"""

from collections.abc import Callable, Sequence

from schemas.context import Construct, ContextOptions, LazySample
from schemas.errors import SourceError
from schemas.item import Record
from tasks.datasets.longemotion.finentity import choose_reports
from tasks.datasets.needle.books import read_prose
from tasks.datasets.needle.grids import draft_grid
from tasks.datasets.needle.haystacks import Haystack, lay_out
from tasks.datasets.needle.lazy_samples import read_text
from tasks.datasets.needle.names import clashing_names, names_in
from tasks.datasets.needle.needles import Needle

EMOBENCH_LENGTHS = (10_000, 30_000)
FINENTITY_LENGTHS = (20_000, 80_000)
"""Shortest and longest length in tokens, drawn uniformly: around the released means, 19,345 and 43,588."""

OPENING_WORDS = 8
_NAMED = "The text tells of {subject}. What would {subject} most likely feel in the end?"
_UNNAMED = 'One passage of the text begins "{opening}". What would {subject} of that passage most likely feel in the end?'
_UNPLACED = "What would {subject} most likely feel in the end?"
_TONE = "What tone does the text take towards {subject}?"

Find = Callable[[Sequence[Record], Haystack, ContextOptions], Sequence[Needle]]
"""The needles among the records, for a haystack."""


def ask_feeling(subject: str, text: str | None) -> str:
    """The question about a person's feeling.

    Args:
        subject: who is asked about. Whoever has no name is told from the book's people by the passage's first words.
        text: the passage; null if it is not known.
    """
    if names_in(subject):
        return _NAMED.format(subject=subject)
    whom = "the narrator" if subject == "I" else subject.replace("my ", "the narrator's ", 1)
    if text is None:
        return _UNPLACED.format(subject=whom)
    opening = " ".join(text.split()[:OPENING_WORDS]).replace('"', "'")
    return _UNNAMED.format(opening=opening, subject=whom)


def ask_tone(subject: str, _text: str | None) -> str:
    """The question about the tone towards a company, market or the like."""
    return _TONE.format(subject=subject)


def find_scenarios(records: Sequence[Record], haystack: Haystack, _options: ContextOptions) -> Sequence[Needle]:
    """The English scenarios of EmoBench, one needle per question about one.

    Raises:
        SourceError: a record lacks a text.
    """
    english = [record for record in records if record.fields.get("language") == "en"]
    try:
        known = frozenset().union(*(names_in(read_text(record.fields, "subject")) for record in english))
        return [_scenario(record, known, haystack) for record in english]
    except (LookupError, TypeError, ValueError) as error:
        raise SourceError(
            "The scenarios cannot be read.",
            where=records[0].file if records else None,
            expected="records of EmoBench, emotional understanding",
            got=f"{type(error).__name__}: {error}",
            next_step="put the file that the catalogue entry pins in its place",
        ) from error


def _scenario(record: Record, known: frozenset[str], haystack: Haystack) -> Needle:
    fields = record.fields
    text, subject, qid = read_text(fields, "scenario"), read_text(fields, "subject"), read_text(fields, "qid")
    return Needle(
        name=f"ec_emobench-{qid}",
        long_task="ec_emobench",
        record=record,
        needle_id=qid,
        text=text,
        subject=subject,
        choices=tuple(fields["emotion_choices"]),
        label=fields["emotion_label"],
        ask=ask_feeling,
        subset=fields["coarse_category"],
        clashing=tuple(clashing_names(text, subject, known, haystack)),
    )


def find_reports(records: Sequence[Record], haystack: Haystack, options: ContextOptions) -> Sequence[Needle]:
    """200 reports of FinEntity with one of their entities each, balanced by tone; see `choose_reports`."""
    return [
        Needle(
            name=f"ec_finentity-{report.record.row}",
            long_task="ec_finentity",
            record=report.record,
            needle_id=str(report.record.row),
            text=report.text if options.needle_style == "matched" else report.record.fields["content"],
            subject=report.entity,
            choices=("Positive", "Neutral", "Negative"),
            label=report.tone,
            ask=ask_tone,
        )
        for report in choose_reports(records, haystack)
    ]


def hidden_in_a_book(find: Find, drawn: tuple[int, int]) -> Construct:
    """A construction that hides the needles among its records in the book whose lines are the other ones.

    Args:
        find: the needles.
        drawn: shortest and longest length, where no lengths are given.
    """

    def construct(records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
        lines = [record for record in records if "line" in record.fields]
        name = lines[0].file if lines else "no file of lines"
        paragraphs = read_prose([record.fields["line"] for record in lines], name)
        # Names and duplicates are looked for in the book as it is printed, in either style.
        printed = lay_out(paragraphs, name, "matched")
        needles = find([record for record in records if "line" not in record.fields], printed, options)
        return draft_grid(needles, lay_out(paragraphs, name, options.needle_style), options, drawn, seed)

    return construct


construct_emobench = hidden_in_a_book(find_scenarios, EMOBENCH_LENGTHS)
"""Construct of EC-E, from EmoBench's EU.jsonl and the lines of a Gutenberg book."""

construct_finentity = hidden_in_a_book(find_reports, FINENTITY_LENGTHS)
"""Construct of EC-F, from FinEntity.json and the lines of a Gutenberg book."""
