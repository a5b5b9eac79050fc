"""The radar: where its points lie, and that a missing score is a gap and not the middle."""

import re
from math import sqrt

import pytest

from tasks.reporting.figures.palette import SERIES
from tasks.reporting.figures.radar import Shape, draw_overlay, draw_radar, edges, point_at
from tasks.runs.published_tables import PublishedRange

TITLES = ("North", "East", "South & more", "West")


def test_the_first_axis_points_up_and_the_others_follow_clockwise() -> None:
    assert point_at(0, 4, 100) == pytest.approx((0, 1))
    assert point_at(1, 4, 50) == pytest.approx((0.5, 0))
    assert point_at(2, 4, 100) == pytest.approx((0, -1))
    # A third of a turn: sine of 120 degrees is sqrt(3) / 2, cosine -1 / 2.
    assert point_at(1, 3, 100) == pytest.approx((sqrt(3) / 2, -0.5))


def test_a_missing_score_leaves_a_gap() -> None:
    assert edges((1.0, 2.0, 3.0)) == [(0, 1), (1, 2), (2, 0)]
    assert edges((1.0, None, 3.0, 4.0)) == [(2, 3), (3, 0)]
    svg = draw_radar(TITLES, [Shape("m", (100.0, None, 50.0, 0.0))])
    assert svg is not None
    # Three dots: up at the ring, halfway down, and in the middle, which is a true 0.
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)"', svg)]
    assert dots == [(0, -112), (0, 56), (0, 0)]
    # Two of four edges.
    assert svg.count(f'stroke="{SERIES[0]}"') == 2


def test_the_published_range_is_a_ring() -> None:
    band = [PublishedRange(10.0, 50.0, 90.0)] * 4
    svg = draw_radar(TITLES, [Shape("m", (100.0, 100.0, 100.0, 100.0))], band)
    assert svg is not None
    assert svg.count('fill-rule="evenodd"') == 1
    assert svg.count("stroke-dasharray") == 4
    assert "South &amp;" in svg


def test_two_axes_and_no_scores_are_no_radar() -> None:
    assert draw_radar(TITLES[:2], [Shape("m", (1.0, 2.0))]) is None
    assert draw_radar(TITLES, [Shape("m", (None,) * 4)]) is None


def test_an_overlay_says_whose_colour_is_whose() -> None:
    whole, none = Shape("whole", (1.0, 2.0, 3.0, 4.0)), Shape("none", (None,) * 4)
    overlay = draw_overlay(TITLES, [none, whole, Shape("other", (4.0, 3.0, 2.0, 1.0))])
    assert overlay is not None
    assert (overlay.keys, overlay.left_out) == ((("whole", SERIES[0]), ("other", SERIES[1])), 1)
    assert draw_overlay(TITLES, [whole, none]) is None
    many = draw_overlay(TITLES, [whole] * 8)
    assert many is not None
    assert (len(many.keys), many.left_out) == (6, 2)
