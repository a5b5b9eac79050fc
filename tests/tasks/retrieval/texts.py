"""Texts of our own to split."""

import random

CLAUSES = (
    "the kettle had gone cold again",
    "nobody in the office mentioned the letter",
    "she folded the map along its old creases",
    "it rained on the allotment until four",
    "he could not say why the tune upset him",
    "they drove home without the radio",
    "a neighbour's dog barked at the recycling lorry",
    "the twenty-third parcel was for someone else",
)
ZH_CLAUSES = (
    "水壶又凉了",
    "办公室里没有人提起那封信",
    "她沿着旧折痕把地图叠好",
    "菜园里的雨一直下到四点",
    "他说不出那首曲子为什么让他难过",
)


def prose(paragraphs: int, seed: int = 0) -> str:
    """Paragraphs of one to twelve sentences, some broken into lines."""
    draw = random.Random(seed)
    found = []
    for _ in range(paragraphs):
        sentences = [
            ", and ".join(draw.choices(CLAUSES, k=draw.randint(1, 3))).capitalize() + "." for _ in range(draw.randint(1, 12))
        ]
        found.append(draw.choice((" ", "\n")).join(sentences))
    return "\n\n".join(found)


def dialogue(turns: int, seed: int = 0) -> str:
    """One line per turn; some turns are long."""
    draw = random.Random(seed)
    lines = [
        f"{('Client', 'Counselor')[turn % 2]}: " + "; ".join(draw.choices(CLAUSES, k=draw.choice((1, 2, 3, 40))))
        for turn in range(turns)
    ]
    return "\n".join(lines)


def chinese(paragraphs: int, seed: int = 0) -> str:
    """Paragraphs without a space."""
    draw = random.Random(seed)
    return "\n".join("，".join(draw.choices(ZH_CLAUSES, k=draw.randint(1, 60))) + "。" for _ in range(paragraphs))
