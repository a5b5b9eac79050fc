"""Dots and grids: where marks lie, in a drawing for a phone, whose plot is 306 pixels for 0 to 100."""

import re

import pytest

from schemas.chart import Beside, Chart, Point
from schemas.table import Interval
from tasks.reporting.figures.palette import GATE, INK, OURS, PUBLISHED
from tasks.reporting.figures.rows import NARROW, WIDE, draw_dots, draw_grid


def dots(*points: Point) -> str:
    return draw_dots(Chart("T", "W.", "dots", points), NARROW)


def texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</", svg)


def rectangles(svg: str, colour: str) -> list[tuple[float, float]]:
    """Left ends and widths, without those of the legend."""
    drawn, _, _ = svg.partition("<g ")
    return [
        (float(x), float(wide))
        for x, wide in re.findall(rf'<rect x="([^"]*)" y="[^"]*" width="([^"]*)"[^>]*fill="{colour}"', drawn)
    ]


def test_a_score_lies_on_its_interval() -> None:
    svg = dots(Point("", "a", "S", 50.0, 0.0, 75.0), Point("", "b", "S"))
    # 50 is at 153; below the title (22) the first row ends at 60, its dot is 12 above. The line leaves out the 5 of the dot.
    assert re.findall(r'<circle cx="([^"]*)" cy="([^"]*)" r="5" fill="([^"]*)"', svg)[0] == ("153.0", "48.0", OURS)
    assert rectangles(svg, OURS) == [(0.0, 148.0), (158.0, 71.5)]
    assert texts(svg) == ["S", *("0", "20", "40", "60", "80", "100"), "a", "50.0", "b", "no score", "score", "95 % interval"]


def test_what_stands_beside_a_score() -> None:
    svg = dots(Point("vetoed", "a", "S", 10.0, is_hollow=True, beside=Beside(25.0, 60.0, Interval(20.0, 80.0))))
    assert rectangles(svg, PUBLISHED) == [(61.2, 183.6)]
    assert rectangles(svg, GATE) == [(182.6, 2.5)]
    assert rectangles(svg, INK) == [(75.5, 2.0)]
    assert f'cx="30.6" cy="26.0" r="4" fill="none" stroke="{OURS}"' in svg
    assert [word for word in texts(svg) if " " in word] == [
        "before the veto, or no total",
        "best constant answer",
        "gate: required",
        "published models",
    ]


def test_a_row_each_is_one_panel() -> None:
    panels = dots(*(Point("", name, title, 1.0) for title in ("S", "T") for name in ("a", "b")))
    assert [word for word in texts(panels) if word in {"S", "T", "a", "b"}] == ["S", "a", "b", "T", "a", "b"]
    one = dots(*(Point("", "a", title, 1.0, anchor=f"m1-{title}") for title in ("S", "T")))
    assert [word for word in texts(one) if word in {"S", "T", "a"}] == ["S", "T"]
    assert re.findall(r'href="([^"]*)"', one) == ["#m1-S", "#m1-T"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        # 352 pixels are 46 letters of 13 x 0.58, or 27 ideographs of 13; one of these is for the dots.
        (f"base-{'x' * 60}-step-9", f"base-{'x' * 17}…{'x' * 15}-step-9"),
        ("模" * 40, f"{'模' * 13}…{'模' * 13}"),
        ("千问-72B <b>", "千问-72B &lt;b&gt;"),
    ],
)
def test_a_long_name_loses_its_middle(name: str, shown: str) -> None:
    assert texts(dots(Point("", name, "S", 1.0), Point("", "b", "S", 1.0)))[7] == shown


def test_a_grid_has_a_dash_for_nothing() -> None:
    points = (Point("16k", "5", "G", 72.25), Point("32k", "5", "G"))
    for look in (WIDE, NARROW):
        assert texts(draw_grid(Chart("T", "W.", "grid", points), look)) == ["16k", "32k", "G", "5", "72.2", "–"]


def test_many_rows_stand_in_two_blocks() -> None:
    points = tuple(Point(model, f"t{n}", "", 50.0) for n in range(30) for model in "abcd")
    wide, narrow = (texts(draw_grid(Chart("T", "W.", "grid", points), look)) for look in (WIDE, NARROW))
    # 15 rows of a name and four scores below each head of four models; on a phone there is no room for two.
    assert [place for place, word in enumerate(wide) if word == "a"] == [0, 4 + 15 * 5]
    assert narrow.count("a") == 1
