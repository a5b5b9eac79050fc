"""Points of a questionnaire item as a share of what the item can earn.

The score of a questionnaire is the mean of these shares over its items, fillers left out. Where all items span the same number
of points, as in every questionnaire of MoodBench, this equals (sum - min) / (max - min) of the whole form. Where they do not,
each item counts the same here, while in the sum of points an item with a wider span would count more.
"""

from collections.abc import Sequence

from schemas.errors import ScoringError


def is_filler(points: Sequence[float | None]) -> bool:
    """Whether the item is asked but not counted: no option earns anything."""
    return all(earned is None for earned in points)


def points_share(points: Sequence[float | None], chosen: int) -> float:
    """(earned - lowest) / (highest - lowest) of the item, in [0, 1]. Reverse keys are already in `points`.

    Raises:
        ScoringError: if some options have points and some have not, or all earn the same.
    """
    known = [earned for earned in points if earned is not None]
    if len(known) < len(points) or min(known) == max(known):
        raise ScoringError(
            "A questionnaire item cannot be scored.",
            expected="points for every option, not all the same, or for none (a filler)",
            got=f"points {list(points)}",
            next_step="correct option_points of the item",
        )
    return (known[chosen] - min(known)) / (max(known) - min(known))
