"""Figures of any benchmark's models: scores by ability, by openness, family and size where these are said; gains over base.

Where a paper's models stand beside one's own, statistics are of the paper's, and one's own are drawn into the same figure.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import mean, median
from typing import NamedTuple

import polars as pl

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Point, quartiles
from schemas.model_description import ModelSize
from schemas.table import Column, Interval, Table, columns
from tasks.runs.exhibits import ORIGIN, Exhibit, ModelRow, RankedModels, origin_of, with_total
from tasks.runs.sections import Block
from tasks.scoring.published import BASE_SETTING
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, listed, number, weight

FEWEST = 3
"""Models that a box needs."""

KINDS = {"closed": "closed", "open": "open", "domain": "domain-specific"}
READ_STRIPS = "Thin line: a model; dark line: the median; dot: the mean."
Score = Callable[[ModelRow], float | None]
Scored = list[tuple[ModelRow, float]]
Draw = Callable[[Sequence[ModelRow], Blueprint, str], Iterator[Chart]]
"""Makes figures of the models of one setting; the text ends their titles."""


def score_titles(blueprint: Blueprint) -> dict[str, Score]:
    """Return what is measured of a model by title: each ability, and last the total before the veto."""
    mains = {main.title: _ability(main.id) for main in blueprint.abilities if main.evaluated}
    return {**mains, "Total, before the veto" if blueprint.gate else "Total": total_of}


def total_of(row: ModelRow) -> float | None:
    """Return the total before the veto."""
    return row.total_before_veto


def _ability(name: str) -> Score:
    return lambda row: row.abilities.get(name)


def scored(rows: Sequence[ModelRow], score: Score = total_of) -> Scored:
    """Return the rows that have a score, with it."""
    return [(row, value) for row in rows if (value := score(row)) is not None]


def basis(rows: Sequence[ModelRow]) -> Sequence[ModelRow]:
    """Return the rows that statistics are of: a paper's, or all if there are none of it."""
    return [row for row in rows if row.run is None] or rows


def values_of(pairs: Scored) -> list[float]:
    """Return the scores alone."""
    return [value for _, value in pairs]


def dots(pairs: Scored, row: str) -> Iterator[Point]:
    """Yield scores as values of a row of boxes or strips."""
    yield from (Point(value, row, is_own=model.run is not None) for model, value in pairs)


def in_each_setting(draw: Draw) -> Callable[[RankedModels], Iterator[Block]]:
    """Return what lays out a figure for each setting, as a block of its own."""

    def lay_out(models: RankedModels) -> Iterator[Block]:
        for setting in models.settings:
            where = f": {setting_title(setting)}" if len(models.settings) > 1 else ""
            rows = with_total(models.in_setting(setting).rows)
            yield from (Block(charts=(chart,)) for chart in draw(rows, models.blueprint, where))

    return lay_out


def _draw_abilities(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield a box plot of each ability and of the total."""
    scores = score_titles(blueprint)
    measured = {title: values_of(scored(basis(rows), score)) for title, score in scores.items()}
    boxes = {title: quartiles(values) for title, values in measured.items() if len(values) >= FEWEST}
    if not boxes:
        return
    *abilities, total = boxes
    words = f"Half of {counted(len(measured[total]), 'model')} have a total"
    words += f" from {number(boxes[total][1])} to {number(boxes[total][3])}"
    if len(abilities) > 1:
        lowest, highest = (end(abilities, key=lambda title: boxes[title][2]) for end in (min, max))
        most, least = (number(boxes[title][2]) for title in (highest, lowest))
        words += f"; {highest} has the highest median ({most}), {lowest} the lowest ({least})"
    heads = columns("score", "Lowest", "Quarter", "Median", "Three quarters", "Highest")
    yield Chart(
        f"Scores by ability{where}",
        f"{words}.",
        "boxes",
        tuple(dot for title in boxes for dot in dots(scored(rows, scores[title]), title)),
        Table((Column("Score", "name"), *heads), [(title, *ends) for title, ends in boxes.items()], f"Scores by ability{where}"),
        note="Box: the middle half of the models; dark line: the median; thin line: the range.",
    )


def _draw_openness(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the scores of open, closed and domain-specific models, where there are two of these kinds."""
    kinds = {title: [row for row in rows if row.about and row.about.openness == kind] for kind, title in KINDS.items()}
    kinds = {title: of_kind for title, of_kind in kinds.items() if of_kind}
    if len(kinds) < 2:  # noqa: PLR2004
        return
    points: list[Point] = []
    lines = []
    for title, score in score_titles(blueprint).items():
        for kind, of_kind in kinds.items():
            points += dots(scored(of_kind, score), f"{title}: {kind}")
            pairs = scored(basis(of_kind), score)
            lines.append((title, kind, *_averages(pairs), *_averages([pair for pair in pairs if pair[0].rank])))
    medians = {kind: number(median(values_of(scored(basis(of_kind))))) for kind, of_kind in kinds.items()}
    said = [
        f"{kind} {'ones' if n else 'models have a median total of'} {total}" for n, (kind, total) in enumerate(medians.items())
    ]
    heads = (*columns("name", "Score", "Models"), Column("All", "count"), *columns("score", "Mean of all", "Median of all"))
    heads += (Column("Ranked", "count"), *columns("score", "Mean of ranked", "Median of ranked"))
    yield Chart(
        f"Open and closed models{where}",
        f"{', '.join(said).capitalize()}.",
        "strips",
        tuple(points),
        Table(heads, lines, f"Open and closed models{where}"),
        note=f"{READ_STRIPS} The numbers are also there without models that have no rank.",
    )


def _averages(pairs: Scored) -> tuple[int, float | None, float | None]:
    values = values_of(pairs)
    return len(values), mean(values) if values else None, median(values) if values else None


def _draw_families(rows: Sequence[ModelRow], _blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the totals of families with several models, the best family first; none where there is no second one."""
    series = sorted({row.about.series for row in rows if row.about and row.about.series})
    families = {name: [row for row in rows if row.about and row.about.series == name] for name in series}
    totals = {name: values_of(scored(basis(members))) for name, members in families.items()}
    ends = {name: quartiles(values) for name, values in totals.items() if len(values) > 1}
    if len(ends) < 2:  # noqa: PLR2004
        return
    order = sorted(ends, key=lambda name: -ends[name][2])
    highest, lowest = (number(ends[name][2]) for name in (order[0], order[-1]))
    heads = (Column("Family", "name"), Column("Models", "count"), *columns("score", "Lowest", "Median", "Highest"))
    yield Chart(
        f"Totals by family{where}",
        f"Of {len(order)} families {order[0]} has the highest median total ({highest}) and {order[-1]} the lowest ({lowest}).",
        "strips",
        tuple(dot for name in order for dot in dots(scored(families[name]), name)),
        Table(heads, [(name, len(basis(families[name])), *ends[name][::2]) for name in order], f"Totals by family{where}"),
        note=f"{READ_STRIPS} Families of one model are left out.",
    )


class _Sized(NamedTuple):
    """A model with its size."""

    row: ModelRow
    total: float
    size: ModelSize

    @property
    def billions(self) -> float:
        """The middle of its size."""
        return mean((self.size.low, self.size.high))

    @property
    def family(self) -> tuple[bool, str]:
        """Its family, apart for one's own models."""
        return self.row.run is not None, (self.row.about and self.row.about.series) or ""

    @property
    def point(self) -> Point:
        """Its dot."""
        is_own, series = self.family
        return Point(self.billions, self.total, series, None, self.size.low, self.size.high, self.size.is_estimate, is_own)

    @property
    def range(self) -> Interval | None:
        """The ends of its size; null where that is one number."""
        return Interval(self.size.low, self.size.high) if self.size.low < self.size.high else None


def _draw_sizes(rows: Sequence[ModelRow], _blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield totals over sizes, models of one family joined; none without two sizes."""
    models = [_Sized(row, total, row.about.parameters) for row, total in scored(rows) if row.about and row.about.parameters]
    models.sort(key=lambda model: (model.family, model.billions, model.row.model))
    if len({model.billions for model in models}) < 2:  # noqa: PLR2004
        return
    families = {name: [*members] for name, members in groupby(models, lambda model: model.family) if name[1]}
    pairs = [pair for members in families.values() for pair in pairwise(members)]
    steps = [larger.total > smaller.total for smaller, larger in pairs if smaller.billions < larger.billions]
    words = f"From {weight(min(model.size.low for model in models))} to {weight(max(model.size.high for model in models))}"
    rise = f"the total rises in {sum(steps)} of {len(steps)} steps from a model to the next larger one of its family"
    heads = (*columns("name", "Model", "Family"), Column("Parameters, billions", "number", 1), Column("Range", "interval", 1))
    lines = [
        (model.row.model, model.point.series, model.billions, model.range, model.size.is_estimate, model.total)
        for model in models
    ]
    unsized = [row.model for row in rows if not (row.about and row.about.parameters)]
    left_out = f" Left out, as no number is said: {listed(unsized)}." if unsized else ""
    yield Chart(
        f"Total and size{where}",
        f"{words} billion parameters {rise if steps else 'no two models are of one family'}.",
        "points",
        tuple(model.point for model in models),
        Table((*heads, Column("Estimated"), Column("Total", "score")), lines, f"Total and size{where}"),
        Axis("parameters, billions (log scale)", is_log=True),
        Axis("total, before the veto"),
        note=f"Hollow dots: estimates; bars: ranges; lines: families.{left_out}",
    )


def lay_out_gains(models: RankedModels) -> Iterator[Block]:
    """Yield what a model gains in a setting over base, in the same source; null where a score is missing."""
    titles = score_titles(models.blueprint)
    base = {(row.run is None, row.model): row for row in models.rows if row.setting == BASE_SETTING}
    lines = [
        (row.model, setting_title(row.setting), *(_less(score(row), score(before)) for score in titles.values()), *origin_of(row))
        for row in models.rows
        if row.setting != BASE_SETTING and (before := base.get((row.run is None, row.model)))
    ]
    heads = (*columns("name", "Model", "Setting"), *columns("difference", *titles), *ORIGIN)
    table = Table(heads, lines, "Gains over base").without_constant(*(column.title for column in ORIGIN))
    if lines:
        words = "Differences of scores, in points of 0 to 100, of the models that were asked in both."
        yield Block("What a setting gains over base", words, (table,))


def lay_out_printed(models: RankedModels) -> Iterator[Block]:
    """Yield further tables of the paper, their cells as printed, where its models are shown."""
    if models.paper and any(row.run is None for row in models.rows):
        for printed in models.paper.shown:
            table = pl.read_csv(models.paper.folder / printed.file, infer_schema=False).fill_null("")
            cells = Table(columns("name", *table.columns), table.rows(), printed.title)
            yield Block(printed.title, printed.note, (cells,), folds=True)


def _less(score: float | None, other: float | None) -> float | None:
    return None if score is None or other is None else score - other


EXHIBITS = (
    Exhibit("gains", lay_out_gains),
    Exhibit("abilities", in_each_setting(_draw_abilities)),
    Exhibit("openness", in_each_setting(_draw_openness)),
    Exhibit("families", in_each_setting(_draw_families)),
    Exhibit("sizes", in_each_setting(_draw_sizes)),
    Exhibit("printed", lay_out_printed, is_of_models=False),
)
