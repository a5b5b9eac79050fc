"""Plan which two emotions meet in each contrast set."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal

FEWEST_OF_MAJORITY = 25
"""Texts of the majority emotion in a set; an emotion with fewer texts can only be the odd one."""

SETS = 136

PUBLISHED: Mapping[tuple[str, str], int] = {
    ("Anxiety", "Relaxation"): 65,
    ("Relaxation", "Anxiety"): 23,
    ("Sadness", "Relaxation"): 23,
    ("Fear", "Relaxation"): 8,
    ("Anger", "Relaxation"): 8,
    ("Desire", "Relaxation"): 4,
    ("Happiness", "Relaxation"): 4,
    ("Disgust", "Relaxation"): 1,
}
"""Sets by majority and odd emotion, counted in the released file; in 113 of the 136 the odd one is Relaxation."""

Pair = tuple[str, str]
"""Majority emotion and odd emotion."""


def plan_pairs(texts: Mapping[str, int], kind: Literal["published", "balanced"]) -> list[Pair]:
    """Return the two emotions of each of the 136 sets; `texts`: how many there are of each emotion.

    `published` has every pair as often as the released file, `balanced` every emotion equally often as the odd one, and every one
    with texts enough equally often as the majority.

    Raises:
        ValueError: fewer than two emotions, or none with texts enough for a majority.
    """
    able = sorted(emotion for emotion, count in texts.items() if count >= FEWEST_OF_MAJORITY)
    if not able or len(texts) < 2:  # noqa: PLR2004  two emotions meet
        raise ValueError(f"a contrast set needs {FEWEST_OF_MAJORITY} texts of one emotion and one of another, got {dict(texts)}")
    return _published(texts, able) if kind == "published" else _balanced(sorted(texts), able)


def _published(texts: Mapping[str, int], able: list[str]) -> list[Pair]:
    """Sets of a majority that has too few texts here go to the most frequent pair: their share is small, the skew is kept."""
    possible = {pair: count for pair, count in PUBLISHED.items() if pair[0] in able and texts.get(pair[1])}
    if not possible:
        raise ValueError(f"none of the published pairs of emotions can be had, got texts of {', '.join(sorted(texts))}")
    most = max(possible, key=lambda pair: possible[pair])
    possible[most] += SETS - sum(possible.values())
    return [pair for pair, count in possible.items() for _ in range(count)]


def _balanced(emotions: list[str], able: list[str]) -> list[Pair]:
    """One odd emotion after the other, each with the majority it met least often; of these the one that was majority least."""
    pairs: Counter[Pair] = Counter()
    majorities: Counter[str] = Counter()
    planned = []
    odd_ones = [emotion for emotion in emotions if [emotion] != able]
    for number in range(SETS):
        odd = odd_ones[number % len(odd_ones)]
        others = [majority for majority in able if majority != odd]
        majority = min(others, key=lambda name: (pairs[name, odd], majorities[name], name))
        pairs[majority, odd] += 1
        majorities[majority] += 1
        planned.append((majority, odd))
    return planned
