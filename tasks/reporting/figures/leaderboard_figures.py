"""Draw a leaderboard's figures as inline SVG: totals over time, and the published models."""

import math
from collections import Counter
from collections.abc import Sequence

import altair as alt
import polars as pl

from tasks.reporting.content.leaderboard import LeaderboardEntry
from tasks.reporting.content.published_models import PublishedModels
from tasks.reporting.figures.drawing import Values, chart, draw, row_names, score_axis
from tasks.reporting.figures.palette import GATE, INK, MUTED, OURS, PUBLISHED, ROW, SERIES, SMALL, KeyedFigure
from tasks.runs.run_tables import Row

_WIDE_HISTORY, _TALL_HISTORY = 520, 240
_WIDE, _TALL = 380, 260
_LABEL_GAP = 1.6
"""Points of the total that two labels must lie apart to be readable."""

_LABEL_DECADES = 0.8
"""Width of a label on the logarithmic axis of sizes."""


def draw_histories(histories: Sequence[Sequence[LeaderboardEntry]]) -> KeyedFigure:
    """Draw totals before the veto by the time of the run, with their intervals.

    A line joins runs of one group: totals of two groups rest on different questions or ratings.
    """
    drawn = list(zip(histories, SERIES, strict=False))
    x = alt.X("at:T", scale=alt.Scale(type="utc"), axis=alt.Axis(title="start of the run, UTC", grid=False, tickCount=5))
    y = alt.Y("total:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="total, before the veto", tickCount=6))
    layers = []
    for history, colour in drawn:
        points: Values = [
            {
                "at": moment.started_at,
                "total": moment.total_before_veto,
                "group": moment.group,
                "low": moment.ci_low,
                "high": moment.ci_high,
            }
            for moment in history
            if moment.has_total and moment.total_before_veto is not None
        ]
        ranges = [point for point in points if point["low"] is not None]
        layers += [
            chart(ranges)
            .mark_rule(color=colour, strokeWidth=1.5, opacity=0.5)
            .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
            chart(points).mark_line(color=colour, strokeWidth=2).encode(x=x, y=y, detail=alt.Detail("group:N")),
            chart(points).mark_point(color=colour, filled=True, size=50, opacity=1).encode(x=x, y=y),
        ]
    keys = tuple((history[0].system.label, colour) for history, colour in drawn)
    return KeyedFigure(draw(layers, _TALL_HISTORY, _WIDE_HISTORY), keys, left_out=len(histories) - len(drawn))


def draw_boxes(scores: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Draw a box plot per row: its title, and its quartiles, lowest score to highest."""
    names, ends = [name for name, _ in scores], ("low", "quarter", "middle", "three_quarters", "high")
    y = alt.Y("row:N", sort=names, axis=None)
    base = chart([{"row": name, **dict(zip(ends, quartiles, strict=True))} for name, quartiles in scores])
    layers = [
        row_names(names, y),
        base.mark_rule(color=MUTED).encode(x=score_axis("low:Q"), x2=alt.X2("high:Q"), y=y),
        base.mark_bar(color=PUBLISHED, height=18).encode(x=alt.X("quarter:Q"), x2=alt.X2("three_quarters:Q"), y=y),
        base.mark_tick(color=INK, thickness=2, size=18).encode(x=alt.X("middle:Q"), y=y),
    ]
    return draw(layers, alt.Step(ROW))


def draw_openness(openness: pl.DataFrame) -> str:
    """Draw scores of open and closed models as lines, medians thicker, means as dots."""
    rows = openness.select("score", row=pl.format("{}: {}", "title", "kind"))
    grouped = rows.group_by("row", maintain_order=True).agg(mean=pl.mean("score"), middle=pl.median("score"))
    names, scores, averages = grouped["row"].to_list(), rows.to_dicts(), grouped.to_dicts()
    x = score_axis("score:Q")
    y = alt.Y("row:N", sort=names, axis=None)
    layers = [
        row_names(names, y),
        chart(scores).mark_tick(color=PUBLISHED, thickness=2, size=20).encode(x=x, y=y),
        chart(averages).mark_tick(color=INK, thickness=3, size=20).encode(x=alt.X("middle:Q"), y=y),
        chart(averages).mark_point(color=GATE, filled=True, size=40, opacity=1).encode(x=alt.X("mean:Q"), y=y),
    ]
    return draw(layers, alt.Step(ROW))


def draw_sizes(models: pl.DataFrame) -> str:
    """Draw the total over the number of parameters. Lines join families; hollow: estimates; bars: ranges."""
    sized = models.to_dicts()
    ticks = alt.Axis(title="parameters, billions (log scale)", values=[1, 10, 100, 1000], grid=False, format="~r")
    x = alt.X("billions:Q", scale=alt.Scale(type="log", domain=[0.1, 9000]), axis=ticks)
    y = alt.Y("total:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="total, before the veto", tickCount=6))
    families = [family for family, times in Counter(value["family"] for value in sized).items() if times > 1]
    first, last = _label_families(families, sized)
    joined = [value for value in sized if value["family"] in families]
    ranges = [value for value in sized if value["low"] < value["high"]]
    layers = [
        chart(ranges).mark_rule(color=MUTED).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y),
        chart(joined).mark_line(color=PUBLISHED, strokeWidth=2).encode(x=x, y=y, detail=alt.Detail("family:N")),
        chart([v for v in sized if v["estimated"]]).mark_point(color=MUTED, size=45, opacity=1).encode(x=x, y=y),
        chart([v for v in sized if not v["estimated"]]).mark_point(color=MUTED, filled=True, size=45, opacity=1).encode(x=x, y=y),
        chart(first).mark_text(color=INK, fontSize=SMALL, align="right", dx=-7).encode(x=x, y=y, text=alt.Text("family:N")),
        chart(last).mark_text(color=INK, fontSize=SMALL, align="left", dx=7).encode(x=x, y=y, text=alt.Text("family:N")),
    ]
    return draw(layers, _TALL, _WIDE)


def _label_families(families: list[str], sized: Values) -> tuple[Values, Values]:
    """Return where family names have room, left of the smallest member and right of the largest."""
    first: Values = []
    last: Values = []
    for family in families:
        members = [value for value in sized if value["family"] == family]
        for member, names, direction in ((members[0], first, -1), (members[-1], last, 1)):
            if not any(_overlaps_label(other, member, direction) for other in sized) and not any(
                abs(member["total"] - other["total"]) < _LABEL_GAP for other in names
            ):
                names.append(member)
                break
    return first, last


def _overlaps_label(other: Row, labelled: Row, direction: int) -> bool:
    decades = direction * math.log10(other["billions"] / labelled["billions"])
    return 0 < decades < _LABEL_DECADES and abs(other["total"] - labelled["total"]) < _LABEL_GAP / 2


def draw_core(models: PublishedModels) -> str:
    """Draw core over foundational ability with the fitted curves, vetoed models hollow."""
    x = alt.X("foundational:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="foundational ability", grid=False, tickCount=6))
    y = alt.Y("core:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="emotional and companionship", tickCount=6))
    curves = [(fit, colour) for fit, colour in zip(models.fits.values(), (PUBLISHED, OURS), strict=False) if fit]
    layers = [
        *(
            chart([{"foundational": at, "core": value} for at, value in fit.curve])
            .mark_line(color=colour, strokeWidth=2)
            .encode(x=x, y=y)
            for fit, colour in curves
        ),
        *(
            chart(models.core.filter(ranked=ranked).to_dicts())
            .mark_point(color=MUTED, filled=ranked, size=45, opacity=1)
            .encode(x=x, y=y)
            for ranked in (True, False)
        ),
    ]
    return draw(layers, _TALL, _WIDE)
