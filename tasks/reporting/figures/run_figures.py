"""Draw a run's figures as inline SVG: a system's abilities over those of the published models; settings, retrieval, needles."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import altair as alt

from tasks.analysis.number_format import heat_step, number, shorten
from tasks.analysis.published_tables import TOTAL, PublishedTable
from tasks.reporting.content.gains import ModelGains
from tasks.reporting.content.retrieval import CUTOFFS, NeedleGrid, RecallRow
from tasks.reporting.content.score_tree import Node
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.figures.drawing import (
    GATE,
    HEAT,
    INK,
    MUTED,
    OURS,
    PUBLISHED,
    ROW,
    SERIES,
    WIDTH,
    Values,
    at_pixel,
    chart,
    draw,
    row_names,
    score_axis,
)
from tasks.reporting.report import SystemReport

MAX_SERIES = len(SERIES)
"""More lines than colours cannot be told apart; the tables hold them all."""

_NAME = 36
_NAME_LONG = 50
_NAME_TALL, _LINE = 24, 14
"""Pixels for the name of a row, and for each line below it."""

_WHOLE_POINTS = 5
_CELL, _CELL_TALL = 84, 34
_TALL = 220


def draw_abilities(entry: SystemReport, published: PublishedTable) -> str | None:
    """Draw bars of a system's abilities and total over the published models, each a thin line, their median a thick one.

    A bar leads to the place of its number in the score tree.

    Returns:
        An `<svg>` element, or null if nothing has a score.
    """
    shown, verdict = entry.abilities, entry.verdict
    bars = [_bar(node.title, node.part.score, node.anchor) for node in shown]
    total = "Total, before the veto" if verdict.state == "vetoed" else "Total"
    bars.append(_bar(total, verdict.total_before_veto, entry.tree.anchor))
    if all(bar["score"] is None for bar in bars):
        return None
    rows = dict(zip([*(node.part.id for node in shown), TOTAL], (bar["row"] for bar in bars), strict=True))
    others = {row: published.scores(name, verdict.system.setting) for name, row in rows.items()}
    lines: Values = [{"row": row, "score": score} for row, scores in others.items() for score in scores]
    medians: Values = [{"row": row, "score": median(scores)} for row, scores in others.items() if scores]
    y = alt.Y("row:N", sort=list(rows.values()), axis=None)
    right = at_pixel(WIDTH + 8)
    scored, unscored = [bar for bar in bars if bar["score"] is not None], [bar for bar in bars if bar["score"] is None]
    layers = [
        row_names(list(rows.values()), y),
        chart(lines).mark_tick(color=PUBLISHED, thickness=1.5, size=24).encode(x=score_axis(), y=y),
        chart(medians).mark_tick(color=MUTED, thickness=3, size=24).encode(x=score_axis(), y=y),
        chart(scored)
        .mark_bar(color=OURS, height=12, cornerRadiusEnd=2)
        .encode(x=score_axis(), x2=alt.X2Datum(0), y=y, href=alt.Href("link:N")),
        chart(_range(bars[-1]["row"], verdict))
        .mark_rule(color=INK, strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y),
        chart(_thresholds(shown, verdict)).mark_tick(color=GATE, thickness=3, size=28).encode(x=score_axis(), y=y),
        chart(scored).mark_text(color=INK, align="left", fontWeight=600).encode(x=right, y=y, text=alt.Text("text:N")),
        chart(unscored).mark_text(color=MUTED, align="left").encode(x=right, y=y, text=alt.Text("text:N")),
    ]
    return draw(layers, alt.Step(ROW))


def _bar(row: str, score: float | None, anchor: str) -> dict[str, Any]:
    return {"row": row, "score": score, "text": "no score" if score is None else number(score), "link": f"#{anchor}"}


def _range(row: str, verdict: TotalVerdict) -> Values:
    return [] if verdict.ci_low is None else [{"row": row, "low": verdict.ci_low, "high": verdict.ci_high}]


def _thresholds(shown: tuple[Node, ...], verdict: TotalVerdict) -> Values:
    return [{"row": node.title, "score": verdict.gate_threshold} for node in shown if node.kind == "gate"]


def draw_gains(gains: ModelGains) -> str:
    """Draw one row per dataset, the total on top: what each setting gains over base, as a dot with its 95 % interval."""
    settings, scopes = list(gains.settings), list(dict.fromkeys(row.title for row in gains.rows))
    tall = _NAME_TALL + _LINE * len(settings) + _LINE / 2
    values: Values = [
        {"setting": row.setting, "gain": row.gain, "low": row.ci_low, "high": row.ci_high}
        | {"y": tall * scopes.index(row.title) + _NAME_TALL + _LINE * settings.index(row.setting)}
        for row in gains.rows
    ]
    height = round(tall * len(scopes))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    ends = [end for row in gains.rows for end in (row.gain, row.ci_low, row.ci_high) if end is not None]
    reach = 1.05 * max(abs(end) for end in ends) or 1.0
    digits = 0 if reach > _WHOLE_POINTS else 1
    axis = alt.Axis(title="points gained over Base", domain=False, ticks=False, tickCount=5, format=f"+.{digits}f")
    x = alt.X("gain:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    colour = _colours("setting", settings)
    names: Values = [{"name": shorten(name, _NAME_LONG), "y": tall * place + _LINE / 2} for place, name in enumerate(scopes)]
    bounded = [value for value in values if value["low"] is not None]
    layers = [
        chart(names).mark_text(color=INK, align="left").encode(x=at_pixel(0), y=y, text=alt.Text("name:N")),
        chart([{"gain": 0}]).mark_rule(color=MUTED, strokeWidth=1).encode(x=x),
        chart(bounded).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=colour),
        chart(values).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, height)


def draw_recall(rows: Sequence[RecallRow]) -> str:
    """Draw recall over k of one dataset, a line per setting, stage and model."""
    several = len({row.model for row in rows}) > 1
    shown = [(_recall_name(row, several=several), row) for row in rows][:MAX_SERIES]
    values = [
        {"name": name, "k": str(k), "recall": 100 * share}
        for name, row in shown
        for k, share in zip(CUTOFFS, row.recall, strict=True)
    ]
    x = alt.X("k:O", sort=[str(k) for k in CUTOFFS], axis=alt.Axis(title="among the first k chunks", labelAngle=0, grid=False))
    axis = alt.Axis(title="needle found, % of items", values=[0, 25, 50, 75, 100])
    y = alt.Y("recall:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)
    colour = _colours("name", [name for name, _ in shown])
    layers = [
        chart(values).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        chart(values).mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=colour),
    ]
    return draw(layers, _TALL)


def _recall_name(row: RecallRow, *, several: bool) -> str:
    name = f"{row.setting}, {row.stage}"
    return shorten(f"{name}, {row.model}" if several else name, _NAME)


def draw_needles(grid: NeedleGrid) -> str:
    """Draw heat map: depth of the needle down, length of the context across, mean score in each cell."""
    cells: Values = [{"x": cell.length, "y": cell.depth, "score": cell.score} for cell in grid.cells]
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
