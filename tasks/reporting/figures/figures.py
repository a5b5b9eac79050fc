"""Figures about each model's abilities and the published models, as inline SVG."""

import math
from statistics import median
from typing import Any

import altair as alt

from tasks.analysis.number_format import number, shorten
from tasks.analysis.published_tables import TOTAL, PublishedTable
from tasks.analysis.run_tables import System
from tasks.reporting.content.published_models import BoxRow, FieldGroup, PublishedModels
from tasks.reporting.content.tables import AbilityRow
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.figures.drawing import (
    FIELD,
    GATE,
    INK,
    MUTED,
    OURS,
    ROW,
    SMALL,
    WIDTH,
    Values,
    chart,
    draw,
    row_names,
    score_axis,
)

MAX_NAMED = 4
"""More labels than that run into each other; the tables below the figures name all."""

OURS_ROW = "This run"
_NAME = 18
_WIDE, _TALL = 380, 260
_LABEL_GAP = 1.6
"""Points of the total that two labels must lie apart to be readable."""

_LABEL_DECADES = 0.8
"""Width of a label on the logarithmic axis of sizes."""


def draw_abilities(
    abilities: tuple[AbilityRow, ...], verdict: TotalVerdict, published: PublishedTable, anchor: str
) -> str | None:
    """Bars of one system's abilities and total over the published models, each of them a thin line, their median a thick one.

    Args:
        abilities: rows of the system.
        verdict: its total.
        published: the backdrop.
        anchor: of the system; a bar leads to the place of its number in the drill-down.

    Returns:
        An `<svg>` element, or null if nothing has a score.
    """
    shown = [row for row in abilities if row.datasets_total]
    bars = [_bar(row.title, row.score, f"{anchor}-a-{row.id}") for row in shown]
    total = "Total, before the veto" if verdict.state == "vetoed" else "Total"
    bars.append(_bar(total, verdict.before_veto, f"{anchor}-total"))
    if all(bar["score"] is None for bar in bars):
        return None
    rows = dict(zip([*(row.id for row in shown), TOTAL], (bar["row"] for bar in bars), strict=True))
    y = alt.Y("row:N", sort=list(rows.values()), axis=None)
    right = alt.value(WIDTH + 8)
    scored, unscored = [bar for bar in bars if bar["score"] is not None], [bar for bar in bars if bar["score"] is None]
    layers = [
        row_names(list(rows.values()), y),
        chart(_backdrop(rows, published, verdict.system))
        .mark_tick(color=FIELD, thickness=1.5, size=24)
        .encode(x=score_axis(), y=y),
        chart(_medians(rows, published, verdict.system)).mark_tick(color=MUTED, thickness=3, size=24).encode(x=score_axis(), y=y),
        chart(scored)
        .mark_bar(color=OURS, height=12, cornerRadiusEnd=2)
        .encode(x=score_axis(), x2=alt.datum(0), y=y, href="link:N"),
        chart(_range(bars[-1]["row"], verdict)).mark_rule(color=INK, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y),
        chart(_thresholds(shown, verdict)).mark_tick(color=GATE, thickness=3, size=28).encode(x=score_axis(), y=y),
        chart(scored).mark_text(color=INK, align="left", fontWeight=600).encode(x=right, y=y, text="text:N"),
        chart(unscored).mark_text(color=MUTED, align="left").encode(x=right, y=y, text="text:N"),
    ]
    return draw(layers, alt.Step(ROW))


def _bar(row: str, score: float | None, anchor: str) -> dict[str, Any]:
    return {"row": row, "score": score, "text": "no score" if score is None else number(score), "link": f"#{anchor}"}


def _backdrop(rows: dict[str, str], published: PublishedTable, system: System) -> Values:
    found = {name: published.ability(name, system.setting) for name in rows}
    found[TOTAL] = published.total(system.setting)
    return [{"row": rows[name], "score": score} for name, scores in found.items() for score in scores]


def _medians(rows: dict[str, str], published: PublishedTable, system: System) -> Values:
    found = {name: published.ability(name, system.setting) for name in rows}
    found[TOTAL] = published.total(system.setting)
    return [{"row": rows[name], "score": median(scores)} for name, scores in found.items() if scores]


def _range(row: str, verdict: TotalVerdict) -> Values:
    return [] if verdict.ci_low is None else [{"row": row, "low": verdict.ci_low, "high": verdict.ci_high}]


def _thresholds(shown: list[AbilityRow], verdict: TotalVerdict) -> Values:
    return [{"row": row.title, "score": verdict.gate_threshold} for row in shown if row.is_gate]


def draw_boxes(field: FieldGroup) -> str:
    """Box plot per ability over the published models; dots are the run's models."""
    boxes = [_box(row) for row in field.boxes]
    ours = [{"row": row.title, "score": score} for row in field.boxes for _, score in row.ours if score is not None]
    y = alt.Y("row:N", sort=[row.title for row in field.boxes], axis=None)
    base = chart(boxes)
    layers = [
        row_names([row.title for row in field.boxes], y),
        base.mark_rule(color=MUTED).encode(x=score_axis("low:Q"), x2="high:Q", y=y),
        base.mark_bar(color=FIELD, height=18).encode(x="quarter:Q", x2="three_quarters:Q", y=y),
        base.mark_tick(color=INK, thickness=2, size=18).encode(x="middle:Q", y=y),
        chart(ours).mark_point(color=OURS, filled=True, size=70, opacity=1).encode(x="score:Q", y=y),
    ]
    return draw(layers, alt.Step(ROW))


def _box(row: BoxRow) -> dict[str, Any]:
    return {
        "row": row.title,
        "low": row.low,
        "quarter": row.quarter,
        "middle": row.middle,
        "three_quarters": row.three_quarters,
        "high": row.high,
    }


def draw_openness(field: PublishedModels) -> str:
    """Totals of open and closed models as lines, their medians thicker; the run's models as dots in a row of their own."""
    published = [{"row": row.kind, "score": total} for row in field.openness for total in row.totals]
    medians = [{"row": row.kind, "score": row.middle} for row in field.openness]
    ours = [{"row": OURS_ROW, "score": total} for _, total in field.systems if total is not None]
    x = alt.X("score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title=None, domain=False, ticks=False, tickCount=6))
    rows = [*(row.kind for row in field.openness), *([OURS_ROW] if ours else [])]
    y = alt.Y("row:N", sort=rows, axis=None)
    layers = [
        row_names(rows, y),
        chart(published).mark_tick(color=FIELD, thickness=2, size=24).encode(x=x, y=y),
        chart(medians).mark_tick(color=INK, thickness=3, size=24).encode(x=x, y=y),
        chart(ours).mark_point(color=OURS, filled=True, size=70, opacity=1).encode(x=x, y=y),
    ]
    return draw(layers, alt.Step(ROW))


def draw_sizes(field: PublishedModels) -> str:
    """Total over number of parameters, families joined by lines; hollow dots are estimates, lines across are the run's models."""
    sized: Values = [
        {"family": model.family, "size": model.billions, "score": model.total, "estimated": model.estimated}
        for model in field.sizes
    ]
    ticks = alt.Axis(title="parameters, billions (log scale)", values=[1, 10, 100, 1000], grid=False, format="~r")
    x = alt.X("size:Q", scale=alt.Scale(type="log", domain=[0.1, 9000]), axis=ticks)
    y = alt.Y("score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="total, before the veto", tickCount=6))
    ours = [{"score": total} for _, total in field.systems if total is not None]
    families = [family for family in dict.fromkeys(value["family"] for value in sized) if _size_of(family, sized) > 1]
    first, last = _label_families(families, sized)
    joined = [value for value in sized if value["family"] in families]
    layers = [
        chart(joined).mark_line(color=FIELD, strokeWidth=2).encode(x=x, y=y, detail="family:N"),
        chart([v for v in sized if v["estimated"]]).mark_point(color=MUTED, size=45, opacity=1).encode(x=x, y=y),
        chart([v for v in sized if not v["estimated"]]).mark_point(color=MUTED, filled=True, size=45, opacity=1).encode(x=x, y=y),
        chart(first).mark_text(color=INK, fontSize=SMALL, align="right", dx=-7).encode(x=x, y=y, text="family:N"),
        chart(last).mark_text(color=INK, fontSize=SMALL, align="left", dx=7).encode(x=x, y=y, text="family:N"),
        chart(ours).mark_rule(color=OURS, strokeWidth=2, strokeDash=[6, 3]).encode(y=y),
    ]
    return draw(layers, _TALL, _WIDE)


def _size_of(family: str, sized: Values) -> int:
    return sum(value["family"] == family for value in sized)


def _label_families(families: list[str], sized: Values) -> tuple[Values, Values]:
    """Where family names have room: left of the smallest member or right of the largest; a family without room goes unnamed."""
    first: Values = []
    last: Values = []
    for family in families:
        members = [value for value in sized if value["family"] == family]
        for place, names, direction in ((members[0], first, -1), (members[-1], last, 1)):
            if not any(_is_in_the_way(other, place, direction) for other in sized) and not any(
                abs(place["score"] - other["score"]) < _LABEL_GAP for other in names
            ):
                names.append(place)
                break
    return first, last


def _is_in_the_way(other: dict[str, Any], place: dict[str, Any], direction: int) -> bool:
    decades = direction * math.log10(other["size"] / place["size"])
    return 0 < decades < _LABEL_DECADES and abs(other["score"] - place["score"]) < _LABEL_GAP / 2


def draw_core(field: PublishedModels) -> str | None:
    """Core over foundational ability with the fitted curve; null if neither the field nor the run has both."""
    if not field.core:
        return None
    points: Values = [
        {"name": shorten(point.label, _NAME), "foundational": point.foundational, "core": point.core, "ours": point.ours}
        for point in field.core
    ]
    ours = [point for point in points if point["ours"]]
    x = alt.X("foundational:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="foundational ability", grid=False, tickCount=6))
    y = alt.Y("core:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="emotional and companionship", tickCount=6))
    curve = [{"foundational": at, "core": value} for at, value in (field.fit.curve if field.fit else ())]
    layers = [
        chart(curve).mark_line(color=FIELD, strokeWidth=2).encode(x=x, y=y),
        chart([p for p in points if not p["ours"]]).mark_point(color=MUTED, filled=True, size=45, opacity=1).encode(x=x, y=y),
        chart(ours).mark_point(color=OURS, filled=True, size=90, opacity=1).encode(x=x, y=y),
        chart(ours[:MAX_NAMED]).mark_text(color=INK, dy=-12, fontSize=SMALL).encode(x=x, y=y, text="name:N"),
    ]
    return draw(layers, _TALL, _WIDE)
