"""Describe the published models of a paper: scores per ability, openness, size, and core against foundational ability."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.model_description import parse_size
from schemas.table import Cell, Column, Table, Value, columns
from tasks.scoring.published import BASE_SETTING, TOTAL, PublishedTable
from tasks.solvers.registry import setting_title
from tasks.text.number_format import number, weight

FOUNDATIONAL = "foundational"
CORE = ("emotional", "companionship")
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


@dataclass(frozen=True, eq=False)
class PublishedModels:
    """What the page of a published leaderboard shows besides the ranking.

    `settings`: of each rows of title and quartiles, from lowest. `gains`: over base by model, setting and ability. `openness`:
    scores as `openness_scores` returns them. `sizes`: models as `sized_models` does; `unsized`: names of the others. `core`:
    foundational ability against the core ones. `fits`: over `all` models and over the `ranked` ones; null with too few. `vetoed`:
    models without a rank; totals are those before the veto, theirs too.
    """

    settings: Mapping[str, list[tuple[str, tuple[float, ...]]]]
    gains: Table
    openness: pl.DataFrame
    sizes: pl.DataFrame
    unsized: list[str]
    core: pl.DataFrame
    fits: Mapping[str, Fit | None]
    vetoed: int

    def quartiles_table(self, setting: str) -> Table:
        """Scores per ability in a setting."""
        scores = columns("score", "Lowest", "Quarter", "Median", "Three quarters", "Highest", digits=1)
        rows: list[tuple[Value, ...]] = [(title, *quartiles) for title, quartiles in self.settings[setting]]
        return Table((Column("Score", "name"), *scores), rows, "Published scores per ability")

    @property
    def openness_table(self) -> Table:
        """Number, mean and median of open and closed models by ability."""
        heads = (*columns("count", "All"), *columns("score", "Mean of all", "Median of all"))
        heads += (*columns("count", "Ranked"), *columns("score", "Mean of ranked", "Median of ranked"))
        scores = (pl.col("score"), pl.col("score").filter("ranked"))
        values = [value for of in scores for value in (of.len(), of.mean(), of.median())]
        averages = [value.alias(head.title) for head, value in zip(heads, values, strict=True)]
        grouped = self.openness.group_by("title", "kind", maintain_order=True).agg(averages)
        rows = [(Cell(title, kind), *row) for title, kind, *row in grouped.iter_rows()]
        return Table((Column("Score", "name"), *heads), rows, "Open and closed models")

    @property
    def sizes_table(self) -> Table:
        """Totals and sizes."""
        rows = []
        for model, family, billions, low, high, estimated, total in self.sizes.iter_rows():
            printed = f"{weight(low)} to {weight(high)}" if low < high else weight(billions)
            rows.append((model, family, Cell(printed, "estimated" if estimated else ""), total))
        numbers = (Column("Parameters, billions", "number", 1), Column("Total", "score"))
        return Table((*columns("name", "Model", "Family"), *numbers), rows, "Totals and sizes")

    @property
    def core_table(self) -> Table:
        """Core and foundational ability."""
        scores = columns("score", "Foundational", "Core", digits=1)
        rows = self.core.select("model", FOUNDATIONAL, "core").rows()
        return Table((Column("Model", "name"), *scores), rows, "Core and foundational ability")


def describe_published_models(paper: PublishedTable, blueprint: Blueprint) -> PublishedModels:
    """Describe the models of a paper's table; the blueprint names the abilities, and weighs the core ones."""
    sizes, core = sized_models(paper.wide), core_points(paper.wide, blueprint)
    titles = titled_scores(paper, blueprint)
    chosen = {"all": core, "ranked": core.filter("ranked")} if core.height else {}
    return PublishedModels(
        settings={setting: list(_quartiles(paper, titles, setting)) for setting in paper.settings},
        gains=gains_table(paper.wide, titles),
        openness=openness_scores(paper.wide, titles),
        sizes=sizes,
        unsized=[model for model in paper.wide["model"] if sizes.height and model not in sizes["model"]],
        core=core,
        fits={name: fit_parabola(points.select(FOUNDATIONAL, "core").rows()) for name, points in chosen.items()},
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
    heads = (*columns("name", "Model", "Setting"), *columns("difference", *titles.values()))
    return Table(heads, joined.select("model", setting, *differences).rows(), "Published gains over base")


def openness_scores(published: pl.DataFrame, titles: Mapping[str, str]) -> pl.DataFrame:
    """Return title, kind (open or closed), score and whether it is ranked, of every model and ability."""
    if "type" not in published.columns:
        return pl.DataFrame(schema=["title", "kind", "score", "ranked"])
    order = {name: index for index, name in enumerate(titles)}
    long = published.unpivot(list(titles), index=["type", "ranked"], variable_name="name", value_name="score").drop_nulls()
    ordered = long.sort(pl.col("name").replace_strict(order), "type", "score")
    return ordered.select(pl.col("name").replace_strict(titles).alias("title"), pl.col("type").alias("kind"), "score", "ranked")


def sized_models(published: pl.DataFrame) -> pl.DataFrame:
    """Return published models with a size, by family and size, in billions of parameters, those of all experts.

    A range from `low` to `high` stands at its middle.
    """
    has_sizes = {"parameters", "series", TOTAL} <= set(published.columns)
    printed = published.drop_nulls("parameters").select("model", "series", "parameters", TOTAL) if has_sizes else pl.DataFrame()
    sized = [
        (model, family, mean(size), *size, "Estimated" in text, total)
        for model, family, text, total in printed.iter_rows()
        if (size := parse_size(text)) is not None
    ]
    names = ["model", "family", "billions", "low", "high", "estimated", "total"]
    return pl.DataFrame(sized, schema=names, orient="row").sort("family", "billions", "model")


def core_points(published: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return foundational against core ability of the published models that have both, with the blueprint's weights."""
    weights = {ability.id: ability.weight for ability in blueprint.abilities if ability.id in CORE}
    if not weights or not {FOUNDATIONAL, *weights} <= set(published.columns):
        return pl.DataFrame(schema=["model", FOUNDATIONAL, "ranked", "core"])
    weighted = sum(pl.col(name) * weight for name, weight in weights.items()) / sum(weights.values())
    return published.select("model", FOUNDATIONAL, "ranked", core=weighted).drop_nulls()


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
