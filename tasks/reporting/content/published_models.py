"""The published models as a field to stand in: distribution per ability, openness, size, and one ability against another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Any, Protocol

import polars as pl

from schemas.blueprint import Blueprint
from tasks.analysis.number_format import setting_title
from tasks.analysis.published_tables import TOTAL, PublishedTable
from tasks.analysis.run_tables import System
from tasks.reporting.content.benchmark import comparison_warning, is_comparable, paper_of
from tasks.reporting.figures.fits import Fit, fit_parabola

FOUNDATIONAL = "foundational"
CORE = ("emotional", "companionship")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([BT])(?:-(\d+(?:\.\d+)?)([BT]))?")
_FAMILY = re.compile(r"^[A-Za-z]+-?\d+")
_BILLIONS = {"B": 1.0, "T": 1000.0}


@dataclass(frozen=True)
class BoxRow:
    """Five numbers of one score over the published models, and where the systems of the run stand (null = not scored)."""

    id: str
    title: str
    low: float
    quarter: float
    middle: float
    three_quarters: float
    high: float
    ours: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True)
class FieldGroup:
    """The published models asked in one setting, with the run's systems asked in the same one. The last box is the total."""

    setting: str
    title: str
    models: int
    boxes: tuple[BoxRow, ...]


@dataclass(frozen=True)
class ResultRow:
    """A published model or a system of the run with its abilities' scores, in the order of the boxes; the last is the total."""

    model: str
    setting: str
    ours: bool
    scores: tuple[float | None, ...]


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
class PublishedModels:
    """Everything the report sets beside the published table.

    `results` lists all models of a table that has several settings; a table of one setting is told by its boxes.
    """

    paper: str
    groups: tuple[FieldGroup, ...]
    results: tuple[ResultRow, ...]
    openness: tuple[OpennessRow, ...]
    sizes: tuple[SizedModel, ...]
    unsized: int
    core: tuple[CorePoint, ...]
    fit: Fit | None
    systems: tuple[tuple[str, float | None], ...]
    vetoed: int
    """Published models without a rank; their totals are before the veto."""

    comparable: bool
    """Whether the run asked what the published models were asked."""

    warning: str | None
    """What to know before comparing; null if nothing stands against it."""

    @property
    def heads(self) -> tuple[str, ...]:
        """Titles of the abilities and the total."""
        return tuple(box.title for box in self.groups[0].boxes)


class ScoredModel(Protocol):
    """Models with scores that can be set beside a paper's: those of a run, or of a leaderboard."""

    @property
    def blueprint(self) -> Blueprint:
        """What was measured."""

    @property
    def paper(self) -> PublishedTable:
        """The paper's table."""

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings in the order in which they are shown."""

    @property
    def ability(self) -> pl.DataFrame:
        """Rows of `ability_scores`."""

    @property
    def totals(self) -> pl.DataFrame:
        """Rows of `totals`."""

    def systems(self) -> tuple[System, ...]:
        """Who is scored."""


def describe_field(data: ScoredModel) -> PublishedModels | None:
    """Everything shown beside the published table; null if the blueprint shares no ability or no setting with it."""
    groups = tuple(
        _group(data, setting) for setting in data.paper.settings if setting in data.settings and _shared(data, setting)
    )
    if not groups:
        return None
    systems, wide = data.systems(), data.paper.wide
    abilities = {system: _scores(data, system) for system in systems}
    sizes = sized_models(wide)
    core = core_points(wide, data.blueprint) + _our_core(data.blueprint, abilities) if wide.height else ()
    return PublishedModels(
        paper=paper_of(data.blueprint).title,
        groups=groups,
        results=_results(data, groups) if len(data.paper.settings) > 1 else (),
        openness=openness_rows(wide),
        sizes=sizes,
        unsized=wide.height - len(sizes),
        core=core,
        fit=fit_parabola(tuple((point.foundational, point.core) for point in core if not point.ours)),
        systems=tuple((system.label, _total(data, system)) for system in systems),
        vetoed=data.paper.vetoed,
        comparable=is_comparable(data.blueprint),
        warning=comparison_warning(data.blueprint),
    )


def _shared(data: ScoredModel, setting: str) -> list[tuple[str, str]]:
    return [(ability.id, ability.title) for ability in data.blueprint.abilities if data.paper.ability(ability.id, setting)]


def _group(data: ScoredModel, setting: str) -> FieldGroup:
    systems = [system for system in data.systems() if system.setting == setting]
    scores = {system: _scores(data, system) for system in systems}
    boxes = [
        _box(ability, title, data.paper.ability(ability, setting), tuple((s.label, scores[s].get(ability)) for s in systems))
        for ability, title in _shared(data, setting)
    ]
    totals, ours = data.paper.total(setting), tuple((system.label, _total(data, system)) for system in systems)
    total = [_box(TOTAL, "Total, before the veto" if data.blueprint.gate else "Total", totals, ours)] if totals else []
    return FieldGroup(setting, setting_title(setting), len(totals), (*boxes, *total))


def _results(data: ScoredModel, groups: tuple[FieldGroup, ...]) -> tuple[ResultRow, ...]:
    """Published models and systems of the shared settings, setting by setting, the highest total first."""
    rows = [row for group in groups for row in (*_published_results(data, group), *_our_results(data, group))]
    places = [group.setting for group in groups]
    return tuple(sorted(rows, key=lambda row: (places.index(row.setting), -(row.scores[-1] or 0.0), row.model)))


def _published_results(data: ScoredModel, group: FieldGroup) -> Iterator[ResultRow]:
    scores = {(row["model"], row["ability"]): row["score_0_100"] for row in _in(data.paper.scores, group)}
    for row in _in(data.paper.totals, group):
        values = [scores.get((row["model"], box.id)) for box in group.boxes if box.id != TOTAL]
        yield ResultRow(row["model"], group.setting, ours=False, scores=(*values, row["total"]))


def _our_results(data: ScoredModel, group: FieldGroup) -> Iterator[ResultRow]:
    for system in data.systems():
        if system.setting == group.setting:
            scores = _scores(data, system)
            values = [scores.get(box.id) for box in group.boxes if box.id != TOTAL]
            yield ResultRow(system.model, group.setting, ours=True, scores=(*values, _total(data, system)))


def _in(frame: pl.DataFrame, group: FieldGroup) -> list[dict[str, Any]]:
    return frame.filter(pl.col("setting") == group.setting).to_dicts()


def _scores(data: ScoredModel, system: System) -> dict[str, float | None]:
    return {row["ability"]: row["score_0_100"] for row in system.rows(data.ability)}


def _total(data: ScoredModel, system: System) -> float | None:
    return next((row["total_before_veto"] for row in system.rows(data.totals)), None)


def _box(name: str, title: str, values: list[float], ours: tuple[tuple[str, float | None], ...]) -> BoxRow:
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return BoxRow(name, title, min(values), low, middle, high, max(values), ours)


def openness_rows(published: pl.DataFrame) -> tuple[OpennessRow, ...]:
    """Totals of open and closed models, each group's in ascending order."""
    if not {"type", TOTAL} <= set(published.columns):
        return ()
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
    if not {"parameters", TOTAL} <= set(published.columns):
        return ()
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


def _our_core(blueprint: Blueprint, abilities: dict[System, dict[str, float | None]]) -> tuple[CorePoint, ...]:
    points = [_core_point(system.label, scores, blueprint, ours=True) for system, scores in abilities.items()]
    return tuple(point for point in points if point is not None)


def _core_point(label: str, scores: dict[str, Any], blueprint: Blueprint, *, ours: bool) -> CorePoint | None:
    weights = {ability.id: ability.weight for ability in blueprint.abilities if ability.id in CORE}
    values: dict[str, float] = {name: scores[name] for name in (FOUNDATIONAL, *weights) if scores.get(name) is not None}
    if not weights or len(values) < len(weights) + 1:
        return None
    core = sum(weights[name] * values[name] for name in weights) / sum(weights.values())
    return CorePoint(label, values[FOUNDATIONAL], core, ours)
