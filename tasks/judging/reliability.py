"""How far raters agree: Krippendorff's alpha."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["interval", "ordinal"]
"""How different two ratings are: by the square of their distance, or by the ratings that lie between them."""

FEWEST_RATINGS = 2
"""Of a unit: with one rating there is nothing to compare."""


def krippendorff_alpha(units: Sequence[Sequence[float | None]], level: Level = "interval") -> float | None:
    """Krippendorff's alpha: 1 = raters agree, 0 = as far as chance would have it, below 0 = less than that.

    Args:
        units: what was rated, each with the ratings it got; null = a rater gave none. Who gave a rating does not matter.
        level: of measurement.

    Returns:
        Alpha; null if no unit has two ratings, or all ratings of such units are the same: without variance it is not defined.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E.
    """
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    paired = [ratings for ratings in rated if len(ratings) >= FEWEST_RATINGS]
    values = sorted({rating for ratings in paired for rating in ratings})
    if len(values) < FEWEST_RATINGS:
        return None
    coincidences = _count_coincidences(paired, values)
    of_values = coincidences.sum(axis=0)
    differences = _differences(np.array(values, dtype=float), of_values, level)
    observed = (coincidences * differences).sum()
    expected = (np.outer(of_values, of_values) * differences).sum() / (of_values.sum() - 1)
    return float(1 - observed / expected)


def _count_coincidences(units: Sequence[Sequence[float]], values: Sequence[float]) -> NDArray[np.float64]:
    """How often each two values meet in a unit; each of its ratings counts once in all, however many others there are."""
    place = {value: index for index, value in enumerate(values)}
    counts = np.zeros((len(units), len(values)))
    for row, ratings in enumerate(units):
        for rating in ratings:
            counts[row, place[rating]] += 1
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    # A rating does not meet itself.
    coincidences: NDArray[np.float64] = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    return coincidences


def _differences(values: NDArray[np.float64], of_values: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    # Ordinal: the middle of each value's ranks takes the place of the value.
    positions = values if level == "interval" else np.cumsum(of_values) - of_values / 2
    differences: NDArray[np.float64] = np.subtract.outer(positions, positions) ** 2
    return differences
