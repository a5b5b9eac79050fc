import pytest

from schemas.errors import ScoringError
from tasks.metrics.options import is_filler, points_share

RISING, FALLING = (1.0, 2.0, 3.0, 4.0, 5.0), (5.0, 4.0, 3.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("points", "chosen", "expected"),
    [
        (RISING, 0, 0.0),
        (RISING, 4, 1.0),
        (RISING, 3, 0.75),
        (FALLING, 0, 1.0),
        (FALLING, 3, 0.25),
        ((3.0, 1.0, 2.0), 2, 0.5),
        ((2.0, 1.0, 0.0, 0.0), 3, 0.0),
        ((-2.0, 2.0, 0.0), 2, 0.5),
    ],
)
def test_points_share(points: tuple[float, ...], chosen: int, expected: float) -> None:
    assert points_share(points, chosen) == expected


def test_mean_of_shares_is_the_published_score_of_the_form() -> None:
    # Chosen options 3, 0, 2 earn 4 + 5 + 3 = 12 of 3..15: (12 - 3) / (15 - 3) = 0.75.
    chosen = [(RISING, 3), (FALLING, 0), (RISING, 2)]
    shares = [points_share(points, index) for points, index in chosen]
    assert sum(shares) / 3 == pytest.approx((12 - 3) / (15 - 3))


def test_items_of_different_spans_count_the_same() -> None:
    # 5 of 1..5 and 0 of 0..2: shares 1 and 0, mean 1/2; the sum of points would give (5 - 1) / (7 - 1) = 2/3.
    shares = [points_share(RISING, 4), points_share((2.0, 0.0), 1)]
    assert sum(shares) / 2 == 0.5


@pytest.mark.parametrize("points", [(1.0, None, 3.0), (2.0, 2.0)])
def test_unusable_key_is_an_error(points: tuple[float | None, ...]) -> None:
    with pytest.raises(ScoringError, match="cannot be scored") as caught:
        points_share(points, 0)
    assert "points for every option" in str(caught.value)


@pytest.mark.parametrize(("points", "expected"), [((None, None), True), ((None, 1.0), False), (RISING, False)])
def test_filler_earns_nothing_anywhere(points: tuple[float | None, ...], expected: bool) -> None:
    assert is_filler(points) == expected
