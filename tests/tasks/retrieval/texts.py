"""Texts of our own to split."""

import random
from collections.abc import Sequence

CLAUSES = (
    "the kettle had gone cold again",
    "nobody in the office mentioned the letter",
    "she folded the map along its old creases",
    "he could not say why the tune upset him",
    "a neighbour's dog barked at the recycling lorry",
    "the twenty-third parcel was for someone else",
)
ZH_CLAUSES = ("水壶又凉了", "办公室里没有人提起那封信", "她沿着旧折痕把地图叠好", "菜园里的雨一直下到四点")


def drawn(clauses: Sequence[str], ends: Sequence[str], count: int) -> str:
    """So many clauses at random, each with one of these ends; those that stand first are likelier."""
    draw = random.Random(count)
    likely = range(len(ends), 0, -1)
    return "".join(draw.choice(clauses) + draw.choices(ends, likely)[0] for _ in range(count))


def prose(clauses: int) -> str:
    """Paragraphs of sentences, some broken into lines."""
    return drawn(CLAUSES, (", and ", ". ", ".\n", ".\n\n"), clauses)
