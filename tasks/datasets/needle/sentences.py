"""Where sentences of English prose begin, and which of these places lie outside what somebody says."""

import re
from dataclasses import dataclass

_BREAK = re.compile(r"[.!?]+[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")
_NOT_AN_END = re.compile(r"(?:^|[\s\"'(\[])(?:Mrs?|Ms|Dr|St|Prof|Jr|Sr|Inc|Corp|Co|Ltd|No|vs|[A-Z](?:\.[A-Z])*)\.\s*$")
_ENDED = re.compile(r"[.!?][\"')\]]*$")
_CALLED_OUT = re.compile(r"[!?]\"\s*$")


@dataclass(frozen=True)
class SentenceStart:
    """A place in a text where a sentence begins.

    `open`: another text can be put here as the narrator's. Not so amid direct speech, after a heading or a colon, or between a
    question or an exclamation and who says it.
    """

    at: int
    open: bool


def sentence_starts(text: str) -> list[int]:
    """Offsets at which the sentences of one paragraph begin, 0 first."""
    breaks = (found for found in _BREAK.finditer(text) if not _NOT_AN_END.search(text, 0, found.end()))
    return [0, *(found.end() for found in breaks)]


def paragraph_starts(text: str, *, goes_on: bool) -> list[SentenceStart]:
    """The sentences of one paragraph.

    Args:
        text: of the paragraph, in which `"` opens and closes direct speech.
        goes_on: whether the paragraph before leaves something open (see `leaves_open`).
    """
    starts = []
    for at in sentence_starts(text):
        before = text[:at]
        free = not goes_on if at == 0 else before.count('"') % 2 == 0 and not _CALLED_OUT.search(before)
        starts.append(SentenceStart(at, free))
    return starts


def leaves_open(text: str) -> bool:
    """Whether something must follow a paragraph: it is a heading, ends amid a sentence or in a speech that is not closed."""
    return not _ENDED.search(text) or text.count('"') % 2 == 1 or text == text.upper()
