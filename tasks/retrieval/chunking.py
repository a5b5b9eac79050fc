"""Split texts into chunks sized in tokens, with exact spans.

The recursive character splitter of arXiv 2509.07403 (LangChain's RecursiveCharacterTextSplitter): a text is cut before each
blank line; pieces below the limit are merged greedily, neighbouring chunks sharing up to `overlap_tokens`; a piece that is not
is cut before each line break, then each space, then anywhere. White space at the ends of chunks is dropped.

Differs from it: the text is tokenized once and lengths are differences of prefix sums, so that the work grows with the text
alone. And where a piece without a space is longer than a chunk, it is cut between tokens, never inside one, and counts its real
tokens; the released code counts every character as if it stood alone, which gives chunks of half their nominal size or less.
With `legacy_bos` both are as released: lengths of pieces and joins take in a beginning-of-text token, characters stand alone.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from schemas.context import Chunk
from tasks.text.tokens import count_tokens, token_offsets

SEPARATORS = ("\n\n", "\n", " ")
"""Coarse to fine; finer than a space is a token. A piece begins with its separator."""

PART_CHARACTERS = 65_536
"""Texts are tokenized in parts of about this size: a tokenizer takes half a kilobyte per token while it works."""

BLANKS = " \n\r\t"


class ChunkSpan(NamedTuple):
    """Part of a text, end exclusive, and how many tokens it counts for."""

    start: int
    end: int
    length: int


def split(text: str, chunk_tokens: int, overlap_tokens: int, *, legacy_bos: bool = False) -> tuple[Chunk, ...]:
    """Return chunks of at most so many tokens, in order; every character that is not white space is in one.

    Args:
        text: any text; one of white space only has no chunks.
        chunk_tokens: most tokens of a chunk.
        overlap_tokens: most tokens that a chunk shares with the one before; below `chunk_tokens`.
        legacy_bos: count as the released code does; chunks are then shorter than asked for.

    Raises:
        UsageError: the tokenizer is not installed.
    """
    before = tokens_before(text).data
    splitter = _Splitter(text, before, chunk_tokens, overlap_tokens, legacy_bos=legacy_bos)
    chunks: list[Chunk] = []
    for span in splitter.spans(0, len(text), SEPARATORS):
        start, end = _stripped(text, span.start, span.end)
        if start < end:
            # Where no token begins (within an unknown word of any length, at unreadable characters), the one before counts.
            last = max(before[end], 1)
            chunks.append(Chunk(len(chunks), text[start:end], start, end, min(before[start], last - 1), last))
    return tuple(chunks)


def tokens_before(text: str) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """Return prefix sums: how many tokens begin before each character, and in the whole text; int32 of shape [characters + 1]."""
    sums = np.zeros(len(text) + 1, dtype=np.int32)
    for start, end in _parts(text):
        offsets = np.array(token_offsets(text[start:end]), dtype=np.int64).reshape(-1, 2)
        sums[start + 1 : end + 1] = np.bincount(offsets[:, 0], minlength=end - start)
    np.cumsum(sums, out=sums)
    return sums


_alone = cache(count_tokens)
"""Tokens of a character that stands alone."""


class _Splitter:
    """Walks through one text; memory does not grow with it."""

    def __init__(self, text: str, before: "memoryview[int]", chunk_tokens: int, overlap_tokens: int, *, legacy_bos: bool) -> None:
        self._text, self._before = text, before
        self._limit, self._overlap = chunk_tokens, overlap_tokens
        self._legacy, self._extra = legacy_bos, int(legacy_bos)

    def spans(self, start: int, end: int, separators: Sequence[str]) -> Iterator[ChunkSpan]:
        """Return chunks of a part of the text: cut at the first separator there is, short pieces merged, long ones cut again."""
        while separators and self._text.find(separators[0], start, end) < 0:
            separators = separators[1:]
        pieces = self._cut(start, end, separators[0]) if separators else self._finest(start, end)
        merger = _Merger(self._limit, self._overlap, self._extra)
        for piece in pieces:
            if piece.length < self._limit:
                yield from merger.add(piece)
                continue
            yield from merger.rest()
            yield from self.spans(piece.start, piece.end, separators[1:]) if separators else (piece,)
        yield from merger.rest()

    def _cut(self, start: int, end: int, separator: str) -> Iterator[ChunkSpan]:
        cut = self._text.find(separator, start, end)
        while cut >= 0:
            if cut > start:
                yield self._piece(start, cut)
            start, cut = cut, self._text.find(separator, cut + len(separator), end)
        yield self._piece(start, end)

    def _piece(self, start: int, end: int) -> ChunkSpan:
        return ChunkSpan(start, end, self._before[end] - self._before[start] + self._extra)

    def _finest(self, start: int, end: int) -> Iterator[ChunkSpan]:
        if self._legacy:
            yield from (ChunkSpan(index, index + 1, _alone(self._text[index]) + 1) for index in range(start, end))
            return
        before = self._before
        for index in range(start + 1, end):
            if before[index + 1] > before[index]:
                yield self._piece(start, index)
                start = index
        yield self._piece(start, end)


class _Merger:
    """Joins neighbouring pieces to chunks as long as the limit allows; each begins with the end of the one before."""

    def __init__(self, limit: int, overlap: int, join: int) -> None:
        self._limit, self._overlap, self._join = limit, overlap, join
        self._pieces: deque[ChunkSpan] = deque()
        self._length = 0

    def add(self, piece: ChunkSpan) -> Iterator[ChunkSpan]:
        """Add a piece; yield the chunk that it no longer fits into, if so."""
        if self._pieces and self._with(piece) > self._limit:
            yield self._chunk()
            while self._length > self._overlap or (self._with(piece) > self._limit and self._length > 0):
                gone = self._pieces.popleft()
                self._length -= gone.length + (self._join if self._pieces else 0)
        self._length = self._with(piece)
        self._pieces.append(piece)

    def rest(self) -> Iterator[ChunkSpan]:
        """Yield the last chunk; the next one shares nothing with it."""
        if self._pieces:
            yield self._chunk()
        self._pieces.clear()
        self._length = 0

    def _with(self, piece: ChunkSpan) -> int:
        return self._length + piece.length + (self._join if self._pieces else 0)

    def _chunk(self) -> ChunkSpan:
        return ChunkSpan(self._pieces[0].start, self._pieces[-1].end, self._length)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Return spans that end before a blank or a Chinese character, where no token is cut."""
    start = 0
    while start < len(text):
        end = min(start + PART_CHARACTERS, len(text))
        while end < len(text) and text[end] not in BLANKS and not "\u4e00" <= text[end] <= "\u9fff":
            end += 1
        yield start, end
        start = end


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end].lstrip()
    return end - len(part), end - len(part) + len(part.rstrip())
