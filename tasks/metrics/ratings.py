"""A judge's ratings of one answer, one per dimension, as one number in [0, 1]."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from schemas.errors import ScoringError
from schemas.vocabulary import Metric


class Rating(NamedTuple):
    """A rating and the ends of its scale."""

    rating: int
    lowest: int
    highest: int


def rating_share(ratings: Sequence[Rating]) -> float:
    """Mean of the ratings' places on their scales: 0 at the lowest, 1 at the highest. MoodBench's way."""
    return fmean((rating - lowest) / (highest - lowest) for rating, lowest, highest in ratings)


def rating_level(ratings: Sequence[Rating]) -> float:
    """Mean of rating / highest. LongEmotion's way: 20 x the mean on 1 to 5 or 0 to 5 is 100 x this.

    Raises:
        ScoringError: if a scale reaches below 0.
    """
    if wrong := [rating for rating in ratings if rating.lowest < 0 or rating.highest <= 0]:
        raise ScoringError(
            "mean_rating divides a rating by the highest one, and a scale reaches below 0.",
            expected="scales from 0 or above",
            got=f"a scale from {wrong[0].lowest} to {wrong[0].highest}",
            next_step="score the dataset by judged_rating, or give the rubric another scale",
        )
    return fmean(rating / highest for rating, _, highest in ratings)


RATED: Mapping[Metric, Callable[[Sequence[Rating]], float]] = {"judged_rating": rating_share, "mean_rating": rating_level}
"""Metrics that are made of a judge's ratings."""
