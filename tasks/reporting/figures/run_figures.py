"""Draw a run's figures as inline SVG: a system's abilities over those of the published models; settings, retrieval, needles."""

import altair as alt

from tasks.reporting.content.gains import ModelGains
from tasks.reporting.content.retrieval import CUTOFFS, NeedleGrid
from tasks.reporting.figures.drawing import Values, at_pixel, chart, draw
from tasks.reporting.figures.palette import HEAT, INK, MUTED, SERIES
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
_TALL = 220


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
    names: Values = [{"name": shorten(name, _NAME_LONG), "y": tall * place + _LINE / 2} for place, name in enumerate(scopes)]
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
    shown = [(_recall_name(row, several=several), row) for row in rows][:MAX_SERIES]
    values = [
        {"name": name, "k": str(k), "recall": 100 * share}
        for name, row in shown
        for k, share in zip(CUTOFFS, row["recall"], strict=True)
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
