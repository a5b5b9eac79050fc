"""Layers of the score stage, from item to total."""

import dataframely as dy
import polars as pl

from schemas.tables.columns import ADDED, MEASURED, OfSystem
from schemas.vocabulary import ITEM_STATUSES, LEVELS


class _Measured(dy.Schema):
    """Columns that every score of a metric carries."""

    model = dy.String(primary_key=True, min_length=1, description="model under test")
    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")
    method = dy.String(primary_key=True, min_length=1, description="how it is scored, as the blueprint names it")
    metric = dy.String(primary_key=True, min_length=1, description="what the value measures")
    setting = dy.String(primary_key=True, min_length=1, description="how it was asked")


class ItemScores(_Measured):
    """One row per (model, dataset, method, metric, setting, item, part, repetition)."""

    item_id = dy.String(primary_key=True, min_length=1, description="id of the item in its dataset")
    part = dy.String(primary_key=True, description="which of the item's answers; empty = it has one")
    repetition = dy.Int64(primary_key=True, min=0, description="0-based number of the time that the item was asked")
    cluster = dy.String(min_length=1, description="the item's, as in `items`")
    parsed_answer = dy.String(nullable=True, description="what the reply was read as")
    predicted = dy.List(dy.String(), nullable=True, description="chosen labels, for F1")
    gold = dy.List(dy.String(), nullable=True, description="right labels, for F1")
    chosen_place = dy.Int64(nullable=True, min=0, description="0-based place of the chosen option as shown, of a single choice")
    gold_place = dy.Int64(nullable=True, min=0, description="0-based place of the right option as shown, of a single choice")
    value = dy.Float64(nullable=True, description="within the bounds of its metric, most often a share in [0, 1]; null = missing")
    status = dy.Enum(list(ITEM_STATUSES), description="scored; unparsed = counts as wrong; any other has no value")
    error = dy.String(nullable=True, metadata=MEASURED, description="that ended the reading of the reply, by name")

    @dy.rule()
    def value_follows_status(cls) -> pl.Expr:
        return pl.col("value").is_not_null() == pl.col("status").is_in(["scored", "unparsed"])


class RawScores(_Measured):
    """One row per (model, dataset, method, metric, setting): E_raw, in the metric's own unit."""

    value = dy.Float64(nullable=True, description="in the metric's own unit; null = nothing was scored")
    ci_low = dy.Float64(nullable=True, description="95 % interval by clusters of items; null = none")
    ci_high = dy.Float64(nullable=True, description="upper end of that interval")
    standard_error = dy.Float64(
        nullable=True, min=0, metadata=ADDED, description="of the value, by clusters; null = fewer than two, or not known"
    )
    n_scored = dy.Int64(min=0, description="answers with a value, unreadable ones among them")
    n_unparsed = dy.Int64(min=0, description="answers that cannot be read")
    n_total = dy.Int64(min=0, description="answers asked for")
    n_clusters = dy.Int64(nullable=True, min=0, description="that the interval rests on; null = nothing was scored")
    design_effect = dy.Float64(nullable=True, min=0, description="of a mean; null = single items, no interval")

    @dy.rule()
    def counts_add_up(cls) -> pl.Expr:
        return (pl.col("n_unparsed") <= pl.col("n_scored")) & (pl.col("n_scored") <= pl.col("n_total"))

    @dy.rule()
    def nothing_scored_means_no_value(cls) -> pl.Expr:
        return pl.col("value").is_null() == (pl.col("n_scored") == 0)


class DimensionScores(dy.Schema):
    """One row per (model, dataset, setting, rubric, dimension, judge): the mean of its ratings, in points of its scale.

    The judge is the one whose ratings count; beside it stand people, where they rated.

    What was not rated is left out: answers that did not come or say nothing, ratings that did not come or cannot be read.
    """

    model = dy.String(primary_key=True, min_length=1, description="model under test, or gold")
    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")
    setting = dy.String(primary_key=True, min_length=1, description="how it was asked, or gold")
    rubric = dy.String(primary_key=True, min_length=1, description="rubric that was rated by")
    dimension = dy.String(primary_key=True, min_length=1, description="dimension of the rubric")
    judge = dy.String(primary_key=True, min_length=1, description="a model, or people")
    scale_min = dy.Int64(description="lowest rating; of yes or no 0")
    scale_max = dy.Int64(description="highest rating; of yes or no 1")
    mean = dy.Float64(nullable=True, description="over items; null = no rating came")
    ci_low = dy.Float64(nullable=True, description="95 % interval by clusters of items; null = fewer than two")
    ci_high = dy.Float64(nullable=True, description="upper end of that interval")
    n_answers = dy.Int64(min=0, description="with a rating")
    n_total = dy.Int64(min=0, description="answers that the judge was asked about")
    n_clusters = dy.Int64(min=0, description="of the items with a rating")

    @dy.rule()
    def no_rating_means_no_mean(cls) -> pl.Expr:
        return pl.col("mean").is_null() == (pl.col("n_answers") == 0)

    @dy.rule()
    def mean_lies_on_its_scale(cls) -> pl.Expr:
        return pl.col("mean").is_null() | pl.col("mean").is_between("scale_min", "scale_max")


class NormalizedScores(_Measured):
    """The same on 0-100."""

    normalized_0_100 = dy.Float64(nullable=True, min=0, max=100, description="the value on 0-100; null = nothing was scored")
    n_scored = dy.Int64(min=0, description="answers with a value")
    n_total = dy.Int64(min=0, description="answers asked for")


class _Aggregate(OfSystem):
    """Columns that every aggregate carries."""

    score_0_100 = dy.Float64(nullable=True, min=0, max=100, description="null = nothing was scored")
    datasets_scored = dy.Int64(min=0, description="datasets with a score")
    datasets_total = dy.Int64(min=1, description="datasets in the blueprint")
    n_scored = dy.Int64(min=0, description="items with a value")
    n_total = dy.Int64(min=0, description="items asked")

    @dy.rule()
    def nothing_scored_means_no_score(cls) -> pl.Expr:
        return pl.col("score_0_100").is_null() == (pl.col("datasets_scored") == 0)

    @dy.rule()
    def coverage_is_a_share(cls) -> pl.Expr:
        return pl.col("datasets_scored") <= pl.col("datasets_total")


class DatasetScores(_Aggregate):
    """One row per (model, setting, dataset); datasets_total is 1."""

    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")


class TaskScores(_Aggregate):
    """One row per (model, setting, task)."""

    task = dy.String(primary_key=True, min_length=1, description="id of the task in the blueprint")


class LevelScores(_Aggregate):
    """One row per (model, setting, ability with tasks, level)."""

    sub_ability = dy.String(primary_key=True, min_length=1, description="id of the ability that has the tasks")
    level = dy.Enum(list(LEVELS), primary_key=True, description="level of these tasks")


class SubAbilityScores(_Aggregate):
    """One row per (model, setting, ability below the main tier)."""

    sub_ability = dy.String(primary_key=True, min_length=1, description="id of the ability")
    tier = dy.Int64(min=2, max=4, description="depth below the main abilities, which are tier 1")


class AbilityScores(_Aggregate):
    """One row per (model, setting, main ability), the gate included."""

    ability = dy.String(primary_key=True, min_length=1, description="id of the main ability")


class Totals(OfSystem):
    """One row per (model, setting)."""

    total = dy.Float64(nullable=True, min=0, max=100, description="0 if vetoed; null if nothing was scored")
    total_before_veto = dy.Float64(nullable=True, min=0, max=100, description="weighted mean of all main abilities but the gate")
    ci_low = dy.Float64(nullable=True, min=0, max=100, description="95 % interval of total_before_veto")
    ci_high = dy.Float64(nullable=True, min=0, max=100, description="upper end of that interval")
    gate_score = dy.Float64(nullable=True, min=0, max=100, description="of the gate; null = none, or nothing of it scored")
    gate_ci_low = dy.Float64(nullable=True, min=0, max=100, description="95 % interval of gate_score")
    gate_ci_high = dy.Float64(nullable=True, min=0, max=100, description="upper end of that interval")
    gate_coverage = dy.Float64(nullable=True, min=0, max=1, description="datasets of the gate scored / all")
    gate_item_coverage = dy.Float64(nullable=True, min=0, max=1, description="their items scored / asked")
    vetoed = dy.Bool(nullable=True, description="null if there is a gate and too little of it was scored to decide")
    veto_reason = dy.String(nullable=True, description="in words; null = not vetoed")
    datasets_scored = dy.Int64(min=0, description="datasets with a score")
    datasets_total = dy.Int64(min=1, description="datasets in the blueprint")
    n_scored = dy.Int64(min=0, description="items with a value")
    n_total = dy.Int64(min=0, description="items asked")
    coverage = dy.Float64(min=0, max=1, description="datasets scored / datasets in the blueprint")
    item_coverage = dy.Float64(nullable=True, min=0, max=1, description="items scored / items asked")
    rank = dy.Int64(nullable=True, min=1, description="among the run's models; null = not ranked")

    @dy.rule()
    def veto_zeroes_the_total_and_takes_the_rank(cls) -> pl.Expr:
        vetoed = pl.col("vetoed").fill_null(value=False)
        return ~vetoed | ((pl.col("total") == 0) & pl.col("rank").is_null() & pl.col("veto_reason").is_not_null())

    @dy.rule()
    def total_is_the_one_before_unless_vetoed(cls) -> pl.Expr:
        vetoed = pl.col("vetoed").fill_null(value=False)
        return vetoed | pl.col("total").eq_missing(pl.col("total_before_veto"))
