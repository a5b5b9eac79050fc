"""The radar: where its points lie, and that a missing score is a gap and not the middle."""

import re
from math import sqrt

import pytest

from tasks.reporting.figures.abilities import KeyedFigure, draw_overlay, edges, point_at
from tasks.reporting.figures.palette import SERIES

TITLES = ("North", "East", "South & more", "West")


def test_the_axes_follow_clockwise_from_the_top() -> None:
    assert point_at(0, 4, 100) == pytest.approx((0, 1))
    assert point_at(1, 4, 50) == pytest.approx((0.5, 0))
    assert point_at(2, 4, 100) == pytest.approx((0, -1))
    # A third of a turn: sine of 120 degrees is sqrt(3) / 2, cosine -1 / 2.
    assert point_at(1, 3, 100) == pytest.approx((sqrt(3) / 2, -0.5))


WHOLE, NONE = (100.0, 100.0, 100.0, 100.0), (None,) * 4


def draw(**shapes: tuple[float | None, ...]) -> KeyedFigure:
    overlay = draw_overlay(TITLES, shapes)
    assert overlay is not None
    return overlay


def test_a_missing_score_leaves_a_gap() -> None:
    assert edges((1.0, 2.0, 3.0)) == [(0, 1), (1, 2), (2, 0)]
    assert edges((1.0, None, 3.0, 4.0)) == [(2, 3), (3, 0)]
    svg = draw(m=(100.0, None, 50.0, 0.0), whole=WHOLE).svg
    # Three dots: up at the ring, halfway down, and in the middle, which is a true 0.
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)"', svg)]
    assert dots[:3] == [(0, -112), (0, 56), (0, 0)]
    assert "South &amp;" in svg
    # Two of four edges.
    assert svg.count(f'stroke="{SERIES[0]}"') == 2


def test_an_overlay_says_whose_colour_is_whose() -> None:
    overlay = draw(none=NONE, whole=WHOLE, other=(4.0, 3.0, 2.0, 1.0))
    assert (overlay.keys, overlay.left_out) == ((("whole", SERIES[0]), ("other", SERIES[1])), 1)
    many = draw(**{f"m{n}": WHOLE for n in range(8)})
    assert (len(many.keys), many.left_out) == (6, 2)


def test_one_model_or_two_axes_are_no_radar() -> None:
    assert draw_overlay(TITLES[:2], {"a": (1.0, 2.0), "b": (1.0, 2.0)}) is None
    assert draw_overlay(TITLES, {"whole": WHOLE, "none": NONE}) is None
