"""Pictures that stand alone."""

import re

from schemas.chart import Axis, Chart, Point
from tasks.reporting.figures.pictures import draw_picture, to_png

DOTS = Chart("Totals", "a has the highest total, 50.0.", "dots", (Point("", "a", "Total", 50.0), Point("", "b", "Total", 20.0)))


def test_a_picture_is_a_slide_that_stands_alone() -> None:
    svg = draw_picture("Small bench", "headline", [DOTS], "MoodFlow, Small bench, run #12")
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="563"')
    assert '<rect width="1000" height="563" fill="#ffffff"/>' in svg
    assert "Small bench: Totals</text>" in svg
    assert svg.endswith("MoodFlow, Small bench, run #12</text></svg>")
    assert ("var(" in svg, "<style" in svg) == (False, False)


def test_png_has_twice_the_pixels() -> None:
    png = to_png(draw_picture("千问", "headline", [DOTS], "MoodFlow"))
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert [int.from_bytes(png[place : place + 4], "big") for place in (16, 20)] == [2000, 1126]
    assert png.count(b"IDAT") == 1
    assert len(png) < 100_000


def test_several_figures_stand_side_by_side() -> None:
    lines = [Chart(f"Chart {n}", "W.", "lines", (Point(1.0, 1.0), Point(2.0, 2.0)), x=Axis("x"), y=Axis("y")) for n in range(4)]
    svg = draw_picture("Small bench", "chunks", lines, "MoodFlow")
    assert "Small bench: chunks</text>" in svg
    # Three across 928 pixels, 24 apart: 293.3 each, from 36 on; the fourth stands below the first.
    assert re.findall(r'<svg x="([^"]*)"', svg) == ["36.0", "353.3", "670.7", "36.0"]
