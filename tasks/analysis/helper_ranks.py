"""Correlate the totals of models between groups of runs that differ in one helper alone, such as who plays the seeker."""

from collections.abc import Iterator
from itertools import combinations
from math import isfinite

import numpy as np
import polars as pl

from tasks.analysis.comparable_runs import basis
from tasks.analysis.leaderboard import GROUP, LeaderboardData
from tasks.analysis.run_tables import Row
from tasks.scoring.resampling import Floats
from tasks.solvers.registry import helper_roles

FEWEST = 3
"""Models that a rank correlation needs: of two it is 1 or -1."""


def compare_helpers(data: LeaderboardData) -> Iterator[Row]:
    """Yield how the ranks of models agree between any two groups that differ in one helper alone, setting by setting.

    Returns:
        role, groups, setting, models (with a total in both) and what `correlate_ranks` finds; nothing of fewer than FEWEST.
    """
    by_run = {manifest.run: manifest for manifest in data.manifests}
    runs = {group.number: by_run[run] for group in data.groups for run in group.runs if run in by_run}
    for pair in combinations(sorted(runs), 2):
        first, second = (basis(runs[number]) for number in pair)
        apart = [name for name in first | second if first.get(name) != second.get(name)]
        if len(apart) > 1 or apart[0] not in helper_roles():
            continue
        mine, theirs = (data.totals.filter(pl.col(GROUP) == number).drop_nulls("total") for number in pair)
        both = mine.join(theirs, on=["model", "setting"], suffix="_other").sort("setting", "model")
        for rows in both.partition_by("setting", maintain_order=True):
            if rows.height >= FEWEST:
                plan, totals = runs[pair[0]].plan, rows.select("total", "total_other").to_numpy().T
                found = correlate_ranks(totals, plan.get("bootstrap", 0), plan.get("seed", 0))
                named = {"setting": rows["setting"][0], "models": rows["model"].to_list()}
                yield {"role": apart[0], "groups": list(pair), **named, **found}


def correlate_ranks(totals: Floats, resamples: int, seed: int) -> dict[str, float | None]:
    """Return `spearman` (rho) and `kendall` (tau-b), each with `_low` and `_high`, its 95 % interval.

    Args:
        totals: [2, models].
        resamples: of the models, by percentile bootstrap; 0 = no intervals. Those in which a row does not vary are left out.
        seed: of the draws.

    Returns:
        Null where a row of the totals does not vary.
    """
    from scipy.stats import kendalltau, spearmanr  # noqa: PLC0415  takes a second to load

    models = totals.shape[1]
    draws = np.random.default_rng(seed).integers(models, size=(resamples, models))
    samples = [sample if np.ptp(sample, axis=1).all() else None for sample in (totals, *(totals[:, drawn] for drawn in draws))]
    found: dict[str, float | None] = {}
    for name, coefficient in (("spearman", spearmanr), ("kendall", kendalltau)):
        whole, *drawn = (np.nan if sample is None else float(coefficient(*sample).statistic) for sample in samples)
        low, high = np.nanquantile(drawn, (0.025, 0.975)) if any(map(isfinite, drawn)) else (np.nan, np.nan)
        limits = {name: whole, f"{name}_low": low, f"{name}_high": high}
        found |= {each: float(value) if isfinite(whole) and isfinite(value) else None for each, value in limits.items()}
    return found
