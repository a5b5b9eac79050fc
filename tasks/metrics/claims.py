"""Find statements of an answer inside prose ("the answer is B", "所以选B") and settle which of them count.

A lead is the wording before the answer. A reply may state its answer several times; statements that close a line of reasoning
("therefore", "final answer", a boxed letter) count before the others, and statements of equal rank must agree.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tasks.metrics.labels import Choices, Indices, LabelRefusal, Reading
from tasks.metrics.stances import compiled, corrections, is_meant

LEADS, CLOSING_LEADS, _INSTEAD = map(compiled, ("leads", "closing_leads", "in_its_place"))

_YES_OR_NO = re.compile(r"(?:yes|no|not|none)\b", re.IGNORECASE)
"""Behind a correction no answer of its own: "A. Wait, no."."""

MOST_CLAIMS = 32
"""Statements that are looked at, the last ones; a reply that holds more goes round in circles."""

UNMEANT = LabelRefusal("states no answer")
"""Also where an answer is named, but denied, asked, reported or taken back."""


class Target(NamedTuple):
    """What is read at a place of a text, and where it ends."""

    reading: Indices | LabelRefusal
    end: int


class Claim(NamedTuple):
    """An answer stated somewhere in the reply. `corrects`: it takes the place of those before."""

    start: int
    reading: Indices | LabelRefusal
    closing: bool = False
    meant: bool = True
    corrects: bool = False


def stated_claims(text: str, choices: Choices, read_target: Callable[[str, int, Choices], Target | None]) -> Iterator[Claim]:
    """Return every answer that follows a lead."""
    leads: dict[int, tuple[int, bool, bool]] = {}
    for patterns, closes, corrects in ((LEADS, False, False), (CLOSING_LEADS, True, False), (_INSTEAD, True, True)):
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            start, closed, corrected = leads.get(match.end(), (match.start(), False, False))
            leads[match.end()] = min(start, match.start()), closes or closed, corrects or corrected
    leads |= {end: (end, True, True) for end in corrections(text)}
    for start in sorted(leads)[-MOST_CLAIMS:]:
        lead, closing, corrects = leads[start]
        if corrects and _YES_OR_NO.match(text, start):
            continue
        target = read_target(text, start, choices)
        if target is not None:
            meant = is_meant(text, start if corrects else lead, start, target.end)
            yield Claim(start, target.reading, closing, meant, corrects and meant)


def settle(claims: Iterable[Claim], text: str) -> Reading:
    """Return what a reply's claims come to, after its last correction if it makes one.

    Closing ones count, and what is claimed behind the first of them; those that count must agree.
    """
    stated = sorted(claims, key=lambda claim: claim.start)
    corrected = max([*corrections(text), *(claim.start for claim in stated if claim.corrects)], default=0)
    unmeant = {claim.start for claim in stated if not claim.meant}
    meant = [claim for claim in stated if claim.start not in unmeant and claim.start >= corrected]
    if not meant:
        return UNMEANT if stated else None
    closed = min((claim.start for claim in meant if claim.closing), default=0)
    counted = [claim.reading for claim in meant if claim.closing or claim.start >= closed]
    refusals = [reading for reading in counted if isinstance(reading, LabelRefusal)]
    if refusals:
        return refusals[0]
    return LabelRefusal("contradicts itself") if len(set(counted)) > 1 else counted[0]
