"""Lay out models of a leaderboard that are ranked together, side by side."""

from schemas.documents.leaderboard import AcrossModels, ModelScore, PairDifference
from schemas.table import Cell, Column, Interval, Table, Value, columns

MOST_COMPARED = 10
"""Models set side by side on a page; JSON and CSV have all."""

FIRST = slice(MOST_COMPARED)


def tasks_table(across: AcrossModels, models: slice) -> Table:
    """Return the tasks, a column for each of these models."""
    scores = columns("score", *across.models[models], digits=1)
    rows: list[tuple[Value, ...]] = [
        (task.title, *map(_task_cell, task.scores[models]), task.weakest_of) for task in across.tasks
    ]
    return Table((Column("Task", "name"), *scores, Column("Weakest of", "count")), rows, "Tasks by model")


def _task_cell(score: ModelScore) -> Cell:
    return Cell(score.score, "≈" if score.tied and score.mark != "best" else "", score.mark)


def differences_table(across: AcrossModels) -> Table:
    """Return totals less totals of the first models, a row and a column for each."""
    models = across.models[FIRST]
    pairs = {(pair.first, pair.second): _difference(pair) for pair in across.pairs}
    heads = (Column("Row less column", "name"), *columns("difference", *models, digits=1))
    return Table(heads, [(row, *(pairs.get((row, column), "") for column in models)) for row in models], "Differences of totals")


def pairs_table(across: AcrossModels) -> Table:
    """Return the same, a row for each pair."""
    first = set(across.models[FIRST])
    heads = (*columns("name", "Model", "Less"), Column("Points", "difference"), Column("95 % interval", "change"))
    rows = [
        (pair.first, pair.second, _difference(pair)._replace(interval=None), _difference(pair).interval, pair.n_items)
        for pair in across.pairs
        if {pair.first, pair.second} <= first
    ]
    return Table((*heads, Column("Items", "count")), rows, "Total less total")


def _difference(pair: PairDifference) -> Cell:
    ends = Interval.of(pair.ci_low, pair.ci_high)
    return Cell(pair.difference, mark="clear" if pair.is_clear else None, interval=ends)


def ranks_table(across: AcrossModels) -> Table:
    """Return ranks by other weights and thresholds, a column for each; below them how far they are the same."""
    ways = across.variations
    heads = (Column("Model", "name"), *columns("number", *(way.title for way in ways)))
    ranks = zip(across.models, *(way.ranks for way in ways), strict=True)
    moved, correlations = (way.moved for way in ways), (way.rank_correlation for way in ways)
    rows: list[tuple[Value, ...]] = [*ranks, ("Moved", *moved), ("Spearman's rho", *correlations)] if ways else []
    return Table(heads, rows, "Ranks by other weights and thresholds")
