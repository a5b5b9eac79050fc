"""From item scores to raw scores, and from raw scores to 0-100."""

from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint, MetricSpec
from schemas.errors import ScoringError
from schemas.metrics import (
    CentredNormalisation,
    GradeNormalisation,
    NoNormalisation,
    Normalisation,
    NumericNormalisation,
    RatioNormalisation,
)
from tasks.scoring.reduction import normalise_scores, reduce_item_scores
from tasks.scoring.tree import tree_tables
from tests.rows import each_row
from tests.tasks.scoring.samples import items, one_dataset


def row(*parts: pl.DataFrame) -> dict[str, object]:
    reduced = reduce_item_scores(pl.concat(parts).lazy())
    assert reduced.height == 1
    return reduced.row(0, named=True)


COUNTS = ("value", "n_scored", "n_unparsed", "n_total")


@pytest.mark.parametrize(
    ("values", "status", "expected"),
    [
        # Counted: 1, 0.5, 0 (unparsed). Mean 1.5 / 3. Asked: 5.
        ([1, 0.5, 0, None, None], ["scored", "scored", "unparsed", "call_failed", "judge_failed"], (0.5, 3, 1, 5)),
        # Fillers are not asked for.
        ([1, None, 0, None], ["scored", "not_counted", "scored", "not_counted"], (0.5, 2, 0, 2)),
        # Nothing scored is null, a true zero is zero.
        ([None, None], None, (None, 0, 0, 2)),
        ([0, 0], None, (0.0, 2, 0, 2)),
    ],
)
def test_the_mean_of_what_was_scored(
    values: list[float | None], status: list[str] | None, expected: tuple[float | None, int, int, int]
) -> None:
    found = row(items("d", values, status=status))
    assert tuple(found[name] for name in COUNTS) == expected


def test_every_scored_repetition_weighs_the_same() -> None:
    # Item 0: 1, 1, 1; item 1: 0, failed, failed. Rows: 3 / 4; the item whose calls failed weighs less.
    values: list[list[float | None]] = [[1, 0], [1, None], [1, None]]
    found = row(*(items("d", said, repetition=number) for number, said in enumerate(values)))
    assert [found[name] for name in COUNTS] == [0.75, 4, 0, 6]


def test_an_item_that_lacks_a_part_is_missing() -> None:
    # Item 0: (1 + 0.5) / 2. Item 1: its second part failed, so that the first says nothing of the whole.
    found = row(items("d", [1, 1], part="1"), items("d", [0.5, None], part="2"))
    assert [found[name] for name in COUNTS] == [0.75, 1, 0, 2]


def test_groups_differ_in_every_part_of_the_key() -> None:
    parts = [
        items("d", [1]),
        items("d", [1], model="n"),
        items("e", [1]),
        items("d", [1], method="other"),
        items("d", [1], metric="exact_match"),
        items("d", [1], setting="rag"),
    ]
    assert reduce_item_scores(pl.concat(parts).lazy()).height == 6


def test_nothing_scored_is_null_for_f1_too() -> None:
    found = row(items("d", [None], metric="macro_f1"))
    assert found["value"] is None


def with_rule(rule: Normalisation) -> Blueprint:
    return one_dataset(MetricSpec(metric="accuracy", normalisation=rule))


def raw(value: float | None, **changed: Any) -> pl.DataFrame:
    row = {"model": "m", "dataset": "d", "method": "choice", "metric": "accuracy", "setting": "base", "value": value} | changed
    counts = {"n_scored": int(value is not None), "n_unparsed": 0, "n_total": 1}
    tree = tree_tables(with_rule(RatioNormalisation()))
    return pl.DataFrame([row | counts], schema_overrides={"metric": tree.metrics.schema["metric"], "value": pl.Float64})


def normalised(value: float | None, rule: Normalisation) -> float | None:
    frame = normalise_scores(raw(value), tree_tables(with_rule(rule)))
    assert frame.height == 1
    found: float | None = frame["normalized_0_100"].item()
    return found


UNBIASED = CentredNormalisation(best=0, span=1)
GRADES = GradeNormalisation(table={"1": 0, "2": 40, "2.5": 55, "3": 100})


@each_row(
    ("value", "rule", "expected"),
    [
        (3.0, NumericNormalisation(min=1, max=5), 50.0),  # (3 - 1) / (5 - 1) x 100
        (-1.0, NumericNormalisation(min=-2, max=2), 25.0),  # (-1 + 2) / 4 x 100
        (0.25, RatioNormalisation(), 25.0),
        (33.3, NoNormalisation(), 33.3),
        (0.0, UNBIASED, 100.0),  # (1 - 0) x 100
        (1.0, UNBIASED, 0.0),
        (-0.25, UNBIASED, 75.0),  # (1 - 0.25) x 100
        (0.25, UNBIASED, 75.0),
        (0.5, CentredNormalisation(best=0.5, span=0.5), 100.0),
        (0.75, CentredNormalisation(best=0.5, span=0.5), 50.0),  # (1 - 0.25 / 0.5) x 100
        (2.0, GRADES, 40.0),
        (2.5, GRADES, 55.0),
        (None, RatioNormalisation(), None),
    ],
)
def test_each_rule_by_hand(value: float | None, rule: Normalisation, expected: float | None) -> None:
    assert normalised(value, rule) == expected


@pytest.mark.parametrize(("best", "span"), [(0.3, 0.1), (0.1, 0.7), (1 / 3, 1 / 7), (0.7, 0.2)])
def test_rounding_leaves_a_centred_score_on_the_scale(best: float, span: float) -> None:
    rule = CentredNormalisation(best=best, span=span)
    values = [best - span, best - span / 2, best, best + span / 2, best + span]
    found = [normalised(value, rule) for value in values]
    assert found == pytest.approx([0, 50, 100, 50, 0])
    assert all(score is not None and 0 <= score <= 100 for score in found)


@each_row(
    ("value", "rule", "expected"),
    [
        (1.01, RatioNormalisation(), "between 0 and 1 (ratio)"),
        (5.5, NumericNormalisation(min=1, max=5), "between 1 and 5 (numeric)"),
        (1.5, UNBIASED, "between -1 and 1 (centred)"),
        (-0.5, CentredNormalisation(best=0.5, span=0.5), "between 0 and 1 (centred)"),
        (100.5, NoNormalisation(), "between 0 and 100 (none)"),
        (float("nan"), RatioNormalisation(), "between 0 and 1 (ratio)"),
    ],
)
def test_out_of_range_is_error_not_clamp(value: float, rule: Normalisation, expected: str) -> None:
    with pytest.raises(ScoringError, match="outside what its method allows") as caught:
        normalised(value, rule)
    assert caught.value.where == "dataset d, method choice, metric accuracy, model m"
    assert caught.value.expected == expected
    assert caught.value.got == f"{value} (1 such scores)"


def test_an_unknown_grade_is_an_error() -> None:
    with pytest.raises(ScoringError, match="not a grade of its method") as caught:
        normalised(4.0, GRADES)
    assert caught.value.where == "dataset d, method choice, metric accuracy, model m"


@pytest.mark.parametrize("changed", [{"dataset": "x"}, {"method": "x"}, {"metric": "mrr"}])
def test_score_blueprint_does_not_name_is_error(changed: dict[str, str]) -> None:
    with pytest.raises(ScoringError, match="belongs to no method of the blueprint"):
        normalise_scores(raw(1.0, **changed), tree_tables(with_rule(RatioNormalisation())))


def test_the_first_offender_is_named_whatever_the_order() -> None:
    two = pl.concat([raw(1.5, model="b"), raw(1.2, model="a")])
    for rows in (two, two.reverse()):
        with pytest.raises(ScoringError) as caught:
            normalise_scores(rows, tree_tables(with_rule(RatioNormalisation())))
        assert caught.value.where == "dataset d, method choice, metric accuracy, model a"
        assert caught.value.got == "1.2 (2 such scores)"
