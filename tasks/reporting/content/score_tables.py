"""Describe scores about one dataset as a table: of a leaderboard's models by dimension, of a run's systems by group of items."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import fmean

from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.explain.groups import score_groups
from tasks.judging.answers import GOLD
from tasks.judging.rubrics import order_dimensions
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.run_tables import ReportData, Row, System
from tasks.scoring.breakdowns import put_on_scale
from tasks.text.number_format import count, number

AVERAGE = "average"


def score_cell(row: Row) -> Cell:
    """Return a score on 0-100 with its interval, and how many of the answers have one."""
    if not row["n_total"]:
        return Cell(row["score"])
    of = f" of {count(row['n_total'])}" if row["n"] < row["n_total"] else ""
    scale, rated = "", ""
    if "mean" in row:
        scale, rated = f"{number(row['mean'], 2)} on {row['scale_min']} to {row['scale_max']}, ", of and " rated"
    return Cell(row["score"], f"{scale}{count(row['n'])}{of}{rated}", interval=Interval.of(row["ci_low"], row["ci_high"]))


def describe_dimensions(data: LeaderboardData) -> tuple[Table, ...]:
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
            rows = [(_name(ranked[one], data), *_dimension_cells([found.get((one, each)) for each in order])) for one in shown]
            scores = columns("score", *(each.replace("_", " ") for each in (*order, AVERAGE)))
            tables += [Table((Column("Model", "name"), *scores), rows, dataset.title)] if rows else []
    return tuple(tables)


def _system(row: Row) -> tuple[str, str, str]:
    return row["model"], row["setting"], row[RUN]


def _name(row: Row, data: LeaderboardData) -> str:
    group = f", group {row[GROUP]}" if len(data.groups) > 1 else ""
    return f"{System(row['model'], row['setting']).label}{group}"


def _dimension_cells(rows: Sequence[Row | None]) -> Iterator[Value]:
    """Yield scores by dimension and their mean: it has no interval of its own, and none is told unless each has a score."""
    scores = [row["score"] for row in rows if row and row["score"] is not None]
    yield from (score_cell(row) if row else None for row in rows)
    yield fmean(scores) if len(scores) == len(rows) else None


def describe_groups(data: ReportData) -> tuple[Table, ...]:
    """Describe the scores by group and value, in the order of the datasets; none where no item is in a group."""
    rows = sorted(score_groups(data), key=lambda row: data.dataset_order(row["dataset"]))
    return tuple(_group_table(data, list(some)) for _, some in groupby(rows, key=itemgetter("dataset", "model", "setting")))


def _group_table(data: ReportData, rows: list[Row]) -> Table:
    measures = dict.fromkeys(row["measure"] for row in rows)
    cells = {(row["group"], row["value"], row["measure"]): score_cell(row) for row in rows}
    values = dict.fromkeys((row["group"], row["value"]) for row in rows)
    scores = columns("score", *(measure.replace("_", " ") for measure in measures))
    return Table(
        (*columns("name", "Group", "Value"), *scores),
        [
            (*(name.replace("_", " ") for name in value), *(cells.get((*value, measure)) for measure in measures))
            for value in values
        ],
        f"{data.titles[rows[0]['dataset']]}: {System(rows[0]['model'], rows[0]['setting']).label}",
    )
