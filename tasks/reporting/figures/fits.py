"""A curve through a cloud of points, and how well it describes them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.analysis.number_format import number

STEPS = 40
FEWEST_PLACES = 4
"""A parabola through three points fits anything."""


@dataclass(frozen=True)
class Fit:
    """A least-squares parabola y = constant + linear x + square x^2.

    `curve`: points of it along the observed range. `r_squared`: share of the variance of y it explains. `correlation`: Pearson's
    r of x and y. Both null if y never varies.
    """

    constant: float
    linear: float
    square: float
    r_squared: float | None
    correlation: float | None
    points: int
    curve: tuple[tuple[float, float], ...]

    @property
    def equation(self) -> str:
        """The parabola in figures, x and y named by letters."""
        return f"y = {number(self.constant, 2)} {_term(self.linear, 3)} x {_term(self.square, 4)} x²"


def fit_parabola(points: Sequence[tuple[float, float]], steps: int = STEPS) -> Fit | None:
    """Fit y over x; null with fewer than four different x.

    Args:
        points: (x, y) pairs.
        steps: points of the curve, both ends included.
    """
    if len({x for x, _ in points}) < FEWEST_PLACES:
        return None
    xs, ys = np.array(points).T
    parabola = np.polynomial.Polynomial.fit(xs, ys, deg=2)
    spread, left = float(((ys - ys.mean()) ** 2).sum()), float(((ys - parabola(xs)) ** 2).sum())
    constant, linear, square = (float(value) for value in np.pad(parabola.convert().coef, (0, 2))[:3])
    return Fit(
        constant,
        linear,
        square,
        r_squared=1 - left / spread if spread else None,
        correlation=float(np.corrcoef(xs, ys)[0, 1]) if spread else None,
        points=len(points),
        curve=tuple((float(x), float(parabola(x))) for x in np.linspace(xs.min(), xs.max(), steps)),
    )


def _term(value: float, digits: int) -> str:
    return f"{'−' if value < 0 else '+'} {number(abs(value), digits)}"
