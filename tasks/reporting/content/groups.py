"""Describe how scores differ between groups of items: a table per dataset and system, a row per value, a column per measure."""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from tasks.analysis.groups import score_groups
from tasks.analysis.run_tables import ReportData, System

Row = dict[str, Any]


@dataclass(frozen=True)
class GroupTable:
    """One dataset and system. `rows`: group, value, and the rows of `score_groups` in the order of `measures`; null = none."""

    title: str
    system: str
    measures: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Row | None, ...]], ...]


def describe_groups(data: ReportData) -> tuple[GroupTable, ...]:
    """Describe the scores by group, in the order of the datasets; none where no item is in a group."""
    rows = sorted(score_groups(data), key=lambda row: data.dataset_order(row["dataset"]))
    return tuple(_table(data, list(some)) for _, some in groupby(rows, key=itemgetter("dataset", "model", "setting")))


def _table(data: ReportData, rows: list[Row]) -> GroupTable:
    measures = tuple(dict.fromkeys(map(itemgetter("method", "measure"), rows)))
    found = {(row["group"], row["value"], row["method"], row["measure"]): row for row in rows}
    values = dict.fromkeys(map(itemgetter("group", "value"), rows))
    return GroupTable(
        data.titles[rows[0]["dataset"]],
        System(rows[0]["model"], rows[0]["setting"]).label,
        tuple(measure.replace("_", " ") for _, measure in measures),
        tuple(
            (*(name.replace("_", " ") for name in one), tuple(found.get((*one, *each)) for each in measures)) for one in values
        ),
    )
