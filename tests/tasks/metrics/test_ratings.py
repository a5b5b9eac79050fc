"""Ratings of one answer as one number."""

import pytest

from schemas.errors import ScoringError
from tasks.metrics.item_scores import Rating, rating_level, rating_share


@pytest.mark.parametrize(
    ("ratings", "share"),
    [([1, 1, 1], 0.0), ([5], 1.0), ([4], 0.75), ([5, 2], 0.625), ([2, 3, 4, 5], 0.625), ([3, 3, 3], 0.5)],
)
def test_share_of_the_scale(ratings: list[int], share: float) -> None:
    # the mean less 1, divided by 4
    assert rating_share([Rating(rating, 1, 5) for rating in ratings]) == share


def test_share_where_dimensions_have_scales_of_their_own() -> None:
    # (3 - 1) / 4 = 0.5 and 25 / 100 = 0.25
    assert rating_share([Rating(3, 1, 5), Rating(25, 0, 100)]) == 0.375


@pytest.mark.parametrize(
    ("ratings", "level"),
    [
        # 20 x mean on 1 to 5: mean 4, 20 x 4 = 80
        ([Rating(5, 1, 5), Rating(3, 1, 5)], 0.8),
        ([Rating(1, 1, 5)], 0.2),
        ([Rating(0, 0, 5), Rating(0, 0, 5), Rating(0, 0, 5)], 0.0),
        ([Rating(80, 0, 100), Rating(61, 0, 100)], 0.705),
    ],
)
def test_level_on_the_scale(ratings: list[Rating], level: float) -> None:
    assert rating_level(ratings) == pytest.approx(level)


def test_a_scale_below_zero_has_no_level() -> None:
    with pytest.raises(ScoringError, match="a scale from -2 to 2"):
        rating_level([Rating(1, -2, 2)])
