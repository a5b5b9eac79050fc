"""Each rule of the score layers accepts and rejects."""

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from schemas.tables.scores import (
    AbilityScores,
    DatasetScores,
    DimensionScores,
    ItemScores,
    LevelScores,
    NormalizedScores,
    RawScores,
    SubAbilityScores,
    TaskScores,
    Totals,
)
from tests.rows import each_row
from tests.schemas.breaches import accepts, frame, rejects

Row = dict[str, Any]
KEY: Row = {"model": "m", "dataset": "d", "method": "choice", "metric": "accuracy", "setting": "base"}
ITEM: Row = KEY | {
    "item_id": "d-1",
    "part": "",
    "repetition": 0,
    "cluster": "d-1",
    "parsed_answer": "A",
    "chosen_place": 0,
    "value": 1.0,
    "status": "scored",
}
RAW: Row = KEY | {"value": 0.5, "ci_low": None, "ci_high": None, "n_scored": 4, "n_unparsed": 1, "n_total": 5}
DIMENSION: Row = {"model": "m", "dataset": "d", "setting": "base", "rubric": "r", "dimension": "warmth", "judge": "j"}
RATED: Row = DIMENSION | {"scale_min": 0, "scale_max": 4, "mean": 2.5, "n_answers": 4, "n_total": 5, "n_clusters": 2}
NORMALIZED: Row = KEY | {"normalized_0_100": 50.0, "n_scored": 4, "n_total": 5}
AGGREGATE: Row = {
    "model": "m",
    "setting": "base",
    "score_0_100": 50.0,
    "datasets_scored": 1,
    "datasets_total": 2,
    "n_scored": 4,
    "n_total": 5,
}
TOTAL: Row = {
    "model": "m",
    "setting": "base",
    "total": 50.0,
    "total_before_veto": 50.0,
    "ci_low": 40.0,
    "ci_high": 60.0,
    "gate_score": 90.0,
    "vetoed": False,
    "datasets_scored": 2,
    "datasets_total": 2,
    "n_scored": 4,
    "n_total": 5,
    "coverage": 1.0,
    "item_coverage": 0.8,
    "rank": 1,
}
VETOED: Row = TOTAL | {"total": 0.0, "vetoed": True, "veto_reason": "safe scored 10", "rank": None}
UNSCORED: Row = TOTAL | dict.fromkeys(("total", "total_before_veto", "ci_low", "ci_high", "gate_score", "vetoed", "rank"))

ACCEPTED: list[tuple[type[dy.Schema], Row]] = [
    (ItemScores, ITEM),
    (ItemScores, ITEM | {"value": 0.0, "status": "unparsed", "parsed_answer": None}),
    (ItemScores, ITEM | {"value": None, "status": "call_failed"}),
    (ItemScores, ITEM | {"value": None, "status": "judge_failed"}),
    (ItemScores, ITEM | {"value": None, "status": "not_counted"}),
    (ItemScores, ITEM | {"predicted": ["joy"], "gold": []}),
    (RawScores, RAW),
    (RawScores, RAW | {"value": 0.0}),
    (RawScores, RAW | {"value": None, "n_scored": 0, "n_unparsed": 0}),
    (NormalizedScores, NORMALIZED),
    (NormalizedScores, NORMALIZED | {"normalized_0_100": None}),
    (DatasetScores, AGGREGATE | {"dataset": "d"}),
    (TaskScores, AGGREGATE | {"task": "t"}),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": None, "datasets_scored": 0}),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": 0.0}),
    (LevelScores, AGGREGATE | {"sub_ability": "s", "level": "low"}),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 4}),
    (AbilityScores, AGGREGATE | {"ability": "a"}),
    (DimensionScores, RATED),
    (DimensionScores, RATED | {"mean": None, "n_answers": 0}),
    (Totals, TOTAL),
    (Totals, VETOED),
    (Totals, UNSCORED),
    (Totals, TOTAL | {"vetoed": None, "gate_score": None}),
    (Totals, VETOED | {"total_before_veto": None}),
]
REJECTED: list[tuple[type[dy.Schema], Row, str]] = [
    (ItemScores, ITEM | {"value": float("inf")}, "value|inf"),
    (ItemScores, ITEM | {"cluster": None}, "cluster|nullability"),
    (ItemScores, ITEM | {"value": None}, "value_follows_status"),
    (ItemScores, ITEM | {"status": "call_failed"}, "value_follows_status"),
    (ItemScores, ITEM | {"status": "judge_failed", "value": 0.0}, "value_follows_status"),
    (ItemScores, ITEM | {"status": "not_counted", "value": 0.0}, "value_follows_status"),
    (ItemScores, ITEM | {"value": None, "status": "unparsed"}, "value_follows_status"),
    (ItemScores, ITEM | {"repetition": -1}, "repetition|min"),
    (ItemScores, ITEM | {"model": ""}, "model|min_length"),
    (ItemScores, ITEM | {"item_id": None}, "item_id|nullability"),
    (RawScores, RAW | {"n_unparsed": 5}, "counts_add_up"),
    (RawScores, RAW | {"n_scored": 6}, "counts_add_up"),
    (RawScores, RAW | {"value": None}, "nothing_scored_means_no_value"),
    (RawScores, RAW | {"n_scored": 0, "n_unparsed": 0}, "nothing_scored_means_no_value"),
    (RawScores, RAW | {"n_unparsed": -1}, "n_unparsed|min"),
    (NormalizedScores, NORMALIZED | {"normalized_0_100": 100.5}, "normalized_0_100|max"),
    (NormalizedScores, NORMALIZED | {"normalized_0_100": -0.5}, "normalized_0_100|min"),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": None}, "nothing_scored_means_no_score"),
    (TaskScores, AGGREGATE | {"task": "t", "datasets_scored": 0}, "nothing_scored_means_no_score"),
    (TaskScores, AGGREGATE | {"task": "t", "datasets_scored": 3}, "coverage_is_a_share"),
    (TaskScores, AGGREGATE | {"task": "t", "score_0_100": 101.0}, "score_0_100|max"),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 1}, "tier|min"),
    (SubAbilityScores, AGGREGATE | {"sub_ability": "s", "tier": 5}, "tier|max"),
    (AbilityScores, AGGREGATE | {"ability": ""}, "ability|min_length"),
    (DimensionScores, RATED | {"mean": None}, "no_rating_means_no_mean"),
    (DimensionScores, RATED | {"mean": 0.0, "n_answers": 0}, "no_rating_means_no_mean"),
    (DimensionScores, RATED | {"mean": 4.5}, "mean_lies_on_its_scale"),
    (Totals, VETOED | {"rank": 3}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, VETOED | {"total": 40.0}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, VETOED | {"veto_reason": None}, "veto_zeroes_the_total_and_takes_the_rank"),
    (Totals, TOTAL | {"total": 49.0}, "total_is_the_one_before_unless_vetoed"),
    (Totals, UNSCORED | {"total": 0.0}, "total_is_the_one_before_unless_vetoed"),
    (Totals, TOTAL | {"coverage": 1.2}, "coverage|max"),
    (Totals, TOTAL | {"rank": 0}, "rank|min"),
    (Totals, TOTAL | {"datasets_total": 0}, "datasets_total|min"),
]


@each_row(("schema", "row"), ACCEPTED)
def test_sound_rows_are_accepted(schema: type[dy.Schema], row: Row) -> None:
    accepts(schema, row)


@each_row(("schema", "row", "rule"), REJECTED)
def test_each_rule_rejects(schema: type[dy.Schema], row: Row, rule: str) -> None:
    rejects(schema, row, rule)


@each_row(("schema", "row"), dict(ACCEPTED).items())
def test_a_key_occurs_once(schema: type[dy.Schema], row: Row) -> None:
    twice = pl.concat([frame(schema, row)] * 2)
    assert schema.filter(twice)[1].counts() == {"primary_key": 2}


def test_statuses_and_metrics_are_closed_sets() -> None:
    for changed in ({"status": "skipped"}, {"metric": "charm"}):
        plain = {
            name: pl.String if isinstance(column, dy.Enum) else column.dtype for name, column in ItemScores.columns().items()
        }
        with pytest.raises(dy.exc.ValidationError, match="'dtype' failed for 1 rows"):
            ItemScores.validate(pl.DataFrame([ITEM | changed], schema=plain), cast=True)
