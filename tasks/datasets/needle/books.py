"""The prose of a Project Gutenberg book, as paragraphs of one line each.

A text hidden in a book must not be shown by its layout. Books break their lines at a fixed width, needles do not; so paragraphs
are unwrapped, and what is laid out in another way (verse, plays, tables, letters' heads) is left out.
"""

import re
from collections.abc import Iterator, Sequence

BEGINS = re.compile(r"CHAPTER I\b\.?")
ENDS = re.compile(r"THE END\.?")
FULL_LINE = 50
"""Characters. Lines of prose that another one follows are longer; those of verse are not."""

_SPACE = re.compile(r"\s+")


def read_prose(lines: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the paragraphs of the prose between the first chapter's heading and the end of the story.

    Licence, front matter and the publisher's advertisements lie outside. Underscores, which mark italics, are removed; headings
    are paragraphs of their own.

    Raises:
        ValueError: the first chapter or the end is not marked, or there is no prose between them.
    """
    stripped = [line.strip() for line in lines]
    first = next((number for number, line in enumerate(stripped) if BEGINS.fullmatch(line)), None)
    last = next((number for number, line in enumerate(stripped) if ENDS.fullmatch(line)), None)
    paragraphs: tuple[str, ...] = ()
    if first is not None and last is not None:
        paragraphs = tuple(_unwrap(block) for block in _blocks(lines[first:last]) if _is_prose(block))
    if not paragraphs:
        raise ValueError(f'{name} has no prose between a line "CHAPTER I." and a line "THE END.", but {len(lines)} lines')
    return paragraphs


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Return the runs of lines between blank ones."""
    block: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _is_prose(block: Sequence[str]) -> bool:
    return not any(line[0] in " [*" for line in block) and all(len(line) >= FULL_LINE for line in block[:-1])


def _unwrap(block: Sequence[str]) -> str:
    return _SPACE.sub(" ", " ".join(block).replace("_", "")).strip()
