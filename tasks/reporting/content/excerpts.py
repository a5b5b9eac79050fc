"""Texts of others, shortened to what a reader takes in at a glance."""

from dataclasses import dataclass
from unicodedata import east_asian_width

SHORT_WIDTH = 420
"""Width of a shortened text in Latin characters; a Chinese character counts as two."""

_SHORT_TAIL = 120


@dataclass(frozen=True)
class Excerpt:
    """A text as shown: shortened, and in full where that is longer. `omitted` characters are in the lake only."""

    short: str
    full: str | None
    omitted: int


def make_passage(text: str, limit: int) -> Excerpt:
    """Shorten a text to its beginning and its end, and cap the full text at `limit` characters."""
    text = text.strip()
    if _width(text[: SHORT_WIDTH + 1]) <= SHORT_WIDTH:
        return Excerpt(text, None, 0)
    head, tail = take_start(text, SHORT_WIDTH - _SHORT_TAIL), take_end(text, _SHORT_TAIL)
    return Excerpt(f"{head.rstrip()} […] {tail.lstrip()}", text[:limit], max(0, len(text) - limit))


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def take_start(text: str, width: int) -> str:
    """The beginning of a text, at most so wide, cut between words where there are any."""
    used = 0
    for place, character in enumerate(text):
        used += 2 if east_asian_width(character) in "WF" else 1
        if used > width:
            cut = text.rfind(" ", 0, place)
            return text[: cut if cut > place // 2 else place]
    return text


def take_end(text: str, width: int) -> str:
    """The end of a text, likewise."""
    return take_start(text[::-1], width)[::-1]
