"""Describe how scores differ between groups of items: a table per dataset and system, a row per value, a column per measure."""

from itertools import groupby
from operator import itemgetter

from tasks.analysis.groups import score_groups
from tasks.analysis.run_tables import ReportData, System
from tasks.reporting.content.tables import Row, ScoreTable


def describe_groups(data: ReportData) -> tuple[ScoreTable, ...]:
    """Describe the scores by group and value, in the order of the datasets; none where no item is in a group."""
    rows = sorted(score_groups(data), key=lambda row: data.dataset_order(row["dataset"]))
    return tuple(_table(data, list(some)) for _, some in groupby(rows, key=itemgetter("dataset", "model", "setting")))


def _table(data: ReportData, rows: list[Row]) -> ScoreTable:
    columns = tuple(dict.fromkeys(row["measure"] for row in rows))
    found = {(row["group"], row["value"], row["measure"]): row for row in rows}
    values = dict.fromkeys((row["group"], row["value"]) for row in rows)
    return ScoreTable(
        f"{data.titles[rows[0]['dataset']]}: {System(rows[0]['model'], rows[0]['setting']).label}",
        tuple(name.replace("_", " ") for name in columns),
        tuple(
            (tuple(name.replace("_", " ") for name in one), tuple(found.get((*one, each)) for each in columns)) for one in values
        ),
    )
