"""Draw a system's abilities over those of the published models, as inline SVG."""

from statistics import median
from typing import Any

import altair as alt

from tasks.analysis.number_format import number
from tasks.analysis.published_tables import TOTAL, PublishedTable
from tasks.reporting.content.score_tree import Node
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.figures.drawing import (
    GATE,
    INK,
    MUTED,
    OURS,
    PUBLISHED,
    ROW,
    WIDTH,
    Values,
    chart,
    draw,
    row_names,
    score_axis,
)
from tasks.reporting.report import SystemReport


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
    others = _published_scores(rows, published, verdict.system.setting)
    lines: Values = [{"row": row, "score": score} for row, scores in others.items() for score in scores]
    medians: Values = [{"row": row, "score": median(scores)} for row, scores in others.items() if scores]
    y = alt.Y("row:N", sort=list(rows.values()), axis=None)
    right = alt.value(WIDTH + 8)
    scored, unscored = [bar for bar in bars if bar["score"] is not None], [bar for bar in bars if bar["score"] is None]
    layers = [
        row_names(list(rows.values()), y),
        chart(lines).mark_tick(color=PUBLISHED, thickness=1.5, size=24).encode(x=score_axis(), y=y),
        chart(medians).mark_tick(color=MUTED, thickness=3, size=24).encode(x=score_axis(), y=y),
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


def _published_scores(rows: dict[str, str], published: PublishedTable, setting: str) -> dict[str, list[float]]:
    return {row: published.total(setting) if name == TOTAL else published.ability(name, setting) for name, row in rows.items()}


def _range(row: str, verdict: TotalVerdict) -> Values:
    return [] if verdict.ci_low is None else [{"row": row, "low": verdict.ci_low, "high": verdict.ci_high}]


def _thresholds(shown: tuple[Node, ...], verdict: TotalVerdict) -> Values:
    return [{"row": node.title, "score": verdict.gate_threshold} for node in shown if node.kind == "gate"]
