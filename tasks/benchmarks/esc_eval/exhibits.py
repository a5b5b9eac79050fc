"""Table 2 of the ESC-Eval paper for any models: the seven dimensions and their average, by language."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import polars as pl

from schemas.blueprint import Ability
from schemas.paper import Paper
from schemas.table import Column, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table
from tasks.runs.sections import Block
from tasks.scoring.published import read_table
from tasks.text.number_format import number
from tasks.text.tables import MARKS


def lay_out_dimensions(models: RankedModels) -> Iterator[Block]:
    """Yield the table of each language."""
    if models.paper:
        for main in models.blueprint.abilities:
            yield from _of_language(main, models, models.paper)


def _of_language(main: Ability, models: RankedModels, paper: Paper) -> Iterator[Block]:
    """Yield the table of the models that are rated in a language, by average; the average needs all seven."""
    rated = [(row, scores) for row in models.rows if set(scores := _scores(row, main, models, paper)) - {None}]
    averages = {_system(row): _average(scores) for row, scores in rated}
    cells = {_system(row): (_class(row), *scores, averages[_system(row)]) for row, scores in rated}
    rows = sorted((row for row, _ in rated), key=lambda row: -(averages[_system(row)] or 0.0))
    if rows:
        dimensions = map(str.capitalize, paper.models.abilities[main.id].mean)
        heads = (Column("Class", "name"), *columns("score", *dimensions, "Average"))
        table = models_table(main.title, rows, heads, lambda row: cells[_system(row)])
        first = averages[_system(rows[0])]
        words = f"{rows[0].model} has the highest average, {number(first, 2)}. " if first is not None else ""
        yield Block(f"Dimensions: {main.title}", words + MARKS, (table.without_empty("Class"),))


def _scores(row: ModelRow, main: Ability, models: RankedModels, paper: Paper) -> list[float | None]:
    """Return percent of the highest rating by dimension: as printed, or as the blueprint's rubric was rated in a run."""
    of_language = paper.models.abilities[main.id]
    if (rated := models.read(row, "dimension_scores")) is None:
        printed = read_table(paper, paper.models).filter(model=row.model, **of_language.where)
        is_there = row.abilities.get(main.id) is not None
        return list(printed.select(of_language.mean).row(0)) if is_there else []
    rubrics = {method.rubric for name in main.dataset_ids for method in models.blueprint.datasets[name].methods}
    own = rated.filter(pl.col("dataset").is_in(main.dataset_ids), pl.col("rubric").is_in(rubrics)).drop_nulls("mean")
    percent = dict(own.select("dimension", 100 * pl.col("mean") / pl.col("scale_max")).iter_rows())
    return [percent.get(name) for name in of_language.mean]


def _average(scores: Sequence[float | None]) -> float | None:
    given = [score for score in scores if score is not None]
    return fmean(given) if len(given) == len(scores) else None


def _system(row: ModelRow) -> tuple[str | None, str, str]:
    return row.run, row.model, row.setting


def _class(row: ModelRow) -> Value:
    """Return what the paper says of its model, or the description of one's own."""
    return (row.model_extra or {}).get("class") or getattr(getattr(row, "about", None), "openness", None)


EXHIBITS = (Exhibit("table2", lay_out_dimensions, frozenset({"english", "chinese"})),)
