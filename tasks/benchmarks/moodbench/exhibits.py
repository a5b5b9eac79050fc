"""Figures and tables of the MoodBench paper for any models: Table 4."""

from collections.abc import Iterator

from schemas.table import Cell, Column, Value, columns
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table, with_total
from tasks.runs.sections import Block
from tasks.solvers.registry import setting_title
from tasks.text.tables import MARKS

MAINS = {
    "foundational": "Foundational",
    "emotional": "Emotional",
    "companionship": "Companionship",
    "values_safety": "Values & Safety",
}
"""Columns of Table 4, after the total."""


def lay_out_scores(models: RankedModels) -> Iterator[Block]:
    """Yield Table 4 for each setting: ranked models, then the others with their total before the veto."""
    for setting in models.settings:
        where = f": {setting_title(setting)}" if len(models.settings) > 1 else ""
        if rows := with_total(models.in_setting(setting).rows):
            heads = (Column("Rank", "count"), *columns("score", "Overall", *MAINS.values()))
            title = f"Main abilities{where}"
            vetoed = " Vetoed models stand below, with their total before the veto." if any(row.vetoed for row in rows) else ""
            yield Block(title, MARKS + vetoed, (models_table(title, rows, heads, _scores),))


def _scores(row: ModelRow) -> Iterator[Value]:
    unranked = "not ranked" if row.verdict == "scored" else row.verdict
    yield Cell(row.rank, "" if row.rank else unranked)
    yield from (row.total_before_veto, *map(row.abilities.get, MAINS))


EXHIBITS = (Exhibit("table4", lay_out_scores, frozenset(MAINS)),)
