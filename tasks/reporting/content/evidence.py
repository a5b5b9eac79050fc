"""Shorten texts, needles, ratings and retrieved chunks to what is shown with an item."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple
from unicodedata import east_asian_width

from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.runs.run_tables import Row

AROUND = 300
"""Width of the text shown on each side of a needle."""

MAX_NEEDLE = 1500
MAX_CHUNKS = 4
MAX_RATINGS = 30


@dataclass(frozen=True)
class NeedleExcerpt:
    """The passage around a needle. `left_before` and `left_after` characters of the context are not shown."""

    before: str
    needle: str
    after: str
    left_before: int
    left_after: int
    tokens: int
    depth_percent: float | None


def make_needle_excerpt(text: str, context: Row) -> NeedleExcerpt | None:
    """Make the needle with some text around it, from a row of `contexts`; null if it has no needle in a known place."""
    start, end = context["needle_start"], context["needle_end"]
    if start is None or end is None or end > len(text):
        return None
    before, after = take_end(text[:start], AROUND), take_start(text[end:], AROUND)
    return NeedleExcerpt(
        before=before,
        needle=text[start:end][:MAX_NEEDLE],
        after=after,
        left_before=start - len(before),
        left_after=len(text) - end - len(after),
        tokens=context["tokens"],
        depth_percent=context["depth_percent"],
    )


def ratings_table(judgements: Sequence[Row]) -> Table:
    """Return ratings of one answer by dimension, in the order in which they were first given, a column per judge."""
    judges = sorted({row["judge"] for row in judgements})
    heads = (Column("Dimension", "name"), Column("Scale", "interval", 0), *columns("number", *judges, digits=1))
    rows = []
    for dimension in list(dict.fromkeys(row["dimension"] for row in judgements))[:MAX_RATINGS]:
        own = [row for row in judgements if row["dimension"] == dimension]
        given = ([row["rating"] for row in own if row["judge"] == judge] for judge in judges)
        rows.append((str(dimension).replace("_", " "), Interval(own[0]["lowest"], own[0]["highest"]), *map(_given, given)))
    return Table(heads, rows, "Ratings of the reply")


def _given(ratings: list[int | None]) -> Value:
    given = [rating for rating in ratings if rating is not None]
    if not given or len(ratings) == 1:
        return given[0] if given else None
    return Cell(fmean(given), f"mean of {len(given)}")


class ShownChunk(NamedTuple):
    """A retrieved chunk of a prompt, its text shortened; ranks are from 1."""

    rank: int
    text: str
    holds_needle: bool | None


def prompt_chunks(chunks: Iterable[Row]) -> list[ShownChunk]:
    """Return the first chunks of a prompt (PROMPT_CHUNKS) by query and rank, each text once."""
    distinct: dict[str, ShownChunk] = {}
    for row in sorted(chunks, key=lambda row: (row["query_number"], row["rank"])):
        chunk = ShownChunk(row["rank"] + 1, make_excerpt(row["text"], 0).short, row["holds_needle"])
        distinct.setdefault(row["text"], chunk)
    return list(distinct.values())[:MAX_CHUNKS]


SHORT_WIDTH = 420
"""Width of a shortened text in Latin characters; a Chinese character counts as two."""

_TAIL = 2 / 7
"""Share of its width that is its end."""

DIALOGUE_WIDTH = 1600
"""Width of a dialogue with its turns shortened, so that many of them keep a page small."""


@dataclass(frozen=True)
class Excerpt:
    """A text as shown: shortened, and in full where that is longer. `omitted` characters are in the lake only."""

    short: str
    full: str | None
    omitted: int


@dataclass(frozen=True)
class DialogueLine:
    """What one speaker said, in one line; `language` as it was found, null where it cannot be told.

    `faults` of the line are in words; `quotes` from it show them.
    """

    speaker: str
    language: str | None
    text: Excerpt
    faults: str
    quotes: tuple[str, ...]


def dialogue_lines(turns: Sequence[Row], faults: Sequence[Row], limit: int, width: int = 0) -> Iterator[DialogueLine]:
    """Yield a line per turn of a dialogue; their full texts have `limit` characters at most.

    Each is shortened to a width, to one line in which all fit together where none is given.
    """
    fitting, counts = min(SHORT_WIDTH, DIALOGUE_WIDTH // max(1, len(turns))), Counter[str]()
    for turn in turns:
        counts[turn["speaker"]] += 1
        own = [fault for fault in faults if (fault["speaker"], fault["turn"]) == (turn["speaker"], counts[turn["speaker"]])]
        words = dict.fromkeys(f"{fault['kind'].replace('_', ' ')} ({fault['severity']}, by {fault['found_by']})" for fault in own)
        text = make_excerpt(turn["text"] if width else " ".join(turn["text"].split()), limit // len(turns), width or fitting)
        yield DialogueLine(turn["speaker"], turn["language"], text, ", ".join(words), tuple(fault["evidence"] for fault in own))


def make_excerpt(text: str, limit: int, width: int = SHORT_WIDTH) -> Excerpt:
    """Shorten a text to its beginning and its end, and cap the full text at `limit` characters."""
    text = text.strip()
    if take_start(text, width) == text:
        return Excerpt(text, None, 0)
    of_tail = int(width * _TAIL)
    head, tail = take_start(text, width - of_tail), take_end(text, of_tail)
    return Excerpt(f"{head.rstrip()} […] {tail.lstrip()}", text[:limit], max(0, len(text) - limit))


def take_start(text: str, width: int) -> str:
    """Return the beginning of a text, at most so wide, cut between words where there are any."""
    used = 0
    for index, character in enumerate(text):
        used += 2 if east_asian_width(character) in "WF" else 1
        if used > width:
            cut = text.rfind(" ", 0, index)
            return text[: cut if cut > index // 2 else index]
    return text


def take_end(text: str, width: int) -> str:
    """Return the end of a text, likewise."""
    return take_start(text[::-1], width)[::-1]
