"""Say which ranks of a board's systems the data do not rule out: paired tests of any two, Holm's correction over the board."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from tasks.leaderboard.across_models import read_rows
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System
from tasks.runs.verdict import judge_run
from tasks.scoring.aggregation import SYSTEM
from tasks.scoring.gains import compare_totals, pair_models
from tasks.scoring.tree import tree_tables
from tasks.statistics.ranks import rank_ranges, tied_sets


def with_rank_ranges(data: LeaderboardData) -> LeaderboardData:
    """Return a leaderboard of runs whose totals have `rank_low` and `rank_high`, by the settings of each group's newest run."""
    totals = []
    for own in data.totals.partition_by(GROUP, maintain_order=True):
        newest = next(run for name, run in data.runs.items() if name in own[RUN])
        totals.append(ranked_run(newest, read_rows("item_scores", own.drop_nulls("rank"), data, newest.lake), own))
    return replace(data, totals=pl.concat(totals)) if totals else data


def ties_said(data: LeaderboardData) -> Iterator[str]:
    """Say which models are tied, where ranges of ranks are known."""
    if sets := data.totals.get_column("tied", default=pl.Series()).drop_nulls().to_list():
        yield f"Tied, as no two differ significantly, which does not make them equivalent: {'; '.join(map(', '.join, sets))}"


def ranked_run(run: PastRun | ReportData, item_scores: pl.DataFrame, totals: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return judged totals with `rank_low` and `rank_high`, drawn as the run has it; null = its own totals."""
    return add_rank_ranges(judge_run(run) if totals is None else totals, item_scores, run.blueprint)


def add_rank_ranges(totals: pl.DataFrame, item_scores: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return totals with `rank_low` and `rank_high`, null where no other ranked system of the setting can be tested against.

    `tied`: systems of the tied set of which it is the best.
    """
    rows: list[tuple[object, ...]] = []
    for own in totals.drop_nulls("rank").sort("total", *SYSTEM, descending=[True, False, False]).partition_by("setting"):
        if own.height > 1:
            rows += _ranges(own, item_scores.join(own, on=SYSTEM, how="semi"), blueprint)
    columns = {"rank_low": pl.Int64(), "rank_high": pl.Int64(), "tied": pl.List(pl.String)}
    ranges = pl.DataFrame(rows, {**totals.select(SYSTEM).schema, **columns}, orient="row")
    return totals.join(ranges, on=SYSTEM, how="left", maintain_order="left")


def _ranges(totals: pl.DataFrame, item_scores: pl.DataFrame, blueprint: Blueprint) -> Iterator[tuple[object, ...]]:
    """Yield the columns of `add_rank_ranges` of the systems of a setting, best first, that can be tested against another one."""
    models = totals["model"].to_list()
    gaps, p_values = np.zeros((len(models), len(models))), np.full((len(models), len(models)), np.nan)
    pairing = pair_models(item_scores.lazy(), blueprint.datasets, tree_tables(blueprint))
    for pair, score in compare_totals(models, blueprint, pairing):
        if (p_value := score.difference.p_value) is not None:
            first, second = map(models.index, pair)
            gaps[first, second], gaps[second, first] = score.before - score.after, score.after - score.before
            p_values[first, second] = p_values[second, first] = p_value
    tested = np.flatnonzero(np.isfinite(p_values).any(axis=1))
    among = np.ix_(tested, tested)
    sets = [tested[[*tied]] for tied in tied_sets(totals["total"].to_numpy()[tested], p_values[among])]
    labels = [System(*system).label for system in totals.select(SYSTEM).iter_rows()]
    tied = {int(places[0]): [labels[place] for place in places] for places in sets}
    ranges = rank_ranges(gaps, p_values)
    yield from ((models[place], totals["setting"][place], *ranges[place], tied.get(place)) for place in tested.tolist())
