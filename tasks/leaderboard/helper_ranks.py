"""Correlate the totals of models between groups of runs that differ in one helper alone, such as who plays the seeker."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from tasks.judging.agreement import FEWEST_PAIRS
from tasks.leaderboard.ranking import GROUP, LeaderboardData
from tasks.runs.comparable_runs import basis, fields_apart
from tasks.runs.run_tables import Row
from tasks.scoring.rater_agreement import CORRELATIONS, correlate
from tasks.scoring.resampling import Floats, draw_weights
from tasks.scoring.uncertainty import limits_of
from tasks.solvers.registry import helper_roles


def compare_helpers(data: LeaderboardData) -> Iterator[Row]:
    """Yield how the ranks of models agree between any two groups that differ in one helper alone, setting by setting.

    Returns:
        role, groups, setting, models (with a total in both) and what `correlate_ranks` finds; nothing of fewer than FEWEST_PAIRS.
    """
    by_run = {manifest.run: manifest for manifest in data.manifests}
    runs = {group.number: by_run[run] for group in data.groups for run in group.runs if run in by_run}
    for pair in combinations(sorted(runs), 2):
        apart = fields_apart(*(basis(runs[number]) for number in pair))
        if len(apart) > 1 or apart[0] not in helper_roles():
            continue
        mine, theirs = (data.totals.filter(pl.col(GROUP) == number).drop_nulls("total") for number in pair)
        both = mine.join(theirs, on=["model", "setting"], suffix="_other").sort("setting", "model")
        for rows in both.partition_by("setting", maintain_order=True):
            if rows.height >= FEWEST_PAIRS:
                plan, totals = runs[pair[0]].plan, rows.select("total", "total_other").to_numpy().T
                found = correlate_ranks(totals, plan.get("bootstrap", 0), plan.get("seed", 0))
                named = {"setting": rows["setting"][0], "models": rows["model"].to_list()}
                yield {"role": apart[0], "groups": list(pair), **named, **found}


def correlate_ranks(totals: Floats, resamples: int, seed: int) -> Row:
    """Return `spearman` and `kendall_tau_b`, each with `_low` and `_high`, its 95 % interval.

    Args:
        totals: [2, models].
        resamples: of the models; 0 = no intervals. Those in which a row does not vary, or with few models, are left out.
        seed: of the draws.

    Returns:
        Null where a row of the totals does not vary.
    """
    weights = np.hstack((np.ones((totals.shape[1], 1)), draw_weights("models", totals.shape[1], resamples, seed)))
    whole, drawn = np.split(correlate(totals[0], totals[1], weights), [1], axis=1)
    limits = limits_of(drawn).with_columns(value=pl.Series(whole[:, 0], nan_to_null=True))
    rows = {name: row for name, row in zip(CORRELATIONS, limits.iter_rows(named=True), strict=True) if name != "pearson"}
    ends = {"": "value", "_low": "ci_low", "_high": "ci_high"}
    return {f"{name}{end}": row[column] for name, row in rows.items() for end, column in ends.items()}
