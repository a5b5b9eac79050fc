"""Algorithm 5: main abilities to one total, the one-vote veto of the gate, and the rank."""

from collections.abc import Sequence

import polars as pl

from schemas.blueprint import Blueprint
from tasks.scoring.aggregation import COUNTS, SYSTEM, weigh

_ROUNDING = 1e-9
"""Scores closer than this are the same number computed in two ways: far above rounding, far below what one item can change."""

GATE = ("gate_score", "gate_ci_low", "gate_ci_high", "gate_coverage", "gate_item_coverage")
"""Columns of `totals` by which the veto is decided."""

_LEAST_OF_THE_GATE = 0.5
_ITEM_COVERAGE = pl.when(pl.col("n_total") > 0).then(pl.col("n_scored") / pl.col("n_total"))
_TOTAL, _GATE = pl.col("total_before_veto"), pl.col("gate_score")


def total_scores(abilities: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return rows of `totals` without intervals, verdict and rank, from rows of `ability_scores`."""
    gate = blueprint.gate
    is_gate = pl.col("ability") == gate.ability if gate else pl.lit(value=False)
    weights = pl.DataFrame(
        {"ability": [ability.id for ability in blueprint.abilities], "weight": [a.weight for a in blueprint.abilities]},
        schema_overrides={"weight": pl.Float64},
    )
    weighed = abilities.lazy().join(weights.lazy(), on="ability")
    of_gate = weighed.filter(is_gate).select(
        *SYSTEM,
        gate_score="score_0_100",
        gate_coverage=pl.col("datasets_scored") / pl.col("datasets_total"),
        gate_item_coverage=_ITEM_COVERAGE,
    )
    counts = weighed.group_by(SYSTEM).agg(pl.col(COUNTS).sum()).join(of_gate, on=SYSTEM, how="left")
    mean = weigh(weighed.filter(~is_gate), [])
    before = mean.select(*SYSTEM, total_before_veto="score_0_100")
    totals = counts.join(before, on=SYSTEM, how="left").with_columns(
        coverage=pl.col("datasets_scored") / pl.col("datasets_total"),
        item_coverage=_ITEM_COVERAGE,
    )
    return totals.collect()


def apply_veto(totals: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Add total, vetoed and veto_reason. Below the threshold the total is 0; exactly at it the model passes.

    The veto is decided by the whole gate: all its datasets scored, and of their items the share that a rank asks for. By a part
    of it, at least half, it is decided only if the gate's interval lies wholly on one side of the threshold. Otherwise `vetoed`
    is null, and the total stands.
    """
    gate = blueprint.gate
    if gate is None:
        return totals.with_columns(total=_TOTAL, vetoed=pl.lit(value=False), veto_reason=pl.lit(None, pl.String))
    threshold = gate.threshold - _ROUNDING
    # A published score comes without item counts; nothing is known to be missing from it.
    asked = pl.col("gate_item_coverage").fill_null(1.0)
    whole = (pl.col("gate_coverage") == 1) & (asked >= blueprint.rank_item_coverage)
    half = (pl.col("gate_coverage") >= _LEAST_OF_THE_GATE) & (asked >= _LEAST_OF_THE_GATE)
    clear = (pl.col("gate_ci_high") < threshold) | (pl.col("gate_ci_low") >= threshold)
    vetoed = pl.when(whole | (half & clear)).then(threshold > _GATE)
    text = f"{gate.ability} scored {{}}, below the threshold of {gate.threshold:g}"
    return totals.with_columns(
        total=pl.when(vetoed).then(0.0).otherwise(_TOTAL),
        vetoed=vetoed,
        veto_reason=pl.when(vetoed).then(pl.format(text, _GATE.round(6))),
    )


def rank_models(
    totals: pl.DataFrame, blueprint: Blueprint, *, rank_incomplete: bool = False, within: Sequence[str] = ("setting",)
) -> pl.DataFrame:
    """Rank by total, the highest first, within each setting; equal totals share the smaller rank.

    It is null for vetoed, unscored and (unless `rank_incomplete`) incomplete models and those whose veto is undecided.
    """
    complete = pl.col("datasets_scored") == pl.col("datasets_total")
    # A published total comes without item counts; nothing is known to be missing from it.
    asked = pl.col("item_coverage").fill_null(1.0) >= blueprint.rank_item_coverage
    eligible = pl.col("total").is_not_null() & pl.col("vetoed").fill_null(value=False).not_()
    if not rank_incomplete:
        eligible &= complete & asked & pl.col("vetoed").is_not_null()
    ranked = pl.when(eligible).then(pl.col("total").round(9))
    return totals.with_columns(rank=ranked.rank("min", descending=True).over(*within).cast(pl.Int64))
