"""Figures of any benchmark's models: scores by ability, by openness, family and size where these are said; gains over base."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from schemas.blueprint import Blueprint
from schemas.chart import Chart, Point, quartiles
from schemas.table import Column, Table, columns
from tasks.runs.exhibits import ORIGIN, Exhibit, ModelRow, RankedModels, origin_of, with_total
from tasks.runs.sections import Block
from tasks.scoring.published import BASE_SETTING
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, number

FEWEST = 3
"""Models that a box needs."""

KINDS = {"closed": "closed", "open": "open", "domain": "domain-specific"}
READ_STRIPS = "Thin line: a model; dark line: the median; dot: the mean."
Scored = list[tuple[ModelRow, float]]


def score_titles(blueprint: Blueprint) -> dict[str, Callable[[ModelRow], float | None]]:
    """Return what is measured of a model by title: each ability, and last the total before the veto."""
    mains = {main.title: _ability(main.id) for main in blueprint.abilities if main.evaluated}
    return {**mains, "Total, before the veto" if blueprint.gate else "Total": _total}


def _total(row: ModelRow) -> float | None:
    return row.total_before_veto


def _ability(name: str) -> Callable[[ModelRow], float | None]:
    return lambda row: row.abilities.get(name)


def scored(rows: Sequence[ModelRow], score: Callable[[ModelRow], float | None] = _total) -> Scored:
    """Return the rows that have a score, with it."""
    return [(row, value) for row in rows if (value := score(row)) is not None]


def middle(pairs: Scored) -> float:
    """Return the median of scores."""
    return median(value for _, value in pairs)


def dots(pairs: Scored, row: str) -> Iterator[Point]:
    """Yield scores as values of a row of boxes or strips."""
    yield from (Point(value, row, is_own=model.run is not None) for model, value in pairs)


def lay_out_figures(models: RankedModels) -> Iterator[Block]:
    """Yield the figures of the models in each setting, as far as there is anything to show, and the gains over base."""
    for setting in models.settings:
        rows = with_total(models.in_setting(setting).rows)
        where = f": {setting_title(setting)}" if len(models.settings) > 1 else ""
        yield from (Block(charts=(chart,)) for chart in _draw_abilities(rows, models.blueprint, where))
    if (gains := gains_table(models)).rows:
        words = "Differences of scores, in points of 0 to 100, of the models that were asked in both."
        yield Block("What a setting gains over base", words, (gains,))


def _draw_abilities(rows: Sequence[ModelRow], blueprint: Blueprint, where: str) -> Iterator[Chart]:
    """Yield a box plot of each ability and of the total."""
    scores = {title: scored(rows, score) for title, score in score_titles(blueprint).items()}
    boxes = {title: quartiles([value for _, value in pairs]) for title, pairs in scores.items() if len(pairs) >= FEWEST}
    if not boxes:
        return
    *abilities, total = boxes
    words = f"Half of the {counted(len(rows), 'model')} have a total from {number(boxes[total][1])} to {number(boxes[total][3])}"
    if len(abilities) > 1:
        lowest, highest = (end(abilities, key=lambda title: boxes[title][2]) for end in (min, max))
        most, least = (number(boxes[title][2]) for title in (highest, lowest))
        words += f"; {highest} has the highest median ({most}), {lowest} the lowest ({least})"
    heads = columns("score", "Lowest", "Quarter", "Median", "Three quarters", "Highest")
    yield Chart(
        f"Scores by ability{where}",
        f"{words}.",
        "boxes",
        tuple(dot for title in boxes for dot in dots(scores[title], title)),
        Table((Column("Score", "name"), *heads), [(title, *ends) for title, ends in boxes.items()], f"Scores by ability{where}"),
        note="Box: the middle half of the models; dark line: the median; thin line: the range.",
    )


def gains_table(models: RankedModels) -> Table:
    """Return what a model gains in a setting over base, in the same source; null where a score is missing."""
    titles = score_titles(models.blueprint)
    base = {(row.run is None, row.model): row for row in models.rows if row.setting == BASE_SETTING}
    lines = [
        (row.model, setting_title(row.setting), *(_less(score(row), score(before)) for score in titles.values()), *origin_of(row))
        for row in models.rows
        if row.setting != BASE_SETTING and (before := base.get((row.run is None, row.model)))
    ]
    heads = (*columns("name", "Model", "Setting"), *columns("difference", *titles), *ORIGIN)
    return Table(heads, lines, "Gains over base").without_constant(*(column.title for column in ORIGIN))


def _less(score: float | None, other: float | None) -> float | None:
    return None if score is None or other is None else score - other


EXHIBITS = (Exhibit("figures", lay_out_figures),)
