"""Score a benchmark: item scores to every layer up to the leaderboard; rank again by other weights and thresholds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import dataframely as dy
import polars as pl
from pydantic import Field

from schemas.base import Frozen
from schemas.blueprint import Blueprint
from schemas.tables import scores as tables
from tasks.lake.frames import sort_keys
from tasks.scoring.aggregation import SYSTEM, aggregate_scores, apply_veto, rank_models, scope_contributions, total_scores
from tasks.scoring.published import papers
from tasks.scoring.reduction import KEY, normalise_scores, reduce_item_scores
from tasks.scoring.tree import LEVEL, Tree, tree_tables
from tasks.scoring.uncertainty import score_intervals
from tasks.statistics.reliability import rank_correlation

SchemaT = TypeVar("SchemaT", bound=dy.Schema)

SCORING_VERSION = "9"
"""Bumped when the same item scores would give other numbers."""


class ScoreSettings(Frozen):
    """What scoring depends on besides item scores and blueprint."""

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
    ScoringError: a score belongs to no method of the blueprint or lies outside its bounds.
    """
    tree = tree_tables(blueprint)
    raw = reduce_item_scores(item_scores)
    normalized = normalise_scores(raw, tree)
    aggregates = aggregate_scores(normalized, tree, settings.lacking)
    main, below = pl.col("tier") == 1, pl.col("tier") > 1
    abilities = aggregates.nodes.filter(main).rename({"node": "ability"})
    totals = total_scores(abilities, blueprint)
    contributions = scope_contributions(normalized, aggregates, tree)
    limits, limits_of_totals = score_intervals(item_scores, raw, contributions, tree)
    decided = apply_veto(totals.join(limits_of_totals, on=SYSTEM, how="left"), blueprint)
    return ScoreTables(
        raw=_table(tables.RawScores, raw.join(limits, on=KEY, how="left")),
        normalized=_table(tables.NormalizedScores, normalized),
        dataset=_table(tables.DatasetScores, aggregates.datasets),
        task=_table(tables.TaskScores, aggregates.tasks),
        level=_table(tables.LevelScores, aggregates.levels.rename({"node": "sub_ability"})),
        sub_ability=_table(tables.SubAbilityScores, aggregates.nodes.filter(below).rename({"node": "sub_ability"})),
        ability=_table(tables.AbilityScores, abilities),
        totals=_table(tables.Totals, rank_models(decided, blueprint, rank_incomplete=settings.rank_incomplete)),
    )


def _table(schema: type[SchemaT], frame: pl.DataFrame) -> dy.DataFrame[SchemaT]:
    return cast("dy.DataFrame[SchemaT]", frame.select(schema.column_names()).sort(sort_keys(schema.primary_key())))


_STEPS = (-10, -5, 5, 10)
"""Points that the threshold of the veto is moved by."""


@dataclass(frozen=True)
class Variation:
    """Another way to weigh or to veto. `tree`: null where the totals before the veto stay as they are."""

    title: str
    blueprint: Blueprint
    tree: Tree | None = None


def list_variations(blueprint: Blueprint) -> Iterator[Variation]:
    """List what the ranks of a benchmark are varied by: level weights, places in the released code, threshold of the veto."""
    tree = tree_tables(blueprint)
    if tree.tasks["level"].n_unique() > 1:
        rules = tree.rules.sort("levels", "level")
        for title, weight in (
            ("All levels weigh the same", 1 / pl.len()),
            ("Lowest and highest level change weights", pl.col("weight").reverse()),
        ):
            yield Variation(title, blueprint, replace(tree, rules=rules.with_columns(weight=weight.over("levels"))))
    for paper in (paper for paper in papers() if paper.places):
        places = pl.read_csv(paper.folder / str(paper.places), schema_overrides={"level": LEVEL})
        if set(places["dataset"]) <= set(blueprint.datasets):
            yield Variation("Places of the released code", blueprint, _move(tree, places))
    if gate := blueprint.gate:
        for threshold in (gate.threshold + step for step in _STEPS if 0 <= gate.threshold + step <= 100):  # noqa: PLR2004
            changed = blueprint.model_copy(update={"gate": gate.model_copy(update={"threshold": threshold})})
            yield Variation(f"Veto below {threshold:g}", changed)


def _move(tree: Tree, places: pl.DataFrame) -> Tree:
    """Return the tree with datasets and tasks at these places, weighing the same among their like; a dataset may have several."""
    equal_weight = pl.lit(1.0).alias("weight")
    below = places.select(node="sub_ability", parent="ability", tier=pl.lit(2, pl.Int64)).unique().with_columns(equal_weight)
    return replace(
        tree,
        datasets=places.select("dataset", "task", equal_weight),
        tasks=places.select("task", pl.col("sub_ability").alias("node"), "level").unique().with_columns(equal_weight),
        nodes=pl.concat([tree.nodes.filter(pl.col("parent").is_null()), below]),
    )


def rank_varied(totals: pl.DataFrame, normalized: pl.DataFrame | None, variation: Variation) -> pl.DataFrame:
    """Return the same models with the total, veto and rank that they would have.

    What is covered, and the gate's interval, stay as they are; without `normalized` so do the totals before the veto.
    """
    if normalized is not None and variation.tree is not None:
        nodes = aggregate_scores(normalized, variation.tree).nodes.filter(pl.col("tier") == 1).rename({"node": "ability"})
        other = total_scores(nodes, variation.blueprint).select(*SYSTEM, "total_before_veto", "gate_score")
        totals = totals.drop("total_before_veto", "gate_score").join(other, on=SYSTEM, how="left")
    decided = apply_veto(totals.drop("total", "vetoed", "veto_reason"), variation.blueprint)
    return rank_models(decided, variation.blueprint)


def rank_correlations(scores: Mapping[str, Sequence[float | None]]) -> dict[str, dict[str, float | None]]:
    """Return `rank_correlation` of each of several scores of the same models with each other one, by their names."""
    return {
        name: {other: rank_correlation(own, scores[other]) for other in scores if other != name} for name, own in scores.items()
    }
