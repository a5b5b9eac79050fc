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
from tasks.scoring.uncertainty import Resampling, difference_errors
from tasks.statistics import student
from tasks.statistics.equivalence import rank_ranges, tied_sets


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
    totals, plan = judge_run(run) if totals is None else totals, run.manifest.plan
    return add_rank_ranges(totals, item_scores, run.blueprint, Resampling(plan.get("bootstrap", 0), plan.get("seed", 0)))


def add_rank_ranges(
    totals: pl.DataFrame, item_scores: pl.DataFrame, blueprint: Blueprint, resampling: Resampling
) -> pl.DataFrame:
    """Return totals with `rank_low` and `rank_high`, null where no other ranked system of the setting can be tested against.

    `tied`: systems of the tied set of which it is the best. Two totals are tested by the standard error of their difference
    (tasks.scoring.uncertainty.difference_errors).
    """
    rows = []
    for own in totals.drop_nulls("rank").sort(SYSTEM).partition_by("setting"):
        if own.height > 1 and resampling.resamples:
            errors, df = difference_errors(item_scores.join(own, on=SYSTEM, how="semi").lazy(), blueprint, resampling)
            means = own["total"].to_numpy()
            apart = np.abs(means - means[:, None])
            certain = np.where(apart > 0, np.inf, 0.0)
            p_values = 2 * student.upper_tail(np.divide(apart, errors, out=certain, where=errors != 0), df)
            ranges, systems = rank_ranges(means, p_values), [System(*system) for system in own.select(SYSTEM).iter_rows()]
            tested = np.flatnonzero(np.isfinite(errors).sum(axis=1) > 1)
            sets = [tested[[*found]] for found in tied_sets(means[tested], p_values[np.ix_(tested, tested)])]
            tied = {found[0]: [systems[at].label for at in found] for found in sets}
            rows += [(*systems[at], *ranges[at], tied.get(at)) for at in tested]
    columns = {"rank_low": pl.Int64(), "rank_high": pl.Int64(), "tied": pl.List(pl.String)}
    found = pl.DataFrame(rows, {**totals.select(SYSTEM).schema, **columns}, orient="row")
    return totals.join(found, on=SYSTEM, how="left", maintain_order="left")
