"""Lay out a paper's experiments beside those of the lake, and its tables as printed."""

from schemas.blueprint import Ability
from schemas.table import Column, Table, columns
from tasks.leaderboard.published_experiments import Experiments
from tasks.runs.run_tables import Row
from tasks.solvers.registry import setting_title


def settings_table(experiments: Experiments, abilities: tuple[Ability, ...]) -> Table:
    """Return scores by setting."""
    scores = columns("score", *(main.title for main in abilities), digits=1)
    rows = [
        (row["model"], _origin(row), setting_title(row["setting"]), *(row.get(main.id) for main in abilities), row["n"])
        for row in experiments.settings
    ]
    return Table((*columns("name", "Model", "From", "Setting"), *scores, Column("Items", "count")), rows, "Scores by setting")


def thinking_table(experiments: Experiments) -> Table:
    """Return scores with thinking on and off."""
    scores = (*columns("score", "On", "Off"), Column("Gain", "difference"))
    rows = [(row["task"], row["model"], _origin(row), row["on"], row["off"], row["gain"]) for row in experiments.thinking]
    return Table((*columns("name", "Task", "Model", "From"), *scores), rows, "Scores with and without thinking")


def judged_table(experiments: Experiments) -> Table:
    """Return mean ratings by dimension, a column for each of those rated."""
    heads = (Column("Dimension", "name"), *columns("number", *(row["model"] for row in experiments.judged)))
    origins = ("From", *map(_origin, experiments.judged))
    rows = [(title, *(row.get(name) for row in experiments.judged)) for name, title in experiments.dimensions.items()]
    return Table(heads, [origins, *rows], "Mean ratings by dimension")


def printed_table(printed: Row) -> Table:
    """Return a table of the paper, its cells as printed."""
    rows = [[cell or "" for cell in row] for row in printed["rows"]]
    return Table(columns("name", *printed["columns"]), rows, printed["title"])


def _origin(row: Row) -> str:
    return row["run"] or "the paper"
