"""Describe what judges gave the models of a leaderboard by dimension: a row per dimension, a column per model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.analysis.leaderboard import GROUP, RUN, LeaderboardData
from tasks.analysis.run_tables import System
from tasks.judging.gold import GOLD

Row = dict[str, Any]


@dataclass(frozen=True)
class RatedDimension:
    """One dimension. `cells`: rows of `dimension_scores` in the columns' order; null = not rated."""

    title: str
    name: str
    scale: str
    cells: tuple[Row | None, ...]


@dataclass(frozen=True)
class RatedDimensions:
    """Every dimension that was rated in a row of the ranking. `columns`: names of the systems that have any."""

    columns: tuple[str, ...]
    rows: tuple[RatedDimension, ...]


def describe_dimensions(data: LeaderboardData, titles: Mapping[str, str]) -> RatedDimensions | None:
    """Describe what was rated, models in the order of the ranking, gold replies last; datasets in the blueprint's order.

    Args:
        data: of the leaderboard.
        titles: of the datasets by id, in the blueprint's order.

    Returns:
        Null if nothing was rated.
    """
    by_system: dict[tuple[str, str, str], dict[tuple[str, ...], Row]] = {}
    for row in data.dimensions.to_dicts():
        scale = f"{row['scale_min']} to {row['scale_max']}"
        by_system.setdefault(_system(row), {})[row["dataset"], row["rubric"], row["dimension"], scale] = row
    ranked = {_system(row): row for row in data.rows if RUN in row}
    shown = [one for one in ranked if one in by_system]
    group_of = {row[RUN]: row.get(GROUP) for row in ranked.values()}
    golds = {group_of[one[-1]]: one for one in reversed(by_system) if GOLD in one[:-1]}  # the newest of each group
    ranked |= {one: {"model": GOLD, "setting": GOLD, GROUP: group} for group, one in golds.items()}
    shown += golds.values()
    if not shown:
        return None
    order = list(titles)
    keys = sorted(dict.fromkeys(key for one in shown for key in by_system[one]), key=lambda key: (order.index(key[0]), key))
    rows = (
        RatedDimension(titles[dataset], dimension.replace("_", " "), scale, tuple(by_system[one].get(key) for one in shown))
        for key in keys
        for dataset, _, dimension, scale in [key]
    )
    return RatedDimensions(tuple(_head(ranked[one], data) for one in shown), tuple(rows))


def _system(row: Row) -> tuple[str, str, str]:
    return row["model"], row["setting"], row[RUN]


def _head(row: Row, data: LeaderboardData) -> str:
    """Return the name of a column; what stands after | is small."""
    group = f"|group {row[GROUP]}" if len(data.groups) > 1 else ""
    return f"{System(row['model'], row['setting']).label}{group}"
