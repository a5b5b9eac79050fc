"""Say which ranks of the systems of a board the data do not rule out: paired tests of any two, Holm's correction over the board.

A total is tested before the veto, over the items that both systems have scored (tasks.scoring.gains.weigh_test). A pair without a
test is not told apart, nor is one whose difference over these items contradicts the order of the totals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.documents.leaderboard import AcrossModels, PairDifference
from tasks.leaderboard.across_models import total_differences
from tasks.leaderboard.ranking import GROUP, LeaderboardData
from tasks.scoring.gains import pair_models
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import Resampling
from tasks.statistics.equivalence import rank_ranges

_RANGES = {"setting": pl.String, "model": pl.String, "rank_low": pl.Int64, "rank_high": pl.Int64}


def with_rank_ranges(data: LeaderboardData, across: Iterable[AcrossModels]) -> LeaderboardData:
    """Return a leaderboard whose totals have `rank_low` and `rank_high`; `across`: what `compare_models` returned of it."""
    rows = []
    for group in across:
        of_group = data.totals.filter(pl.col("setting") == group.setting, pl.col(GROUP) == group.group) if group.pairs else None
        rows += [] if of_group is None else [(group.group, *row) for row in _ranges(of_group, group.pairs)]
    ranges = pl.DataFrame(rows, {GROUP: pl.Int64, **_RANGES}, orient="row")
    on = [GROUP, "setting", "model"]
    return replace(data, totals=data.totals.join(ranges, on=on, how="left", maintain_order="left")) if rows else data


def add_rank_ranges(
    totals: pl.DataFrame, item_scores: pl.DataFrame, blueprint: Blueprint, resampling: Resampling
) -> pl.DataFrame:
    """Return judged totals of a run with `rank_low` and `rank_high`; null where fewer than two systems of a setting are ranked.

    Args:
        totals: with the ranks, of models within their setting.
        item_scores: of the same models and settings.
        blueprint: of the run.
        resampling: of the intervals of its scores; with no resamples there is no range.
    """
    rows: list[tuple[str, str, int, int]] = []
    for own in totals.drop_nulls("rank").partition_by("setting", maintain_order=True):
        if own.height > 1 and resampling.resamples:
            asked = item_scores.filter(pl.col("setting") == own["setting"][0], pl.col("model").is_in(own["model"].implode()))
            pairing = pair_models(asked.lazy(), blueprint.datasets, tree_tables(blueprint), resampling)
            rows += _ranges(own, tuple(total_differences(own["model"].to_list(), blueprint, pairing)))
    ranges = pl.DataFrame(rows, _RANGES, orient="row")
    return totals.join(ranges, on=["setting", "model"], how="left", maintain_order="left")


def _ranges(totals: pl.DataFrame, pairs: Sequence[PairDifference]) -> list[tuple[str, str, int, int]]:
    """Return `setting`, `model` and the range of each ranked model that some pair is tested of; `totals`: of one setting."""
    ranked = totals.drop_nulls("rank").sort("rank", "model")
    models, means = ranked["model"].to_list(), ranked["total"].to_list()
    p_values = _p_values(models, means, {(pair.first, pair.second): pair for pair in pairs})
    ranges = rank_ranges(means, p_values) if len(models) > 1 else []
    tested = ~np.isnan(p_values).all(axis=1)
    setting = totals["setting"][0]
    return [(setting, model, *ends) for model, ends, has in zip(models, ranges, tested, strict=False) if has]


def _p_values(models: Sequence[str], means: Sequence[float], pairs: Mapping[tuple[str, str], PairDifference]) -> np.ndarray:
    """Return p-values, [models, models], in the order of `models`; NaN where there is no test."""
    p_values = np.full((len(models), len(models)), np.nan)
    for one, other in combinations(range(len(models)), 2):
        pair = pairs.get((models[one], models[other])) or pairs.get((models[other], models[one]))
        if pair is not None and pair.p_value is not None:
            ahead = pair.difference if pair.first == models[one] else -pair.difference
            p_values[one, other] = p_values[other, one] = pair.p_value if ahead * (means[one] - means[other]) > 0 else 1.0
    return p_values
