"""Figure of core against foundational ability, with fitted curves."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Point
from schemas.table import Column, Table, columns
from tasks.runs.exhibits import ORIGIN, ModelRow, origin_of, without_origin
from tasks.text.number_format import counted, listed, number, percent

FOUNDATIONAL, CORE = "foundational", ("emotional", "companionship")
STEPS = 40
FEWEST_POINTS = 4
"""A parabola through three points fits anything."""


class Fit(NamedTuple):
    """A least-squares parabola of y over x.

    `coefficients`: of 1, x and x^2. `curve`: points along the observed range. `r_squared`: share of the variance of y that it
    explains. `correlation`: Pearson's r of x and y.
    """

    coefficients: tuple[float, ...]
    r_squared: float
    correlation: float
    curve: tuple[tuple[float, float], ...]

    @property
    def words(self) -> str:
        """How well it fits, and the parabola in figures."""
        constant, linear, square = (f"{value:+.{digits}f}" for value, digits in zip(self.coefficients, (2, 3, 4), strict=True))
        equation = f"y = {constant} {linear} x {square} x²".replace("-", "−")
        return f"R² {number(self.r_squared, 2)}, Pearson's r {number(self.correlation, 2)}, {equation}"


def fit_parabola(points: Sequence[tuple[float, float]]) -> Fit | None:
    """Fit y over x to pairs of x and y; null with fewer than four different x, or if y never varies."""
    if len({x for x, _ in points}) < FEWEST_POINTS or len({y for _, y in points}) == 1:
        return None
    xs, ys = np.array(points).T
    parabola = np.polynomial.Polynomial.fit(xs, ys, deg=2)
    return Fit(
        tuple(map(float, np.pad(parabola.convert().coef, (0, 2))[:3])),
        r_squared=float(1 - ((ys - parabola(xs)) ** 2).sum() / ((ys - ys.mean()) ** 2).sum()),
        correlation=float(np.corrcoef(xs, ys)[0, 1]),
        curve=tuple((float(x), float(parabola(x))) for x in np.linspace(xs.min(), xs.max(), STEPS)),
    )


def core_of(row: ModelRow, blueprint: Blueprint) -> float | None:
    """Return the mean of the core abilities by the blueprint's weights; null if one has no score."""
    weights = {main.id: main.weight for main in blueprint.abilities if main.id in CORE}
    scores = {name: score for name in weights if (score := row.abilities.get(name)) is not None}
    if len(scores) < len(weights) or not any(weights.values()):
        return None
    return sum(scores[name] * weight for name, weight in weights.items()) / sum(weights.values())


def draw_core(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the figure, if there are two models or more; curves are over a paper's where there are any, and its ranked ones."""
    both = [(row, row.abilities.get(FOUNDATIONAL), core_of(row, blueprint)) for row in rows]
    points = [(row, x, y) for row, x, y in both if x is not None and y is not None]
    fitted = [point for point in points if point[0].run is None] or points
    ranked = [point for point in fitted if point[0].rank]
    over = {f"all {counted(len(fitted), 'model')}": fitted} | ({f"the {len(ranked)} ranked": ranked} if ranked != fitted else {})
    fits = {models: fit for models, of in over.items() if (fit := fit_parabola([(x, y) for _, x, y in of]))}
    shares = listed([f"{percent(fit.r_squared)} over {models}" for models, fit in fits.items()]) if fits else ""
    few = f"{counted(len(points), 'model')} are too few to fit a curve of the core over foundational ability."
    curves = "; ".join(f"{models}: {fit.words}" for models, fit in fits.items())
    heads = (Column("Model", "name"), *columns("score", "Foundational", "Core"), *ORIGIN)
    title = f"Core and foundational ability{where}"
    if len(points) > 1:
        yield Chart(
            title,
            f"Of the core's variance a parabola of foundational ability explains {shares}." if shares else few,
            "points",
            tuple(
                Point(x, y, row.model if row.run else "", is_hollow=not row.rank, is_own=row.run is not None)
                for row, x, y in points
            ),
            without_origin(Table(heads, [(row.model, x, y, *origin_of(row)) for row, x, y in points], title)),
            Axis("foundational ability, x"),
            Axis("core, y"),
            tuple(fit.curve for fit in fits.values()),
            f"Core: the weighted mean of emotional and companionship ability. Hollow: not ranked. Curves: {curves or 'none'}.",
        )
