"""Figure of core against foundational ability, with fitted curves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Curve, Point
from schemas.table import Column, Table, columns
from tasks.runs.exhibits import ORIGIN, ModelRow, origin_of
from tasks.text.number_format import counted, listed, number, percent

FOUNDATIONAL, CORE = "foundational", ("emotional", "companionship")
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


class CorePoint(NamedTuple):
    """A model with its foundational ability and the mean of the core ones."""

    row: ModelRow
    foundational: float
    core: float


def core_point(row: ModelRow, blueprint: Blueprint) -> CorePoint | None:
    """Return the abilities of a model, the core ones with the blueprint's weights; null if one has no score."""
    weights = {main.id: main.weight for main in blueprint.abilities if main.id in CORE}
    scores = {name: score for name in (FOUNDATIONAL, *weights) if (score := row.abilities.get(name)) is not None}
    if len(scores) <= len(weights) or not any(weights.values()):
        return None
    core = sum(scores[name] * weight for name, weight in weights.items()) / sum(weights.values())
    return CorePoint(row, scores[FOUNDATIONAL], core)


def draw_core(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the figure, if there are two models or more."""
    points = [point for row in rows if (point := core_point(row, blueprint))]
    if len(points) > 1:
        yield _describe_core(points, f"Core and foundational ability{where}")


def _describe_core(points: Sequence[CorePoint], title: str) -> Chart:
    fits = fit_core(points)
    shares = [f"{percent(fit.r_squared)} over {models}" for models, fit in fits.items()]
    few = f"{counted(len(points), 'model')} are too few to fit a curve of the core over foundational ability"
    words = f"A parabola of foundational ability explains of the core's variance {listed(shares)}" if fits else few
    curves = [
        f"{models}: R² {number(fit.r_squared, 2)}, Pearson's r {number(fit.correlation, 2)}, {fit.equation}"
        for models, fit in fits.items()
    ]
    lines = [(row.model, x, y, *origin_of(row)) for row, x, y in points]
    table = Table((Column("Model", "name"), *columns("score", "Foundational", "Core"), *ORIGIN), lines, title)
    note = "Core: the weighted mean of emotional and companionship ability. Hollow dots: not ranked."
    return Chart(
        title,
        f"{words}.",
        "points",
        tuple(
            Point(x, y, row.model if row.run else "", is_hollow=not row.rank, is_own=row.run is not None) for row, x, y in points
        ),
        table.without_constant(*(column.title for column in ORIGIN)),
        Axis("foundational ability"),
        Axis("emotional and companionship"),
        tuple(Curve(fit.curve, is_main=models == [*fits][-1]) for models, fit in fits.items()),
        f"{note} Curve, the last one darker, with x foundational and y core: {'; '.join(curves)}." if fits else note,
    )


def fit_core(points: Sequence[CorePoint]) -> dict[str, Fit]:
    """Return a curve over all models, of a paper where there are any, and one over the ranked ones, by what they are over."""
    fitted = [point for point in points if point.row.run is None] or points
    ranked = [point for point in fitted if point.row.rank]
    over = {f"all {counted(len(fitted), 'model')}": fitted}
    over |= {f"the {len(ranked)} ranked": ranked} if len(ranked) < len(fitted) else {}
    fits = {models: fit_parabola([(point.foundational, point.core) for point in of]) for models, of in over.items()}
    return {models: fit for models, fit in fits.items() if fit and fit.r_squared is not None}


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
