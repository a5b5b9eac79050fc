"""Draw charts as inline SVG: a run's settings, retrieval and needles, a leaderboard's totals over time and published models."""

import math
from collections import Counter
from collections.abc import Sequence

import altair as alt
import polars as pl

from tasks.reporting.content.leaderboard import LeaderboardEntry
from tasks.reporting.content.published_models import PublishedModels
from tasks.reporting.content.retrieval import CUTOFFS, NeedleGrid
from tasks.reporting.content.score_tables import ModelGains
from tasks.reporting.figures.drawing import Values, at_pixel, chart, draw, row_names, score_axis
from tasks.reporting.figures.palette import GATE, HEAT, INK, MUTED, OURS, PUBLISHED, ROW, SERIES, SMALL, KeyedFigure
from tasks.runs.run_tables import Row
from tasks.text.number_format import heat_step, number, shorten

MAX_SERIES = len(SERIES)
"""More lines than colours cannot be told apart; the tables hold them all."""

_NAME = 36
_NAME_LONG = 50
_NAME_TALL, _LINE = 24, 14
"""Pixels for the name of a row, and for each line below it."""

_WHOLE_POINTS = 5
_CELL, _CELL_TALL = 84, 34
_TALL_RECALL = 220


def draw_gains(gains: ModelGains) -> str:
    """Draw one row per dataset, the total on top: what each setting gains over base, as a dot with its 95 % interval."""
    settings, scopes = (list(dict.fromkeys(row[name] for row in gains.rows)) for name in ("setting", "title"))
    tall = _NAME_TALL + _LINE * len(settings) + _LINE / 2
    values: Values = [
        {"setting": row["setting"], "gain": row["gain"], "low": row["ci_low"], "high": row["ci_high"]}
        | {"y": tall * scopes.index(row["title"]) + _NAME_TALL + _LINE * settings.index(row["setting"])}
        for row in gains.rows
    ]
    height = round(tall * len(scopes))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    ends = [end for row in gains.rows for end in (row["gain"], row["ci_low"], row["ci_high"]) if end is not None]
    reach = 1.05 * max(abs(end) for end in ends) or 1.0
    digits = 0 if reach > _WHOLE_POINTS else 1
    axis = alt.Axis(title="points gained over Base", domain=False, ticks=False, tickCount=5, format=f"+.{digits}f")
    x = alt.X("gain:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    colour = _colours("setting", settings)
    names: Values = [{"name": shorten(name, _NAME_LONG), "y": tall * index + _LINE / 2} for index, name in enumerate(scopes)]
    bounded = [value for value in values if value["low"] is not None]
    layers = [
        chart(names).mark_text(color=INK, align="left").encode(x=at_pixel(0), y=y, text=alt.Text("name:N")),
        chart([{"gain": 0}]).mark_rule(color=MUTED, strokeWidth=1).encode(x=x),
        chart(bounded).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=colour),
        chart(values).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, height)


def draw_recall(rows: Values) -> str:
    """Draw recall over k of one dataset, a line per setting, stage and model."""
    several = len({row["model"] for row in rows}) > 1
    series = [(_recall_name(row, several=several), row) for row in rows][:MAX_SERIES]
    values = [
        {"name": name, "k": str(k), "recall": 100 * share}
        for name, row in series
        for k, share in zip(CUTOFFS, row["recall"], strict=True)
    ]
    x = alt.X("k:O", sort=[str(k) for k in CUTOFFS], axis=alt.Axis(title="among the first k chunks", labelAngle=0, grid=False))
    axis = alt.Axis(title="needle found, % of items", values=[0, 25, 50, 75, 100])
    y = alt.Y("recall:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)
    colour = _colours("name", [name for name, _ in series])
    layers = [
        chart(values).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        chart(values).mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, _TALL_RECALL)


def _recall_name(row: Row, *, several: bool) -> str:
    name = f"{row['setting']}, {row['stage']}"
    return shorten(f"{name}, {row['model']}" if several else name, _NAME)


def draw_needles(grid: NeedleGrid) -> str:
    """Draw heat map: depth of the needle down, length of the context across, mean score in each cell."""
    cells: Values = [{"x": length, "y": depth, "score": cell.score} for (length, depth), cell in grid.cells.items()]
    # Titles of the axes would be wider than few columns, higher than few rows: the page names them beside the figure.
    x = alt.X("x:O", sort=list(grid.lengths), axis=alt.Axis(title=None, labelAngle=0, ticks=False, domain=False))
    y = alt.Y("y:O", sort=list(grid.depths), axis=alt.Axis(title=None, ticks=False, domain=False))
    scored = [
        cell | {"step": heat_step(cell["score"]), "text": number(cell["score"])} for cell in cells if cell["score"] is not None
    ]
    unscored = [cell | {"text": "–"} for cell in cells if cell["score"] is None]
    steps = alt.Color("step:O", scale=alt.Scale(domain=list(range(len(HEAT))), range=list(HEAT)), legend=None)
    layers = [
        chart(scored).mark_rect().encode(x=x, y=y, color=steps),
        chart(scored).mark_text(color=INK).encode(x=x, y=y, text=alt.Text("text:N")),
        chart(unscored).mark_text(color=MUTED).encode(x=x, y=y, text=alt.Text("text:N")),
    ]
    return draw(layers, alt.Step(_CELL_TALL), alt.Step(_CELL), grows=False)


def _colours(field: str, names: list[str]) -> alt.Color:
    legend = None if len(names) == 1 else alt.Legend(title=None, orient="top", direction="vertical", labelLimit=280)
    return alt.Color(f"{field}:N", sort=names, scale=alt.Scale(domain=names, range=list(SERIES[: len(names)])), legend=legend)


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
