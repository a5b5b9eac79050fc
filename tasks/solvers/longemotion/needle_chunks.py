"""Which chunk of a text holds what is hidden in it."""

from collections.abc import Sequence

from schemas.errors import ScoringError
from schemas.retrieval import Chunk


def holds_needle(chunks: Sequence[Chunk], start: int, end: int) -> list[bool]:
    """True for one chunk: the one that shares most characters with the needle's span, the first of several.

    Raises:
        ScoringError: no chunk shares any.
    """
    shared = [min(chunk.end, end) - max(chunk.start, start) for chunk in chunks]
    if max(shared, default=0) <= 0:
        raise ScoringError(
            "No chunk holds any of the needle.",
            expected="chunks of the text that the needle is in",
            got=f"needle at {start} to {end}; {len(chunks)} chunks" + (f" up to {chunks[-1].end}" if chunks else ""),
        )
    best = shared.index(max(shared))
    return [place == best for place in range(len(chunks))]
