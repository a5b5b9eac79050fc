"""Describe the published models of a paper: scores per ability, openness, size, and core against foundational ability."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import mean, median, quantiles
from typing import Any

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from tasks.analysis.number_format import number
from tasks.analysis.published_tables import TOTAL, PublishedTable

Row = dict[str, Any]

FOUNDATIONAL = "foundational"
CORE = ("emotional", "companionship")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([BT])(?:-(\d+(?:\.\d+)?)([BT]))?")
_FAMILY = re.compile(r"^[A-Za-z]+-?\d+")
_BILLIONS = {"B": 1.0, "T": 1000.0}
STEPS = 40
FEWEST_POINTS = 4
"""A parabola through three points fits anything."""


@dataclass(frozen=True)
class Fit:
    """A least-squares parabola.

    `coefficients`: of 1, x and x^2. `curve`: points along the observed range. `r_squared`: share of the variance of y that it
    explains. `correlation`: Pearson's r of x and y. Both null if y never varies.
    """

    coefficients: tuple[float, ...]
    r_squared: float | None
    correlation: float | None
    points: int
    curve: tuple[tuple[float, float], ...]

    @property
    def equation(self) -> str:
        """The parabola in figures, x and y named by letters."""
        constant, linear, square = self.coefficients
        return f"y = {number(constant, 2)} {_term(linear, 3)} x {_term(square, 4)} x²"


@dataclass(frozen=True)
class PublishedModels:
    """What the page of a published leaderboard shows besides the ranking.

    `settings`: a row per ability, the last one for the total, with its five numbers. `openness`: open-weight and closed models,
    `totals` ascending. `sizes`: models whose size is known or `estimated`, in `billions` of parameters, mixture experts all
    counted; `unsized`: number of the others. `core`: foundational ability against the weighted mean of the core abilities.
    `vetoed`: models without a rank; totals are those before the veto, theirs too.
    """

    settings: Mapping[str, list[Row]]
    openness: list[Row]
    sizes: list[Row]
    unsized: int
    core: list[Row]
    fit: Fit | None
    vetoed: int


def describe_published_models(paper: PublishedTable, blueprint: Blueprint) -> PublishedModels:
    """Describe a paper's models.

    Args:
        paper: the paper's table.
        blueprint: names the abilities, and weighs the core ones.
    """
    sizes, core = sized_models(paper.wide), core_points(paper.wide, blueprint)
    return PublishedModels(
        settings={setting: list(_setting_scores(paper, blueprint, setting)) for setting in paper.settings},
        openness=openness_rows(paper.wide),
        sizes=sizes,
        unsized=paper.wide.height - len(sizes),
        core=core,
        fit=fit_parabola([(point["foundational"], point["core"]) for point in core]),
        vetoed=paper.vetoed,
    )


def _setting_scores(paper: PublishedTable, blueprint: Blueprint, setting: str) -> Iterator[Row]:
    total = "Total, before the veto" if blueprint.gate else "Total"
    scores = [(main.title, paper.scores(main.id, setting)) for main in blueprint.abilities]
    return (_quartiles(title, values) for title, values in [*scores, (total, paper.scores(TOTAL, setting))] if values)


def _quartiles(title: str, values: list[float]) -> Row:
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    ends = {"low": min(values), "high": max(values)}
    return {"title": title, "quarter": low, "middle": middle, "three_quarters": high, **ends}


def openness_rows(published: pl.DataFrame) -> list[Row]:
    """Return totals of open and closed models."""
    if not {"type", TOTAL} <= set(published.columns):
        return []
    by_kind = published.select("type", TOTAL).drop_nulls().group_by("type").agg(pl.col(TOTAL).sort()).sort("type")
    return [{"kind": kind, "totals": totals, "middle": median(totals)} for kind, totals in by_kind.iter_rows()]


def parse_size(text: str) -> float | None:
    """Return billions of parameters: the first number, the middle of a range, null for words.

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


def sized_models(published: pl.DataFrame) -> list[Row]:
    """Return published models with a size, by family and size."""
    if not {"parameters", TOTAL} <= set(published.columns):
        return []
    found = [
        {"model": model, "family": family_of(model), "billions": billions, "estimated": "Estimated" in text, "total": total}
        for model, text, total in published.select("model", "parameters", TOTAL).iter_rows()
        if text is not None and (billions := parse_size(text)) is not None
    ]
    return sorted(found, key=itemgetter("family", "billions", "model"))


def family_of(model: str) -> str:
    """Name up to its first whole number: `gpt-4o-mini` is of `gpt-4`."""
    found = _FAMILY.match(model)
    return found.group() if found else model


def core_points(published: pl.DataFrame, blueprint: Blueprint) -> list[Row]:
    """Return foundational against core ability of the published models that have both, with the blueprint's weights."""
    weights = {ability.id: ability.weight for ability in blueprint.abilities if ability.id in CORE}
    if not weights or not {FOUNDATIONAL, *weights} <= set(published.columns):
        return []
    weighted = sum(pl.col(name) * weight for name, weight in weights.items()) / sum(weights.values())
    return published.select("model", FOUNDATIONAL, core=weighted).drop_nulls().to_dicts()


def fit_parabola(points: Sequence[tuple[float, float]]) -> Fit | None:
    """Fit y over x to pairs of x and y; null with fewer than four different x."""
    if len({x for x, _ in points}) < FEWEST_POINTS:
        return None
    xs, ys = np.array(points).T
    parabola = np.polynomial.Polynomial.fit(xs, ys, deg=2)
    spread, left = float(((ys - ys.mean()) ** 2).sum()), float(((ys - parabola(xs)) ** 2).sum())
    return Fit(
        tuple(map(float, np.pad(parabola.convert().coef, (0, 2))[:3])),
        r_squared=1 - left / spread if spread else None,
        correlation=float(np.corrcoef(xs, ys)[0, 1]) if spread else None,
        points=len(points),
        curve=tuple((float(x), float(parabola(x))) for x in np.linspace(xs.min(), xs.max(), STEPS)),
    )


def _term(value: float, digits: int) -> str:
    return f"{'−' if value < 0 else '+'} {number(abs(value), digits)}"
