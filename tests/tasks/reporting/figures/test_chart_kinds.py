"""Each kind of figure is drawn where its values are."""

import re
from typing import Any

import pytest

from schemas.chart import Axis, Chart, Kind, Point
from tasks.reporting.figures.palette import GATE, INK, MUTED, OURS, PUBLISHED, SERIES
from tasks.reporting.page import draw_chart

LINE = r'<path d="(M[^"]*)" stroke="{}" stroke-width="2"'


def drawn(kind: Kind, *points: Point, **fields: Any) -> str:
    return draw_chart(Chart("T", "W.", kind, points, **fields))


def rectangles(svg: str, colour: str) -> list[tuple[float, float]]:
    """Left ends and widths of bars and ticks of a colour, which are 300 wide for 0 to 100."""
    paths = re.findall(rf'<path d="M([\d.]+),[\d.]+h([\d.]+)v[^"]*" fill="{colour}"', svg)
    return [(float(left), float(width)) for left, width in paths]


def test_boxes_hold_the_middle_half_of_the_papers() -> None:
    papers = [Point(value, "row") for value in (0.0, 20.0, 40.0, 60.0, 80.0)]
    svg = drawn("boxes", *papers, Point(90.0, "row", is_own=True))
    # 20 to 60 are 60 to 180 of 300; the own 90 is at 270, and moves no quartile.
    assert rectangles(svg, PUBLISHED) == [(60.0, 120.0)]
    assert rectangles(svg, OURS) == [(269.0, 2.0)]
    # Alone, one's own are what the box is of.
    alone = drawn("boxes", *(point._replace(is_own=True) for point in papers))
    assert (rectangles(alone, PUBLISHED), rectangles(alone, OURS)) == ([(60.0, 120.0)], [])


def test_strips_have_a_median_and_a_mean() -> None:
    svg = drawn("strips", *(Point(value, "row") for value in (1.0, 2.0, 4.5)), x=Axis(low=0, high=5))
    # 300 wide for 0 to 5: the values at 60, 120 and 270, the median at 120, the mean 2.5 at 150.
    assert [left + width / 2 for left, width in rectangles(svg, PUBLISHED)] == [60, 120, 270]
    assert [left + width / 2 for left, width in rectangles(svg, INK)] == [120]
    assert re.findall(rf'transform="translate\(([\d.]+),[^"]*"[^>]*fill="{GATE}"', svg) == ["150"]


def test_a_series_is_joined_on_a_log_axis() -> None:
    points = (
        Point(1.0, 50.0, "Q"),
        Point(100.0, 70.0, "Q", low=10.0, high=1000.0, is_hollow=True),
        Point(10.0, 60.0, "m", is_own=True),
    )
    curve = ((1.0, 50.0), (1000.0, 70.0))
    svg = drawn("points", *points, x=Axis("size", 1, 1000, is_log=True), y=Axis("total", 50, 70), curves=(curve,))
    # 380 wide for three decades, 260 tall for 50 to 70, from the top.
    assert re.findall(LINE.format(PUBLISHED), svg) == ["M0,260L253.333,0"]
    assert re.findall(LINE.format(OURS), svg) == ["M0,260L380,0"]
    assert re.findall(rf'<line transform="translate\(126.6\d*,0\)" x2="253.3\d*"[^>]*stroke="{MUTED}"', svg)
    assert re.findall(r">([Qm])<", svg) == ["Q", "m"]


@pytest.mark.parametrize(("ends", "at"), [((0.0, 10.0), "M0,260L380,0"), (("short", "long"), "M95,260L285,0")])
def test_lines_have_a_colour_each(ends: tuple[float | str, float | str], at: str) -> None:
    points = [Point(x, y, name) for name in "abcdefg" for x, y in zip(ends, (0.0, 1.0), strict=True)]
    svg = drawn("lines", *points, x=Axis("length"), y=Axis("score", 0, 1))
    # Six colours, hence six of seven; texts stand in the middle of halves.
    assert [re.findall(LINE.format(colour), svg) for colour in SERIES] == [[at]] * 6
