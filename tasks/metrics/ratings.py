"""A judge's ratings of one answer as one number."""

from collections.abc import Sequence

LOWEST, HIGHEST = 1, 5


def rating_share(ratings: Sequence[int]) -> float:
    """Mean of the ratings, one per dimension on 1 to 5, mapped to [0, 1]: (mean - 1) / 4."""
    return (sum(ratings) / len(ratings) - LOWEST) / (HIGHEST - LOWEST)
