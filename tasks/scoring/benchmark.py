"""Score a benchmark: item scores to every layer up to the leaderboard, from one pure function."""

from dataclasses import dataclass
from typing import TypeVar, cast

import dataframely as dy
import polars as pl
from pydantic import Field

from schemas.base import Frozen
from schemas.blueprint import Blueprint
from schemas.metrics import sort_keys
from schemas.tables import scores as tables
from tasks.scoring.aggregation import SYSTEM, aggregate_scores, scope_contributions
from tasks.scoring.normalisation import normalise_scores
from tasks.scoring.reduction import KEY, reduce_item_scores
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import LIMITS, LIMITS_OF_GATE, OF_CLUSTERS, Intervals, Resampling, bootstrap_intervals
from tasks.scoring.veto import apply_veto, rank_models, total_scores

SchemaT = TypeVar("SchemaT", bound=dy.Schema)

SCORING_VERSION = "7"
"""Bumped when the same item scores would give other numbers."""


class ScoreSettings(Frozen):
    """What scoring depends on besides item scores and blueprint."""

    seed: int = Field(default=0, ge=0, description="of the bootstrap")
    bootstrap: int = Field(default=1000, ge=0, description="resamples for 95 % intervals; 0 = none")
    rank_incomplete: bool = Field(default=False, description="rank models with missing datasets or items too")
    lacking: dict[str, float] = Field(
        default_factory=dict,
        exclude_if=lambda shares: not shares,  # so that scores of what is whole have the name they had before there was any
        description="by dataset, how many items it lacks for each that it has, since rows of it break a rule",
    )


@dataclass(frozen=True)
class ScoreTables:
    """One table per layer, rows sorted by key; validated where they are written."""

    raw: dy.DataFrame[tables.RawScores]
    normalized: dy.DataFrame[tables.NormalizedScores]
    dataset: dy.DataFrame[tables.DatasetScores]
    task: dy.DataFrame[tables.TaskScores]
    level: dy.DataFrame[tables.LevelScores]
    sub_ability: dy.DataFrame[tables.SubAbilityScores]
    ability: dy.DataFrame[tables.AbilityScores]
    totals: dy.DataFrame[tables.Totals]

    def layer(self, name: str) -> pl.DataFrame:
        """Return the table of a layer by the layer's name, such as `raw_scores` or `totals`."""
        frame: pl.DataFrame = getattr(self, name.removesuffix("_scores"))
        return frame


def score_benchmark(item_scores: pl.LazyFrame, blueprint: Blueprint, settings: ScoreSettings) -> ScoreTables:
    """Score all models of a benchmark.

    The result depends on nothing but the arguments: not on the order of rows, on chunks or on the number of threads. Datasets of
    the blueprint without rows count as missing. All (model, setting) pairs of `item_scores` are in it, scored or not.

    Raises:
        ScoringError: if a score belongs to no method of the blueprint or lies outside its bounds.
    """
    tree = tree_tables(blueprint)
    raw = reduce_item_scores(item_scores)
    normalized = normalise_scores(raw, tree)
    aggregates = aggregate_scores(normalized, tree, settings.lacking)
    main, below = pl.col("tier") == 1, pl.col("tier") > 1
    abilities = aggregates.nodes.filter(main).rename({"node": "ability"})
    totals = total_scores(abilities, blueprint)
    intervals = _no_intervals(raw, totals)
    if settings.bootstrap:
        contributions = scope_contributions(normalized, aggregates, tree)
        resampling = Resampling(settings.bootstrap, settings.seed)
        intervals = bootstrap_intervals(item_scores, raw, contributions, tree, resampling)
    decided = apply_veto(totals.join(intervals.totals, on=SYSTEM, how="left"), blueprint)
    return ScoreTables(
        raw=_table(tables.RawScores, raw.join(intervals.raw, on=KEY, how="left")),
        normalized=_table(tables.NormalizedScores, normalized),
        dataset=_table(tables.DatasetScores, aggregates.datasets),
        task=_table(tables.TaskScores, aggregates.tasks),
        level=_table(tables.LevelScores, aggregates.levels.rename({"node": "sub_ability"})),
        sub_ability=_table(tables.SubAbilityScores, aggregates.nodes.filter(below).rename({"node": "sub_ability"})),
        ability=_table(tables.AbilityScores, abilities),
        totals=_table(tables.Totals, rank_models(decided, blueprint, rank_incomplete=settings.rank_incomplete)),
    )


def _no_intervals(raw: pl.DataFrame, totals: pl.DataFrame) -> Intervals:
    of_raw = pl.DataFrame(schema={**raw.select(KEY).schema, **LIMITS, **OF_CLUSTERS})
    return Intervals(of_raw, pl.DataFrame(schema={**totals.select(SYSTEM).schema, **LIMITS, **LIMITS_OF_GATE}))


def _table(schema: type[SchemaT], frame: pl.DataFrame) -> dy.DataFrame[SchemaT]:
    return cast("dy.DataFrame[SchemaT]", frame.select(schema.column_names()).sort(sort_keys(schema.primary_key())))
