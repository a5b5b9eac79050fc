"""Describe scores about one dataset as a table: of a leaderboard's models by dimension, of a run's systems by group of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from statistics import fmean

from tasks.explain.groups import score_groups
from tasks.judging.gold import GOLD
from tasks.judging.rubrics import order_dimensions
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.run_tables import ReportData, Row, System
from tasks.scoring.dimensions import put_on_scale

AVERAGE = "average"


@dataclass(frozen=True)
class ScoreTable:
    """Scores on 0-100 about one dataset. `rows`: what they are of, and a cell for each of the `columns`; null = there is none.

    A cell has `score`, `ci_low` and `ci_high`, and `n` of `n_total` answers with one.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Row | None, ...]], ...]


def describe_dimensions(data: LeaderboardData) -> tuple[ScoreTable, ...]:
    """Describe what was rated, datasets in the blueprint's order, models in that of the ranking, gold replies last.

    Dimensions are in the order of their rubric, behind them their mean where each of a rubric's has a score.
    """
    rated = data.dimensions.with_columns(n="n_answers", **put_on_scale()).to_dicts()
    ranked = {_system(row): row for row in (each.model_dump() for each in data.rows) if RUN in row}
    group_of = {row[RUN]: row.get(GROUP) for row in ranked.values()}
    golds = {group_of.get(row[RUN]): _system(row) for row in reversed(rated) if row["setting"] == GOLD}  # newest of each group
    ranked |= {one: {"model": GOLD, "setting": GOLD, GROUP: group} for group, one in golds.items()}
    tables = []
    for name, dataset in data.blueprint.datasets.items():
        for rubric in dict.fromkeys(row["rubric"] for row in rated if row["dataset"] == name):
            of = [row for row in rated if (row["dataset"], row["rubric"]) == (name, rubric)]
            order = order_dimensions(rubric, (row["dimension"] for row in of), data.blueprint.own_rubrics)
            found = {(_system(row), row["dimension"]): row for row in of}
            shown = [one for one in ranked if any((one, each) in found for each in order)]
            rows = [((_name(ranked[one], data),), [found.get((one, each)) for each in order]) for one in shown]
            columns = (*(each.replace("_", " ") for each in order), AVERAGE)
            cells = tuple((head, (*given, _average(given))) for head, given in rows)
            tables += [ScoreTable(dataset.title, columns, cells)] if rows else []
    return tuple(tables)


def _system(row: Row) -> tuple[str, str, str]:
    return row["model"], row["setting"], row[RUN]


def _name(row: Row, data: LeaderboardData) -> str:
    group = f", group {row[GROUP]}" if len(data.groups) > 1 else ""
    return f"{System(row['model'], row['setting']).label}{group}"


def _average(cells: Sequence[Row | None]) -> Row | None:
    """Return the cell of a row's mean: it has no interval of its own, and none is told unless each dimension has a score."""
    scores = [cell["score"] for cell in cells if cell and cell["score"] is not None]
    return {"score": fmean(scores)} if len(scores) == len(cells) else None


def describe_groups(data: ReportData) -> tuple[ScoreTable, ...]:
    """Describe the scores by group and value, in the order of the datasets; none where no item is in a group."""
    rows = sorted(score_groups(data), key=lambda row: data.dataset_order(row["dataset"]))
    return tuple(_group_table(data, list(some)) for _, some in groupby(rows, key=itemgetter("dataset", "model", "setting")))


def _group_table(data: ReportData, rows: list[Row]) -> ScoreTable:
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
