"""Describe the published models of a paper: scores per ability, openness, size, and core against foundational ability."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from statistics import mean, median, quantiles
from typing import NamedTuple

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.table import Cell, Column, Table
from tasks.scoring.published import BASE_SETTING, TOTAL, PublishedTable
from tasks.solvers.registry import setting_title
from tasks.text.number_format import number, weight

FOUNDATIONAL = "foundational"
CORE = ("emotional", "companionship")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([BT])?(?:-(\d+(?:\.\d+)?)([BT]))?(?=[ /]|$)")
_BILLIONS = {"B": 1.0, "T": 1000.0}
STEPS = 40
NEAR = 1.0
"""Points below the best score within which the page marks a score."""

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


class Averages(NamedTuple):
    """Scores from the lowest, their mean and their median; null where there are none."""

    scores: tuple[float, ...]
    mean: float | None
    middle: float | None


class OpennessRow(NamedTuple):
    """An ability of one kind of model: of all of them, and of the ranked ones."""

    title: str
    kind: str
    every: Averages
    ranked: Averages


class SizedModel(NamedTuple):
    """A model whose size is known or `estimated`, in billions of parameters of all its experts; `low` and `high` of a range."""

    model: str
    family: str
    billions: float
    low: float
    high: float
    estimated: bool
    total: float


class CorePoint(NamedTuple):
    """Foundational ability of a model against the weighted mean of the core abilities."""

    model: str
    foundational: float
    ranked: bool
    core: float


@dataclass(frozen=True)
class PublishedModels:
    """What the page of a published leaderboard shows besides the ranking.

    `settings`: of each rows of title and quartiles, from lowest. `gains`: over base by model, setting and ability. `unsized`:
    models without a size. `fits`: over `all` models and over the `ranked` ones; null with too few. `vetoed`: models without a
    rank; totals are those before the veto, theirs too.
    """

    settings: Mapping[str, list[tuple[str, tuple[float, ...]]]]
    gains: Table
    openness: list[OpennessRow]
    sizes: list[SizedModel]
    unsized: list[str]
    core: list[CorePoint]
    fits: Mapping[str, Fit | None]
    vetoed: int

    def quartiles_table(self, setting: str) -> Table:
        """Scores per ability in a setting."""
        heads = ("Lowest", "Quarter", "Median", "Three quarters", "Highest")
        columns = (Column("Score", "name"), *(Column(head, "score", 1) for head in heads))
        return Table(columns, [(title, *scores) for title, scores in self.settings[setting]], "Published scores per ability")

    @property
    def openness_table(self) -> Table:
        """Number, mean and median of open and closed models by ability."""
        of_each = (
            (Column(head, "count"), Column(f"Mean of {head.lower()}", "score"), Column(f"Median of {head.lower()}", "score"))
            for head in ("All", "Ranked")
        )
        rows = [
            (
                Cell(row.title, row.kind),
                *(value for of in (row.every, row.ranked) for value in (len(of.scores), of.mean, of.middle)),
            )
            for row in self.openness
        ]
        return Table((Column("Score", "name"), *chain(*of_each)), rows, "Open and closed models")

    @property
    def sizes_table(self) -> Table:
        """Totals and sizes."""
        columns = (Column("Model", "name"), Column("Family", "name"), Column("Parameters, billions", "number", 1))
        rows = []
        for row in self.sizes:
            between = f"{weight(row.low)} to {weight(row.high)}" if row.low < row.high else ""
            size = Cell(row.billions, "; ".join(filter(None, (between, "estimated" if row.estimated else ""))))
            rows.append((row.model, row.family, size, row.total))
        return Table((*columns, Column("Total", "score")), rows, "Totals and sizes")

    @property
    def core_table(self) -> Table:
        """Core and foundational ability."""
        columns = (Column("Model", "name"), Column("Foundational", "score", 1), Column("Core", "score", 1))
        return Table(columns, [(row.model, row.foundational, row.core) for row in self.core], "Core and foundational ability")


def describe_published_models(paper: PublishedTable, blueprint: Blueprint) -> PublishedModels:
    """Describe the models of a paper's table; the blueprint names the abilities, and weighs the core ones."""
    sizes, core = sized_models(paper.wide), core_points(paper.wide, blueprint)
    titles, sized = titled_scores(paper, blueprint), {row.model for row in sizes}
    chosen = {"all": core, "ranked": [point for point in core if point.ranked]} if core else {}
    return PublishedModels(
        settings={setting: list(_quartiles(paper, titles, setting)) for setting in paper.settings},
        gains=gains_table(paper.wide, titles),
        openness=openness_rows(paper.wide, titles),
        sizes=sizes,
        unsized=[model for model in paper.wide["model"] if sized and model not in sized],
        core=core,
        fits={name: fit_parabola([(point.foundational, point.core) for point in points]) for name, points in chosen.items()},
        vetoed=paper.vetoed,
    )


def titled_scores(paper: PublishedTable, blueprint: Blueprint) -> dict[str, str]:
    """Return titles of the abilities that the table has, the total's last, by column."""
    total = "Total, before the veto" if blueprint.gate else "Total"
    titles = {**{main.id: main.title for main in blueprint.abilities}, TOTAL: total}
    return {name: title for name, title in titles.items() if name in paper.wide.columns}


def _quartiles(paper: PublishedTable, titles: Mapping[str, str], setting: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    for name, title in titles.items():
        if values := paper.scores(name, setting):
            inner = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
            yield title, (min(values), *inner, max(values))


def gains_table(published: pl.DataFrame, titles: Mapping[str, str]) -> Table:
    """Return what a model gains in a setting over base: differences of printed scores, null where one of them is."""
    base, others = (published.filter((pl.col("setting") == BASE_SETTING) == is_base) for is_base in (True, False))
    differences = (pl.col(name) - pl.col(f"{name}_right") for name in titles)
    joined = others.join(base, on="model", maintain_order="left")
    setting = pl.col("setting").map_elements(setting_title, pl.String)
    columns = (Column("Model", "name"), Column("Setting", "name"), *(Column(title, "difference") for title in titles.values()))
    return Table(columns, joined.select("model", setting, *differences).rows(), "Published gains over base")


def openness_rows(published: pl.DataFrame, titles: Mapping[str, str]) -> list[OpennessRow]:
    """Return scores of open and closed models by ability."""
    if "type" not in published.columns:
        return []
    rows = []
    for name, title in titles.items():
        kinds = published.drop_nulls(["type", name]).sort("type", name).partition_by("type", as_dict=True, maintain_order=True)
        for (kind,), models in kinds.items():
            rows.append(OpennessRow(title, kind, _averages(models[name]), _averages(models.filter("ranked")[name])))
    return rows


def _averages(scores: pl.Series) -> Averages:
    values = tuple(scores)
    return Averages(values, mean(values) if values else None, median(values) if values else None)


def parse_size(text: str) -> tuple[float, float] | None:
    """Return lowest and highest billions of parameters of `671B/37B (Total/Activated Parameters)` or `50-60B (Estimated)`.

    The size before a slash counts all experts; null for words.
    """
    found = _SIZE.match(text)
    if found is None:
        return None
    low, unit, high, last_unit = found.groups(default="")
    unit, last_unit = unit or last_unit, last_unit or unit
    return (float(low) * _BILLIONS[unit], float(high or low) * _BILLIONS[last_unit]) if unit else None


def sized_models(published: pl.DataFrame) -> list[SizedModel]:
    """Return published models with a size, by family and size; a range stands at its middle."""
    if not {"parameters", "series", TOTAL} <= set(published.columns):
        return []
    rows = published.drop_nulls("parameters").select("model", "series", "parameters", TOTAL).iter_rows()
    sized = [
        SizedModel(model, family, mean(size), *size, estimated="Estimated" in text, total=total)
        for model, family, text, total in rows
        if (size := parse_size(text)) is not None
    ]
    return sorted(sized, key=attrgetter("family", "billions", "model"))


def core_points(published: pl.DataFrame, blueprint: Blueprint) -> list[CorePoint]:
    """Return foundational against core ability of the published models that have both, with the blueprint's weights."""
    weights = {ability.id: ability.weight for ability in blueprint.abilities if ability.id in CORE}
    if not weights or not {FOUNDATIONAL, *weights} <= set(published.columns):
        return []
    weighted = sum(pl.col(name) * weight for name, weight in weights.items()) / sum(weights.values())
    points = published.select("model", FOUNDATIONAL, "ranked", core=weighted).drop_nulls()
    return [CorePoint(*point) for point in points.iter_rows()]


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
