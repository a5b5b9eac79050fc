"""Shorten texts, needles, ratings and retrieved chunks to what is shown with an item."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean
from typing import Any
from unicodedata import east_asian_width

from tasks.text.number_format import number

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


@dataclass(frozen=True)
class RatingRow:
    """One dimension: its scale, and what each judge gave (a dash where it gave nothing that can be read)."""

    dimension: str
    scale: str
    given: tuple[tuple[str, str], ...]


def make_needle_excerpt(text: str, context: dict[str, Any]) -> NeedleExcerpt | None:
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


def rating_rows(judgements: Iterable[dict[str, Any]]) -> tuple[RatingRow, ...]:
    """Return ratings by dimension, in the order in which they were first given, from rows of `judgements` about one answer."""
    rows = list(judgements)
    judges = sorted({row["judge"] for row in rows})
    found = []
    for dimension in dict.fromkeys(row["dimension"] for row in rows):
        of_dimension = sorted((row for row in rows if row["dimension"] == dimension), key=itemgetter("judge"))
        scale = f"{of_dimension[0]['lowest']} to {of_dimension[0]['highest']}"
        given = tuple((judge, _given([row["rating"] for row in of_dimension if row["judge"] == judge])) for judge in judges)
        found.append(RatingRow(str(dimension).replace("_", " "), scale, given))
    return tuple(found[:MAX_RATINGS])


def _given(ratings: list[int | None]) -> str:
    known = [rating for rating in ratings if rating is not None]
    if not known:
        return "–"
    return str(known[0]) if len(ratings) == 1 else f"{number(fmean(known), 1)} (mean of {len(known)})"


def prompt_chunk_rows(chunks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first chunks of a prompt (PROMPT_CHUNKS) by query and rank, each text once and shortened; ranks from 1."""
    distinct: dict[str, dict[str, Any]] = {}
    for row in sorted(chunks, key=lambda row: (row["query_number"], row["rank"])):
        distinct.setdefault(row["text"], {**row, "rank": row["rank"] + 1, "text": make_excerpt(row["text"], 0).short})
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
    """What one speaker said, in one line; `language` as it was found, null where it cannot be told; `faults` in words."""

    speaker: str
    language: str | None
    text: Excerpt
    faults: str


def dialogue_lines(turns: Sequence[dict[str, Any]], faults: Sequence[dict[str, Any]], limit: int) -> Iterator[DialogueLine]:
    """Yield a line per turn of a dialogue, shortened to fit together; their full texts have `limit` characters at most."""
    width, said = min(SHORT_WIDTH, DIALOGUE_WIDTH // max(1, len(turns))), Counter[str]()
    for turn in turns:
        said[turn["speaker"]] += 1
        own = [one for one in faults if (one["speaker"], one["turn"]) == (turn["speaker"], said[turn["speaker"]])]
        named = dict.fromkeys(f"{one['kind'].replace('_', ' ')} ({one['severity']}, by {one['found_by']})" for one in own)
        text = make_excerpt(" ".join(turn["text"].split()), limit // len(turns), width)
        yield DialogueLine(turn["speaker"], turn["language"], text, ", ".join(named))


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
    for place, character in enumerate(text):
        used += 2 if east_asian_width(character) in "WF" else 1
        if used > width:
            cut = text.rfind(" ", 0, place)
            return text[: cut if cut > place // 2 else place]
    return text


def take_end(text: str, width: int) -> str:
    """Return the end of a text, likewise."""
    return take_start(text[::-1], width)[::-1]
