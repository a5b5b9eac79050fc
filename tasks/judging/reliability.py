"""How far raters agree: Krippendorff's alpha."""

from collections.abc import Sequence
from math import fsum
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
        Alpha; null if no unit has two ratings, or all ratings of such units are the same: without variance it is not defined. The
        order of units and of their ratings does not matter, to the last bit.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E.
    """
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    paired = [ratings for ratings in rated if len(ratings) >= FEWEST_RATINGS]
    values = sorted({rating for ratings in paired for rating in ratings})
    if len(values) < FEWEST_RATINGS:
        return None
    coincidences, of_values = _count_coincidences(paired, values)
    differences = _differences(np.array(values, dtype=float), of_values, level)
    observed = fsum((coincidences * differences).flat)
    expected = fsum((np.outer(of_values, of_values) * differences).flat) / (of_values.sum() - 1)
    return float(1 - observed / expected)


def _count_coincidences(
    units: Sequence[Sequence[float]], values: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How often each two values meet in a unit, and how often each occurs.

    Each rating of a unit counts once in all, however many others there are. Whole numbers are summed before they are divided:
    fractions summed unit by unit would depend on the units' order.
    """
    place = {value: index for index, value in enumerate(values)}
    counts = np.zeros((len(units), len(values)), dtype=np.int64)
    for row, ratings in enumerate(units):
        for rating in ratings:
            counts[row, place[rating]] += 1
    sizes, coincidences = counts.sum(axis=1), np.zeros((len(values), len(values)))
    for size in np.unique(sizes):
        of_size = counts[sizes == size]
        # A rating does not meet itself.
        coincidences += (of_size.T @ of_size - np.diag(of_size.sum(axis=0))) / (size - 1)
    return coincidences, counts.sum(axis=0)


def _differences(values: NDArray[np.float64], of_values: NDArray[np.int64], level: Level) -> NDArray[np.float64]:
    # Ordinal: the middle of each value's ranks takes the place of the value.
    positions = values if level == "interval" else np.cumsum(of_values) - of_values / 2
    differences: NDArray[np.float64] = np.subtract.outer(positions, positions) ** 2
    return differences
