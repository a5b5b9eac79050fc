"""Figures of any benchmark's models: scores by ability, by openness, family and size where these are said; gains over base.

Where a paper's models stand beside one's own, statistics are of the paper's, and one's own are drawn into the same figure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import mean, median
from typing import TypeVar

import polars as pl

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Point, quartiles
from schemas.table import Column, Interval, Table, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table, with_total
from tasks.runs.sections import Block
from tasks.scoring.published import BASE_SETTING, LANGUAGE
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, listed, number, weight

FEWEST = 3
"""Models that a box needs."""

KINDS = {"closed": "closed", "open": "open", "domain": "domain-specific"}
Scored = list[tuple[ModelRow, float]]
Groups = Mapping[tuple[str, ...], Scored]
Names = TypeVar("Names", str, tuple[str, ...])
Draw = Callable[[Sequence[ModelRow], Blueprint, str], Iterator[Chart]]
"""Makes figures of the models of one setting; the text ends their titles."""


def in_each_setting(draw: Draw) -> Callable[[RankedModels], Iterator[Block]]:
    """Return what lays out a figure for each setting, as a block of its own."""

    def lay_out(models: RankedModels) -> Iterator[Block]:
        for setting, where in models.settings.items():
            for rows, language in _by_language(models.in_setting(setting)):
                charts = draw(with_total(rows), models.blueprint, f"{where}{language}")
                yield from (Block(charts=(chart,)) for chart in charts)

    return lay_out


def _by_language(models: RankedModels) -> Iterator[tuple[Sequence[ModelRow], str]]:
    """Yield the models; where a paper has a row per language, those of each ability instead, with its score as their total."""
    if not any(LANGUAGE in (row.model_extra or {}) for row in models.rows):
        yield models.rows, ""
        return
    for main in models.blueprint.abilities:
        scores = [(row, score) for row in models.rows if (score := row.abilities.get(main.id)) is not None]
        yield [row.model_copy(update={"abilities": {}, "total_before_veto": score}) for row, score in scores], f": {main.title}"


def measure(rows: Sequence[ModelRow], blueprint: Blueprint) -> dict[str, Scored]:
    """Return the models that have a score with it, by its title: those of each ability, and of the total before the veto last."""
    scores = {main.title: [(row, row.abilities.get(main.id)) for row in rows] for main in blueprint.abilities if main.evaluated}
    scores["Total, before the veto" if blueprint.gate else "Total"] = [(row, row.total_before_veto) for row in rows]
    return {title: [(row, value) for row, value in pairs if value is not None] for title, pairs in scores.items()}


def values_of(groups: Mapping[Names, Scored]) -> dict[Names, list[float]]:
    """Return the scores in each group of a figure that statistics are of: a paper's, or all if none of it is in the figure."""
    has_paper = any(row.run is None for pairs in groups.values() for row, _ in pairs)
    return {names: [value for row, value in pairs if row.run is None or not has_paper] for names, pairs in groups.items()}


def _draw_abilities(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield a box plot of each ability and of the total."""
    scores = measure(rows, blueprint)
    stated = {title: values for title, values in values_of(scores).items() if len(values) >= FEWEST}
    if not stated:
        return
    boxes = {title: quartiles(values) for title, values in stated.items()}
    *abilities, total = boxes
    words = f"Half of {counted(len(stated[total]), 'model')} have a total"
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
    scores = measure(rows, blueprint)
    groups: Groups = {
        (title, kind): [pair for pair in pairs if pair[0].said("openness") == name]
        for title, pairs in scores.items()
        for name, kind in KINDS.items()
    }
    stated, (*_, total) = values_of(groups), scores
    medians = {kind: number(median(values)) for kind in KINDS.values() if (values := stated[total, kind])}
    if len(medians) > 1:
        words = ", ".join(f"{kind} ones {middle}" for kind, middle in medians.items())
        words = words.replace("ones", "models have a median total of", 1).capitalize()
        shown = {names: pairs for names, pairs in groups.items() if pairs}
        yield _strips(f"Open and closed models{where}", f"{words}.", ("Score", "Models"), shown)


def _draw_families(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield the totals of families with several models, the best family first; none where there is no second one."""
    *_, totals = measure(rows, blueprint).values()
    series = sorted({row.said("series") or "" for row in rows} - {""})
    families: Groups = {(name,): [pair for pair in totals if pair[0].said("series") == name] for name in series}
    medians = {names: median(values) for names, values in values_of(families).items() if len(values) > 1}
    if len(medians) > 1:
        best, last = (
            f"{name} ({number(medians[name,])})"
            for (name,) in (end(medians, key=lambda names: medians[names]) for end in (max, min))
        )
        words = f"Of {len(medians)} families with several models {best} has the highest median total and {last} the lowest."
        order = sorted(families, key=lambda names: (names not in medians, -medians.get(names, 0)))
        several = {names: families[names] for names in order if len(families[names]) > 1}
        yield _strips(f"Totals by family{where}", words, ("Family",), several)


def _strips(title: str, words: str, heads: Sequence[str], groups: Groups) -> Chart:
    """Return a figure of groups of scores by their names, and of these how many, mean and median, also of ranked models."""
    averages = (Column("All", "count"), *columns("score", "Mean", "Median"))
    ranked = (column._replace(group="Ranked") for column in averages)
    stated = values_of(groups), values_of({names: [pair for pair in pairs if pair[0].rank] for names, pairs in groups.items()})
    lines = [(*names, *_average(stated[0][names]), *_average(stated[1][names])) for names in groups]
    return Chart(
        title,
        words,
        "strips",
        tuple(
            Point(value, ": ".join(names), is_own=row.run is not None) for names, pairs in groups.items() for row, value in pairs
        ),
        Table((*columns("name", *heads), *averages, *ranked), lines, title),
        note="Thin line: a model; dark line: the median; dot: the mean.",
    )


def _average(values: list[float]) -> tuple[int, float | None, float | None]:
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
    same = groupby(stated, lambda model: (model[1], model[2].middle))
    means = [(family, mean(total for *_, total in alike)) for (family, _), alike in same]
    steps = [large > small for (family, small), (other, large) in pairwise(means) if family and family == other]
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
        note="Hollow dots: estimates; bars: ranges; lines: families. Steps are between the means of models of one size."
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
