"""Say how a score came about, for a terminal and a page alike: a table of its parts, and lines about its arithmetic."""

from collections.abc import Iterator
from dataclasses import replace

from schemas.documents.explanation import MethodBreakdown, SystemExplanation, TotalExplanation
from schemas.documents.score_part import MetricPart, ScorePart
from schemas.table import Column, Value, columns
from tasks.explain.totals import OPTIONS
from tasks.runs.baselines import no_better, tell_no_better
from tasks.runs.verdict import name_score, say_total
from tasks.text.number_format import describe_gate, number, shorten

PART_COLUMNS = (
    *(Column("", "name"), Column("Share", "share"), *columns("number", "Score", "Adds")),
    *(*columns("count", "Datasets", "Items"), Column("Deeper by", "name")),
)


def part_rows(model: SystemExplanation) -> Iterator[tuple[ScorePart, tuple[Value, ...]]]:
    """Yield each part of a score, itself and its gate with a row of PART_COLUMNS."""
    part = model.part
    yield from ((each, _cells(each, depth)) for depth, each in _flat(part))
    what = name_score(model.total.verdict) if isinstance(model, TotalExplanation) else f"{part.kind.replace('_', '-')} {part.id}"
    mean = part
    if isinstance(model, TotalExplanation):  # whose own counts take in the gate
        names = ("datasets_scored", "datasets_total", "n_scored", "n_total")
        mean = replace(part, **{name: sum(getattr(each, name) for each in part.parts) for name in names})
    yield part, (f"= {what}", "", part.score, "", _datasets(mean), _so_many(mean.n_scored, mean.n_total), "")
    if isinstance(model, TotalExplanation) and model.gate:
        name, _, score, _, *rest = _cells(model.gate)
        yield model.gate, (f"{name} (gate, not in the mean)", "", score, "", *rest)


def _flat(part: ScorePart, depth: int = 0) -> Iterator[tuple[int, ScorePart]]:
    for each in part.parts:
        yield depth, each
        yield from _flat(each, depth + 1)


def _cells(part: ScorePart, depth: int = 0) -> tuple[Value, ...]:
    share = None if part.share is None else f"{100 * part.share:.1f} %"
    name = f"{'  ' * depth}{part.id if part.kind == 'metric' else part.title}"
    deeper = f"{OPTIONS[part.kind]} {part.id}" if part.kind in OPTIONS else ""
    return (name, share, part.score, part.contributes, _datasets(part), _so_many(part.n_scored, part.n_total), deeper)


def _datasets(part: ScorePart) -> str:
    return "" if part.kind in ("metric", "dataset") else _so_many(part.datasets_scored, part.datasets_total)


def _so_many(n: int, of: int) -> str:
    return f"{n}" if n == of else f"{n} of {of}"


def score_lines(model: SystemExplanation) -> Iterator[str]:
    """Yield the raw score of every metric below it, how far papers compare, and what instruments failed at."""
    yield "Share: of the score above it. Adds: share x score; these add up to the score above."
    for each in model.part.walk():
        if each.measured:
            yield f"{each.measured.dataset}, {each.id}: {_formula(each.measured, each)}"
        yield from tell_no_better(each.title, each.score, None if each.measured else each.constant)
    if likeness := model.comparability:
        yield f"Published numbers of {likeness.paper}: {likeness.verdict}"
        yield from (f"  - {reason}" for reason in filter(None, (*likeness.reasons, likeness.position)))
    yield from (f"Instrument: {words}" for words in model.instruments)


def _formula(measured: MetricPart, part: ScorePart) -> str:
    if measured.raw is None:
        return "no raw score: no item was scored"
    effect = "" if measured.design_effect is None else f", design effect {measured.design_effect:.2f}"
    interval = "" if measured.ci_low is None else f" (95 % interval {measured.ci_low:.4f} to {measured.ci_high:.4f})"
    unread = f"; {measured.n_unparsed} unparsed, counted as wrong" if measured.n_unparsed else ""
    constant = f"; {said}" if (said := no_better(part.score, part.constant, measured.constant_answer, digits=2)) else ""
    return f"raw {measured.raw:.6g}{interval}{effect}; {measured.formula} = {number(part.score, 2)}{unread}{constant}"


def verdict_lines(model: TotalExplanation) -> Iterator[str]:
    """Yield what the verdict on a total rests on, below its headline."""
    total = model.total
    if gate := model.gate:
        yield f"{gate.title} vetoes below {gate.threshold:g}: {describe_gate(dict(total))}"
    scored = f"{total.datasets_scored} of {total.datasets_total} datasets, {total.n_scored} of {total.n_total} items"
    rank = f"rank {total.rank}" if total.rank else f"not ranked ({total.unranked})"
    yield f"Total {say_total(total)}, {total.verdict}, {rank}: {scored} have a score"


def metric_lines(metric: MethodBreakdown) -> Iterator[str]:
    """Yield how a raw score of a dataset follows from its rows."""
    counts = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in metric.counts.items())
    value = "none: no item was scored" if metric.value is None else f"{metric.value:.6g}"
    statuses = ", ".join(f"{count} {status}" for status, count in metric.statuses.items())
    yield f"{metric.method}.{metric.metric} = {metric.formula}: {counts} -> raw {value}; rows: {statuses}"
    for label in metric.labels:
        counts = f"hits {label.hits}, predicted {label.predicted}, gold {label.gold}"
        yield f"  {shorten(label.label, 60)}: {counts}, f1 {label.f1:.4f}"
