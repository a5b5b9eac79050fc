"""Each kind of figure is drawn where its values are."""

import re
from typing import Any

import pytest

from schemas.chart import Axis, Beside, Chart, Kind, Point
from schemas.table import Interval
from tasks.reporting.figures.palette import GATE, INK, MUTED, OURS, PUBLISHED, SERIES
from tests.tasks.reporting.pages import draw_chart

LINE = r'<path d="(M[^"]*)" stroke="{}" stroke-width="2"'


def drawn(kind: Kind, *points: Point, **fields: Any) -> str:
    return draw_chart(Chart("T", "W.", kind, points, **fields))


def rectangles(svg: str, colour: str) -> list[tuple[float, float]]:
    """Left ends and widths of bars and ticks of a colour, which are 300 wide for 0 to 100."""
    paths = re.findall(rf'<path d="M([\d.]+),[\d.]+h([\d.]+)v[^"]*" fill="{colour}"', svg)
    return [(float(left), float(width)) for left, width in paths]


def texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def rules(svg: str, colour: str) -> list[tuple[float, float]]:
    """Where horizontal lines of a colour begin, and how long they are."""
    lines = re.findall(rf'<line transform="translate\(([\d.]+),[^"]*" x2="([\d.]+)"[^>]*stroke="{colour}"', svg)
    return [(float(left), float(width)) for left, width in lines]


def test_a_score_lies_on_its_interval() -> None:
    svg = drawn("dots", Point("", "a", "S", 50.0, 0.0, 75.0), Point("", "b", "S"))
    # 300 wide for 0 to 100: the dot at 150, its interval from 0 to 225; the dot stands 22 below the top of its 36 amid 72.
    assert re.findall(rf'transform="translate\(([\d.]+),([\d.]+)\)"[^>]*fill="{OURS}"', svg) == [("150", "40")]
    assert rules(svg, OURS) == [(0, 225)]
    assert [text for text in texts(svg) if not text.isdigit()] == ["a", "b", "50.0", "–", "S"]


@pytest.mark.parametrize(("rows", "tall"), [(1, 72), (2, 72), (3, 64), (4, 48), (6, 36), (12, 36)])
def test_few_rows_share_a_slide(rows: int, tall: int) -> None:
    # 192 for all, at least 36 and at most 72 for one.
    svg = drawn("dots", *(Point("", f"m{n}", "S", 50.0) for n in range(rows)), Point("", "b", "T", 1.0))
    dots = re.findall(rf'transform="translate\(150,([\d.]+)\)"[^>]*fill="{OURS}"', svg)
    assert [float(dot) for dot in dots] == pytest.approx([22 + (tall - 36) / 2 + tall * row for row in range(rows)])


def test_what_stands_beside_a_score() -> None:
    svg = drawn("dots", Point("vetoed", "a", "S", 10.0, is_hollow=True, beside=Beside(25.0, 60.0, Interval(20.0, 80.0))))
    # The band from 60 to 240, the gate at 180 and the constant answer at 75; the dot is hollow.
    assert rules(svg, PUBLISHED) == [(60, 180)]
    assert [left + width / 2 for left, width in rectangles(svg, GATE)] == [180]
    assert [left + width / 2 for left, width in rectangles(svg, INK)] == [75]
    assert re.findall(rf'transform="translate\(([\d.]+),[^"]*"[^>]*stroke="{OURS}"', svg) == ["30"]
    assert "S (vetoed)" in texts(svg)


def test_a_row_each_is_one_panel() -> None:
    panels = drawn("dots", *(Point("", name, title, 1.0) for title in ("S", "T") for name in ("a", "b")))
    assert [text for text in texts(panels) if text in {"S", "T", "a", "b"}] == ["a", "b", "S", "a", "b", "T"]
    long = drawn("dots", *(Point("", f"m{n}", "S", 1.0) for n in range(14)))
    assert [text for text in texts(long) if text in {"S", "m0", "m6", "m7", "m13"}] == ["m0", "m6", "S", "m7", "m13", "S"]
    one = drawn("dots", *(Point("", "a", title, 1.0, anchor=f"m1-{title}") for title in ("S", "T")))
    assert [text for text in texts(one) if text in {"S", "T", "a"}] == ["S", "T"]
    assert re.findall(r'<a tabindex="-1" href="([^"]*)"', one) == ["#m1-S", "#m1-T"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [(f"base-{'x' * 60}-step-9", f"base-{'x' * 13}…{'x' * 11}-step-9"), ("千问-72B <b>", "千问-72B &lt;b&gt;")],
)
def test_a_long_name_loses_its_middle(name: str, shown: str) -> None:
    assert texts(drawn("dots", Point("", name, "S", 1.0), Point("", "b", "S", 1.0)))[-5] == shown


def test_a_grid_has_a_dash_for_nothing() -> None:
    svg = drawn("grid", Point("16k", "5", "G", 72.25), Point("32k", "5", "G"))
    assert texts(svg) == ["72.2", "–", "16k", "32k", "G", "5"]


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
