"""The text that needles are hidden in: a book, tokenised once, that goes on from its start again wherever it ends.

Positions count sentences: position 0 is the first sentence of the book, position n, with n sentences in it, the first one again.
Tokens are additive across white space, so that all lengths follow from one pass over the book, whatever the length of a context.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from schemas.context import NeedleStyle
from tasks.text.tokens import token_offsets

_BREAK = re.compile(r"[.!?]+[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")
_NOT_AN_END = re.compile(r"(?:^|[\s\"'(\[])(?:Mrs?|Ms|Dr|St|Prof|Jr|Sr|Inc|Corp|Co|Ltd|No|vs|[A-Z](?:\.[A-Z])*)\.\s*$")
_ENDED = re.compile(r"[.!?][\"')\]]*$")
_CALLED_OUT = re.compile(r"[!?]\"\s*$")


def sentence_starts(text: str) -> list[int]:
    """Return the offsets at which the sentences of one paragraph begin, 0 first."""
    breaks = (match for match in _BREAK.finditer(text) if not _NOT_AN_END.search(text, 0, match.end()))
    return [0, *(match.end() for match in breaks)]


def paragraph_starts(text: str, *, goes_on: bool) -> dict[int, bool]:
    """Return the offsets at which sentences begin, and whether a text can be put there as the narrator's.

    Not so amid direct speech (in `"`), after a heading or a colon, between a question or an exclamation and who says it, nor
    where the paragraph before goes on: it leaves something open (see `leaves_open`).
    """
    starts = {}
    for at in sentence_starts(text):
        before = text[:at]
        starts[at] = not goes_on if at == 0 else before.count('"') % 2 == 0 and not _CALLED_OUT.search(before)
    return starts


def leaves_open(text: str) -> bool:
    """Return whether something must follow a paragraph: a heading, a sentence without an end, or a speech that is not closed."""
    return not _ENDED.search(text) or text.count('"') % 2 == 1 or text == text.upper()


PARAGRAPH, LINE, SPACE = "\n\n", "\n", " "
_WORD = re.compile(r"[A-Za-z]+")
_LOWERED = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Haystack:
    """A laid-out text and its sentences.

    `starts` and `token_starts`: where each sentence begins, in characters and tokens; `open`: the positions before which a
    needle may be put; `joint`: what stands between the end of the text and its start, where it goes on from there.
    """

    name: str
    text: str
    joint: str
    starts: tuple[int, ...]
    token_starts: tuple[int, ...]
    open: tuple[int, ...]
    tokens: int

    @cached_property
    def capitalised(self) -> frozenset[str]:
        """Words that begin with a capital somewhere."""
        return frozenset(word for word in _WORD.findall(self.text) if word[0].isupper())

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, in lower case."""
        return frozenset(_WORD.findall(self.lower_text))

    @cached_property
    def lower_text(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def lower(self) -> frozenset[str]:
        """Words in lower case somewhere."""
        return frozenset(word for word in _WORD.findall(self.text) if word.islower())

    @cached_property
    def open_tokens(self) -> tuple[int, ...]:
        """Tokens between the start of the text and each of `open`."""
        return tuple(self.token_at(position) for position in self.open)

    def token_at(self, position: int) -> int:
        """Return the tokens between the start of the text and a position."""
        lap, index = divmod(position, len(self.starts))
        return lap * self.tokens + self.token_starts[index]

    def nearest(self, token: int) -> int:
        """Return the position nearest to a number of tokens from the start; of two, the one before."""
        lap, rest = divmod(token, self.tokens)
        after = bisect_left(self.token_starts, rest) + lap * len(self.starts)
        return min(after - 1, after, key=lambda position: abs(self.token_at(position) - token))

    def gap_before(self, position: int) -> str:
        """Return the white space between a position and the sentence before it."""
        index = position % len(self.starts)
        if index == 0:
            return self.joint
        before = self.text[self.starts[index - 1] : self.starts[index]]
        return before[len(before.rstrip()) :]

    def between(self, first: int, last: int) -> str:
        """Return the text from one position up to another, without the white space at its end."""
        return self.joint.join(self.text[start:end] for start, end in self.spans(first, last))

    def spans(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the pieces of the text between two positions, in order; several where it goes on from its start again."""
        spans = []
        while first < last:
            lap = first // len(self.starts)
            ends = (lap + 1) * len(self.starts)
            until = len(self.text) if last >= ends else self.starts[last % len(self.starts)] - len(self.gap_before(last))
            spans.append((self.starts[first % len(self.starts)], until))
            first = min(last, ends)
        return spans


@lru_cache(maxsize=8)
def lay_out(paragraphs: tuple[str, ...], name: str, style: NeedleStyle) -> Haystack:
    """Return a haystack of paragraphs of one line each; raise UsageError if the tokenizer is not installed.

    Style `matched`: as they are, with blank lines between them; `as_is`: one sentence per line in lower case with spaces between
    words and marks, as in the released LongEmotion set.
    """
    pieces: list[tuple[str, str, bool]] = []
    goes_on = False
    for paragraph in paragraphs:
        if style == "matched":
            starts = paragraph_starts(paragraph, goes_on=goes_on)
        else:  # every line end may take a needle: in the released set, too, they stand amid speech
            starts = dict.fromkeys(sentence_starts(paragraph), True)
        for (start, end), is_open in zip(pairwise([*starts, len(paragraph)]), starts.values(), strict=True):
            within = style == "matched" and end < len(paragraph)
            sentence = paragraph[start:end].strip()
            gap = SPACE if within else PARAGRAPH if style == "matched" else LINE
            if style != "matched":
                sentence = SPACE.join(_LOWERED.findall(sentence.lower()))
            pieces.append((sentence, gap, is_open))
        goes_on = leaves_open(paragraph)
    return _join(pieces, name)


def _join(pieces: Sequence[tuple[str, str, bool]], name: str) -> Haystack:
    """From (sentence, white space after it, whether a needle may stand before it)."""
    starts: list[int] = []
    parts: list[str] = []
    for sentence, gap, _ in pieces:
        starts.append(sum(map(len, parts[-2:])) + (starts[-1] if starts else 0))
        parts += [sentence, gap]
    text = "".join(parts[:-1])
    tokens = [start for start, _ in token_offsets(text)]
    return Haystack(
        name=name,
        text=text,
        joint=pieces[-1][1],
        starts=tuple(starts),
        token_starts=tuple(bisect_left(tokens, start) for start in starts),
        open=tuple(number for number, (_, _, is_open) in enumerate(pieces) if is_open),
        tokens=len(tokens),
    )
