"""Describe what judges gave the models of a leaderboard: a table per dataset, a row per model, a column per dimension."""

from collections.abc import Sequence
from statistics import fmean

from tasks.analysis.leaderboard import GROUP, RUN, LeaderboardData
from tasks.analysis.run_tables import System
from tasks.judging.gold import GOLD
from tasks.judging.rubrics import order_dimensions
from tasks.reporting.content.tables import Row, ScoreTable
from tasks.scoring.dimensions import put_on_scale

AVERAGE = "average"


def describe_dimensions(data: LeaderboardData) -> tuple[ScoreTable, ...]:
    """Describe what was rated, datasets in the blueprint's order, models in that of the ranking, gold replies last.

    Dimensions are in the order of their rubric, behind them their mean where each of a rubric's has a score.
    """
    rated = data.dimensions.with_columns(n="n_answers", **put_on_scale()).to_dicts()
    ranked = {_system(row): row for row in data.rows if RUN in row}
    group_of = {row[RUN]: row.get(GROUP) for row in ranked.values()}
    golds = {group_of.get(row[RUN]): _system(row) for row in reversed(rated) if row["setting"] == GOLD}  # newest of each group
    ranked |= {one: {"model": GOLD, "setting": GOLD, GROUP: group} for group, one in golds.items()}
    tables = []
    for name, dataset in data.blueprint.datasets.items():
        for rubric in dict.fromkeys(row["rubric"] for row in rated if row["dataset"] == name):
            of = [row for row in rated if (row["dataset"], row["rubric"]) == (name, rubric)]
            order = order_dimensions(rubric, (row["dimension"] for row in of))
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
