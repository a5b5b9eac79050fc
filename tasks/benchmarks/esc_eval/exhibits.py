"""Table 2 of the ESC-Eval paper for any models: the seven dimensions and their average, by language; one's own also as dots."""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

import polars as pl

from schemas.blueprint import Ability
from schemas.chart import Chart, Point
from schemas.table import Column, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table
from tasks.runs.past_run import PastRun
from tasks.runs.sections import Block
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.published import read_table
from tasks.text.number_format import listed, number, say_ends
from tasks.text.tables import MARKS

DIMENSIONS = ("fluency", "expression", "empathy", "information", "skillful", "humanoid", "overall")


def lay_out_dimensions(models: RankedModels) -> Iterator[Block]:
    """Yield the table of each language, by average."""
    heads = (Column("Class", "name"), *columns("score", *map(str.capitalize, DIMENSIONS), "Average"))
    for main in models.blueprint.abilities:
        averages = [(score, row) for row in models.rows if (score := row.abilities.get(main.id)) is not None]
        averages.sort(key=lambda pair: -pair[0])
        if averages:
            table = models_table(main.title, [row for _, row in averages], heads, partial(_cells, models, main))
            stated = [pair for pair in averages if pair[1].run is None] or averages
            most = number(stated[0][0], 2)
            best = [row.model for score, row in stated if number(score, 2) == most]
            words = f"{listed(best)} {'has' if len(best) == 1 else 'have'} the highest average, {most}. {MARKS}"
            charts = tuple(_draw(models, main, [row for _, row in averages]))
            yield Block(f"Dimensions: {main.title}", words, (table.without_empty("Class"),), charts)


def _draw(models: RankedModels, main: Ability, rows: Sequence[ModelRow]) -> Iterator[Chart]:
    """Yield the figure of one's own models, a panel for each dimension; none where nothing was rated."""
    rated = {
        row.model: _rated(models.runs[row.run], main, row).rows_by_key("dimension", named=True, unique=True)
        for row in rows
        if row.run
    }
    cells = [(name, model, by[name]) for name in DIMENSIONS for model, by in rated.items() if name in by]
    if cells:
        points = [
            Point("", model, name.capitalize(), *(each[end] for end in ("mean", "ci_low", "ci_high")))
            for name, model, each in cells
        ]
        means = {name: [each["mean"] for of, _, each in cells if of == name and each["mean"] is not None] for name in DIMENSIONS}
        scores = {name: fmean(values) for name, values in means.items() if values}
        words = say_ends("The mean", scores) if scores else "Nothing was rated."
        yield Chart(f"Dimensions: {main.title}", words, "dots", tuple(points), note="In percent of the highest rating.")


def _rated(run: PastRun, main: Ability, row: ModelRow) -> pl.DataFrame:
    """Return means and their intervals by dimension, as they count, in percent of the highest rating."""
    rated = run.read("dimension_scores").filter(model=row.model, setting=row.setting)
    rubrics = {method.rubric for name in main.dataset_ids for method in run.blueprint.datasets[name].methods}
    own = judges_first(rated).filter(pl.col("dataset").is_in(main.dataset_ids), pl.col("rubric").is_in(rubrics))
    return own.select("dimension", pl.col("mean", "ci_low", "ci_high") * 100 / pl.col("scale_max"))


def _cells(models: RankedModels, main: Ability, row: ModelRow) -> Iterator[Value]:
    """Yield class, dimensions in percent of the highest rating, and average; as printed, or as rated in a run."""
    yield row.about.openness if row.about else None
    if row.run:
        percent = dict(_rated(models.runs[row.run], main, row).select("dimension", "mean").iter_rows())
    elif models.paper:
        where = models.paper.models.abilities[main.id].where
        (percent,) = read_table(models.paper, models.paper.models).filter(model=row.model, **where).to_dicts()
    yield from (*map(percent.get, DIMENSIONS), row.abilities[main.id])


EXHIBITS = (Exhibit("table2", lay_out_dimensions, frozenset({"english", "chinese"}), figure="dialogue"),)
