"""Table 2 of the ESC-Eval paper for any models: the seven dimensions and their average, by language."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from schemas.blueprint import Ability
from schemas.table import Column, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table
from tasks.runs.sections import Block
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.published import read_table
from tasks.text.number_format import listed, number
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
            yield Block(f"Dimensions: {main.title}", words, (table.without_empty("Class"),))


def _cells(models: RankedModels, main: Ability, row: ModelRow) -> Iterator[Value]:
    """Yield class, dimensions in percent of the highest rating, and average; as printed, or as rated in a run."""
    yield row.about.openness if row.about else None
    rated = models.read(row, "dimension_scores")
    if rated is not None:
        rubrics = {method.rubric for name in main.dataset_ids for method in models.blueprint.datasets[name].methods}
        own = judges_first(rated).filter(pl.col("dataset").is_in(main.dataset_ids), pl.col("rubric").is_in(rubrics))
        percent = dict(own.select("dimension", 100 * pl.col("mean") / pl.col("scale_max")).iter_rows())
    elif models.paper:
        where = models.paper.models.abilities[main.id].where
        (percent,) = read_table(models.paper, models.paper.models).filter(model=row.model, **where).to_dicts()
    yield from (*map(percent.get, DIMENSIONS), row.abilities[main.id])


EXHIBITS = (Exhibit("table2", lay_out_dimensions, frozenset({"english", "chinese"})),)
