"""Table 2 of the ESC-Eval paper for any models: the seven dimensions and their average, by language; one's own also as dots."""

from collections.abc import Iterator
from functools import partial
from statistics import fmean

import polars as pl

from schemas.blueprint import Ability
from schemas.chart import Chart, Point
from schemas.table import Column, Interval, Table, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table
from tasks.runs.past_run import PastRun
from tasks.runs.sections import Block
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.published import read_table
from tasks.text.number_format import listed, number, say_ends
from tasks.text.tables import MARKS

LANGUAGES = frozenset({"english", "chinese"})
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
            yield Block(f"Dimensions: {main.title}", words, (table.without_empty("Class"),))


def lay_out_dialogue(models: RankedModels) -> Iterator[Block]:
    """Yield the dimensions of one's own models in each language as dots, a panel for each; none where nothing was rated."""
    for main in models.blueprint.abilities:
        rated = {
            row.model: dict(_rated(models.runs[row.run], main, row).rows_by_key("dimension")) for row in models.rows if row.run
        }
        none = [(None, None, None)]
        cells = [(name, model, *by.get(name, none)[0]) for name in DIMENSIONS for model, by in rated.items() if by]
        if scores := {
            name: fmean(means) for name in DIMENSIONS if (means := [c[2] for c in cells if c[0] == name and c[2] is not None])
        }:
            title = f"Dimensions of your own models: {main.title}"
            points = tuple(Point("", model, name.capitalize(), *ends) for name, model, *ends in cells)
            heads = (*columns("name", "Dimension", "Model"), Column("Percent", "score"), Column("95 % interval", "interval"))
            numbers = Table(heads, [(name, model, mean, Interval.of(low, high)) for name, model, mean, low, high in cells], title)
            note = "In percent of the highest rating."
            yield Block(charts=(Chart(title, say_ends("The mean", scores), "dots", points, numbers, note=note),))


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


EXHIBITS = (
    Exhibit("table2", lay_out_dimensions, LANGUAGES),
    Exhibit("dialogue", lay_out_dialogue, LANGUAGES),
)
