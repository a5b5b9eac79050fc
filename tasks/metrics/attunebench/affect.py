"""How alike two of the twenty adjectives are: by their distance in valence and arousal.

Source: the public port of AttuneBench's scorer; dominance does not enter.
"""

from collections.abc import Mapping
from math import dist, sqrt

VALENCE_AROUSAL: Mapping[str, tuple[float, float]] = {
    "interested": (0.65, 0.6),
    "excited": (0.8, 0.85),
    "strong": (0.75, 0.7),
    "enthusiastic": (0.82, 0.78),
    "proud": (0.85, 0.65),
    "alert": (0.7, 0.75),
    "inspired": (0.9, 0.7),
    "determined": (0.78, 0.72),
    "attentive": (0.68, 0.6),
    "active": (0.72, 0.8),
    "distressed": (0.125, 0.75),
    "upset": (0.167, 0.65),
    "guilty": (0.15, 0.6),
    "scared": (0.083, 0.82),
    "hostile": (0.2, 0.7),
    "irritable": (0.22, 0.68),
    "ashamed": (0.13, 0.62),
    "nervous": (0.188, 0.72),
    "jittery": (0.196, 0.788),
    "afraid": (0.073, 0.84),
}
"""Valence and arousal of each adjective, in [0, 1]."""

SIMILARITY: Mapping[tuple[str, str], float] = {
    (one, other): round(1 - dist(here, there) / sqrt(2), 4)
    for one, here in VALENCE_AROUSAL.items()
    for other, there in VALENCE_AROUSAL.items()
}
"""1 - distance / sqrt 2, of every pair in both orders; a pair with a name that is none of the twenty is not in it."""
