"""The published models as a field to stand in: distribution per ability, openness, size, and one ability against another."""

import re
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Any

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from tasks.reporting.caveats import is_comparable
from tasks.reporting.data import ReportData, Subject

TOTAL = "overall"
FOUNDATIONAL = "foundational"
CORE = ("emotional", "companionship")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([BT])(?:-(\d+(?:\.\d+)?)([BT]))?")
_FAMILY = re.compile(r"^[A-Za-z]+-?\d+")
_BILLIONS = {"B": 1.0, "T": 1000.0}


@dataclass(frozen=True)
class BoxRow:
    """Five numbers of one score over the published models, and where the subjects of the run stand (null = not scored)."""

    id: str
    title: str
    low: float
    quarter: float
    middle: float
    three_quarters: float
    high: float
    ours: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True)
class OpennessRow:
    """Open-weight or closed models of the published table; `totals` are before the veto."""

    kind: str
    models: int
    low: float
    middle: float
    high: float
    totals: tuple[float, ...]


@dataclass(frozen=True)
class SizedModel:
    """A published model whose size is known or estimated, in billions of parameters, mixture experts all counted."""

    model: str
    family: str
    billions: float
    estimated: bool
    total: float


@dataclass(frozen=True)
class CorePoint:
    """Foundational ability against the weighted mean of the core abilities."""

    label: str
    foundational: float
    core: float
    ours: bool


@dataclass(frozen=True)
class Field:
    """Everything the report sets beside the published table."""

    boxes: tuple[BoxRow, ...]
    openness: tuple[OpennessRow, ...]
    sizes: tuple[SizedModel, ...]
    unsized: int
    core: tuple[CorePoint, ...]
    curve: tuple[tuple[float, float], ...]
    subjects: tuple[tuple[str, float | None], ...]
    vetoed: int
    """Published models without a rank; their totals are before the veto."""

    comparable: bool
    """Whether the run asked what the published models were asked."""


def describe_field(data: ReportData) -> Field | None:
    """Everything shown beside the published table; null if the blueprint shares no ability with it."""
    shared = [ability for ability in data.blueprint.abilities if ability.id in data.published.columns]
    if not shared or data.published.is_empty():
        return None
    subjects = data.subjects()
    abilities = {subject: _scores(data, subject) for subject in subjects}
    boxes = [
        _box(data.published, ability.id, ability.title, tuple((s.label, abilities[s].get(ability.id)) for s in subjects))
        for ability in shared
    ]
    totals = tuple((subject.label, _total(data, subject)) for subject in subjects)
    sizes = sized_models(data.published)
    core = core_points(data.published, data.blueprint) + _our_core(data.blueprint, abilities)
    return Field(
        boxes=(*boxes, _box(data.published, TOTAL, "Total, before the veto", totals)),
        openness=openness_rows(data.published),
        sizes=sizes,
        unsized=data.published.height - len(sizes),
        core=core,
        curve=fit_curve(tuple(point for point in core if not point.ours)),
        subjects=totals,
        vetoed=data.published.filter(~pl.col("ranked")).height,
        comparable=is_comparable(data.blueprint),
    )


def _scores(data: ReportData, subject: Subject) -> dict[str, float | None]:
    return {row["ability"]: row["score_0_100"] for row in subject.rows(data.ability)}


def _total(data: ReportData, subject: Subject) -> float | None:
    return next((row["total_before_veto"] for row in subject.rows(data.totals)), None)


def _box(published: pl.DataFrame, column: str, title: str, ours: tuple[tuple[str, float | None], ...]) -> BoxRow:
    values = published[column].drop_nulls().to_list()
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return BoxRow(column, title, min(values), low, middle, high, max(values), ours)


def openness_rows(published: pl.DataFrame) -> tuple[OpennessRow, ...]:
    """Totals of open and closed models, each group's in ascending order."""
    groups: dict[str, list[float]] = {}
    for kind, total in published.select("type", TOTAL).drop_nulls().iter_rows():
        groups.setdefault(kind, []).append(total)
    return tuple(
        OpennessRow(kind, len(totals), min(totals), median(totals), max(totals), tuple(sorted(totals)))
        for kind, totals in sorted(groups.items())
    )


def parse_size(text: str) -> float | None:
    """Billions of parameters: the first number, the middle of a range, null for words.

    Args:
        text: as printed in the paper, such as `671B/37B (Total/Activated Parameters)` or `66.5B-130B (Estimated)`.
    """
    found = _SIZE.match(text)
    if found is None:
        return None
    first, unit, second, second_unit = found.groups()
    sizes = [float(first) * _BILLIONS[unit]]
    if second:
        sizes.append(float(second) * _BILLIONS[second_unit])
    return mean(sizes)


def sized_models(published: pl.DataFrame) -> tuple[SizedModel, ...]:
    """Published models with a size, by family and size."""
    found = [
        SizedModel(model, family_of(model), billions, "Estimated" in text, total)
        for model, text, total in published.select("model", "parameters", TOTAL).iter_rows()
        if text is not None and (billions := parse_size(text)) is not None
    ]
    return tuple(sorted(found, key=lambda entry: (entry.family, entry.billions, entry.model)))


def family_of(model: str) -> str:
    """Name up to its first whole number: `gpt-4o-mini` is of `gpt-4`."""
    found = _FAMILY.match(model)
    return found.group() if found else model


def core_points(published: pl.DataFrame, blueprint: Blueprint) -> tuple[CorePoint, ...]:
    """Foundational against core ability of the published models, with the blueprint's weights."""
    return tuple(
        point
        for row in published.iter_rows(named=True)
        if (point := _core_point(row["model"], row, blueprint, ours=False)) is not None
    )


def _our_core(blueprint: Blueprint, abilities: dict[Subject, dict[str, float | None]]) -> tuple[CorePoint, ...]:
    points = [_core_point(subject.label, scores, blueprint, ours=True) for subject, scores in abilities.items()]
    return tuple(point for point in points if point is not None)


def _core_point(label: str, scores: dict[str, Any], blueprint: Blueprint, *, ours: bool) -> CorePoint | None:
    weights = {ability.id: ability.weight for ability in blueprint.abilities if ability.id in CORE}
    values: dict[str, float] = {name: scores[name] for name in (FOUNDATIONAL, *weights) if scores.get(name) is not None}
    if not weights or len(values) < len(weights) + 1:
        return None
    core = sum(weights[name] * values[name] for name in weights) / sum(weights.values())
    return CorePoint(label, values[FOUNDATIONAL], core, ours)


def fit_curve(points: tuple[CorePoint, ...], steps: int = 40) -> tuple[tuple[float, float], ...]:
    """Least-squares parabola of core over foundational ability, as points along the observed range; none below four points."""
    xs = [point.foundational for point in points]
    if len(set(xs)) < 4:  # noqa: PLR2004  a parabola through three points fits anything
        return ()
    curve = np.polynomial.Polynomial.fit(xs, [point.core for point in points], deg=2)
    grid = np.linspace(min(xs), max(xs), steps)
    return tuple((float(x), float(curve(x))) for x in grid)
