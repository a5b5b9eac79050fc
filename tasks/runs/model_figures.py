"""Figures of any benchmark's models: scores by ability, by openness, family and size where these are said; gains over base.

Where a paper's models stand beside one's own, statistics are of the paper's, and one's own are drawn into the same figure.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import mean, median

import polars as pl

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Point, quartiles
from schemas.table import Column, Interval, Table, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table, with_total
from tasks.runs.sections import Block
from tasks.scoring.published import BASE_SETTING
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, listed, number, weight

FEWEST = 3
"""Models that a box needs."""

KINDS = {"closed": "closed", "open": "open", "domain": "domain-specific"}
Scored = list[tuple[ModelRow, float]]
Draw = Callable[[Sequence[ModelRow], Blueprint, str], Iterator[Chart]]
"""Makes figures of the models of one setting; the text ends their titles."""


def in_each_setting(draw: Draw) -> Callable[[RankedModels], Iterator[Block]]:
    """Return what lays out a figure for each setting, as a block of its own."""

    def lay_out(models: RankedModels) -> Iterator[Block]:
        for setting, where in models.settings.items():
            rows = with_total(models.in_setting(setting).rows)
            yield from (Block(charts=(chart,)) for chart in draw(rows, models.blueprint, where))

    return lay_out


def measure(rows: Sequence[ModelRow], blueprint: Blueprint) -> dict[str, Scored]:
    """Return the models that have a score with it, by its title: those of each ability, and of the total before the veto last."""
    scores = {main.title: [(row, row.abilities.get(main.id)) for row in rows] for main in blueprint.abilities if main.evaluated}
    scores["Total, before the veto" if blueprint.gate else "Total"] = [(row, row.total_before_veto) for row in rows]
    return {title: [(row, value) for row, value in pairs if value is not None] for title, pairs in scores.items()}


def values_of(pairs: Scored) -> list[float]:
    """Return the scores that statistics are of: a paper's, or all if there are none of it."""
    return [value for row, value in pairs if row.run is None] or [value for _, value in pairs]


def _draw_abilities(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield a box plot of each ability and of the total."""
    scores = {title: pairs for title, pairs in measure(rows, blueprint).items() if len(values_of(pairs)) >= FEWEST}
    if not scores:
        return
    boxes = {title: quartiles(values_of(pairs)) for title, pairs in scores.items()}
    *abilities, total = boxes
    words = f"Half of {counted(len(values_of(scores[total])), 'model')} have a total"
    heads = columns("score", "Lowest", "Quarter", "Median", "Three quarters", "Highest")
    low, high = (number(boxes[total][quarter]) for quarter in (1, 3))
    words += f" from {low} to {high}" if low != high else f" of {low}"
    lowest, highest = (end(abilities, key=lambda title: boxes[title][2], default=total) for end in (min, max))
    if boxes[lowest][2] < boxes[highest][2]:
        most, least = (number(boxes[title][2]) for title in (highest, lowest))
        words += f"; {highest} has the highest median ({most}), {lowest} the lowest ({least})"
    yield Chart(
        f"Scores by ability{where}",
        f"{words}.",
        "boxes",
        tuple(Point(value, title, is_own=row.run is not None) for title in boxes for row, value in scores[title]),
        Table((Column("Score", "name"), *heads), [(title, *ends) for title, ends in boxes.items()], f"Scores by ability{where}"),
        note="Box: the middle half of the models; dark line: the median; thin line: the range.",
    )


def _draw_openness(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the scores of open, closed and domain-specific models, where there are two of these kinds."""
    kinds = {title: measure([row for row in rows if row.said("openness") == kind], blueprint) for kind, title in KINDS.items()}
    totals = {kind: values_of([*scores.values()][-1]) for kind, scores in kinds.items()}
    medians = {kind: number(median(values)) for kind, values in totals.items() if values}
    if len(medians) > 1:
        words = ", ".join(f"{kind} ones {total}" for kind, total in medians.items())
        words = words.replace("ones", "models have a median total of", 1).capitalize()
        groups = [((title, kind), kinds[kind][title]) for title in measure((), blueprint) for kind in kinds if kinds[kind][title]]
        yield _strips(f"Open and closed models{where}", f"{words}.", ("Score", "Models"), groups)


def _draw_families(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the totals of families with several models, the best family first; none where there is no second one."""
    *_, totals = measure(rows, blueprint).values()
    stated = [row for row in rows if row.run is None] or rows
    series = sorted({row.said("series") or "" for row in stated} - {""})
    families = [((name,), [pair for pair in totals if pair[0].said("series") == name]) for name in series]
    several = [(name, pairs) for name, pairs in families if len(values_of(pairs)) > 1]
    several.sort(key=lambda family: -median(values_of(family[1])))
    if len(several) > 1:
        best, last = (f"{name} ({number(median(values_of(pairs)))})" for (name,), pairs in (several[0], several[-1]))
        words = f"Of {len(several)} families with several models {best} has the highest median total and {last} the lowest."
        yield _strips(f"Totals by family{where}", words, ("Family",), several)


def _strips(title: str, words: str, heads: Sequence[str], groups: Sequence[tuple[Sequence[str], Scored]]) -> Chart:
    """Return a figure of groups of scores by their names, and of these how many, mean and median, also of ranked models."""
    averages = (Column("All", "count"), *columns("score", "Mean", "Median"))
    ranked = (column._replace(group="Ranked") for column in averages)
    lines = [(*names, *_average(pairs), *_average([pair for pair in pairs if pair[0].rank])) for names, pairs in groups]
    return Chart(
        title,
        words,
        "strips",
        tuple(Point(value, ": ".join(names), is_own=row.run is not None) for names, pairs in groups for row, value in pairs),
        Table((*columns("name", *heads), *averages, *ranked), lines, title),
        note="Thin line: a model; dark line: the median; dot: the mean.",
    )


def _average(pairs: Scored) -> tuple[int, float | None, float | None]:
    values = values_of(pairs)
    return len(values), mean(values) if values else None, median(values) if values else None


def _draw_sizes(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield totals over sizes, models of one family joined, a range at its middle; none without two sizes."""
    *_, (of, totals) = measure(rows, blueprint).items()
    sized = [
        (row, row.said("series") or "", row.about.parameters, total)
        for row, total in totals
        if row.about and row.about.parameters
    ]
    sized.sort(key=lambda model: (model[0].run is not None, model[1], model[2].middle, model[0].model))
    if len({size.middle for _, _, size, _ in sized}) < 2:  # noqa: PLR2004
        return
    stated = [model for model in sized if model[0].run is None] or sized
    words = f"From {weight(min(size.low for _, _, size, _ in stated))} to {weight(max(size.high for _, _, size, _ in stated))}"
    steps = [
        larger > smaller
        for (_, family, small, smaller), (_, series, large, larger) in pairwise(stated)
        if family and family == series and small.middle < large.middle
    ]
    rise = f"the total rises in {sum(steps)} of {len(steps)} steps from a model to the next larger one of its family"
    unsized = [row.model for row in rows if not row.said("parameters")]
    heads = (*columns("name", "Model", "Family"), Column("Parameters, billions", "number", 1), Column("Range", "interval", 1))
    lines = [
        (row.model, series, size.middle, Interval(size.low, size.high) if size.low < size.high else None, size.is_estimate, total)
        for row, series, size, total in sized
    ]
    yield Chart(
        f"Total and size{where}",
        f"{words} billion parameters {rise if steps else 'no two models are of one family'}.",
        "points",
        tuple(
            Point(size.middle, total, series, None, size.low, size.high, size.is_estimate, row.run is not None)
            for row, series, size, total in sized
        ),
        Table((*heads, Column("Estimated"), Column("Total", "score")), lines, f"Total and size{where}"),
        Axis("parameters, billions (log scale)", is_log=True),
        Axis(of.lower()),
        note="Hollow dots: estimates; bars: ranges; lines: families."
        + (f" Left out, as no number is said: {listed(unsized)}." if unsized else ""),
    )


def lay_out_gains(models: RankedModels) -> Iterator[Block]:
    """Yield what a model gains in a setting over base, in the same source; null where a score is missing."""
    base = {(row.run is None, row.model): row for row in models.rows if row.setting == BASE_SETTING}
    rows = [row for row in models.rows if row.setting != BASE_SETTING and (row.run is None, row.model) in base]

    def gains(row: ModelRow) -> Iterator[Value]:
        yield setting_title(row.setting)
        scores, before = (measure([each], models.blueprint) for each in (row, base[row.run is None, row.model]))
        yield from (scores[title][0][1] - before[title][0][1] if scores[title] and before[title] else None for title in scores)

    if rows:
        heads = (Column("Setting", "name"), *columns("difference", *measure((), models.blueprint)))
        words = "Differences of scores, in points of 0 to 100, of the models that were asked in both."
        yield Block("What a setting gains over base", words, (models_table("Gains over Base", rows, heads, gains),))


def lay_out_printed(models: RankedModels) -> Iterator[Block]:
    """Yield the tables that a paper has shown as printed, where its models are shown."""
    if (paper := models.paper) and any(row.run is None for row in models.rows):
        for shown in paper.shown:
            printed = pl.read_csv(paper.folder / shown.file, infer_schema=False).fill_null("")
            table = Table(columns("name", *printed.columns), printed.rows(), shown.title)
            yield Block(shown.title, shown.note, (table,), folds=True)


EXHIBITS = (
    Exhibit("gains", lay_out_gains),
    Exhibit("abilities", in_each_setting(_draw_abilities)),
    Exhibit("openness", in_each_setting(_draw_openness)),
    Exhibit("families", in_each_setting(_draw_families)),
    Exhibit("sizes", in_each_setting(_draw_sizes)),
    Exhibit("printed", lay_out_printed, is_of_models=False),
)
