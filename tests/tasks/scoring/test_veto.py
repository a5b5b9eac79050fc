from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint
from schemas.tables.scores import Totals
from tasks.scoring.aggregation import apply_veto, rank_models, total_scores
from tasks.scoring.uncertainty import LIMITS, LIMITS_OF_GATE
from tests.tasks.scoring.samples import ability, blueprint, gated, task

NUMBERS = ("total", "total_before_veto", "gate_score")


def abilities(*scores: tuple[str, float | None], model: str = "m", setting: str = "base", scored: int = 10) -> pl.DataFrame:
    rows = [
        {
            "model": model,
            "setting": setting,
            "ability": name,
            "score_0_100": score,
            "datasets_scored": int(score is not None),
            "datasets_total": 1,
            "n_scored": scored if score is not None else 0,
            "n_total": 10,
        }
        for name, score in scores
    ]
    return pl.DataFrame(rows, schema_overrides={"score_0_100": pl.Float64})


def totals(
    *frames: pl.DataFrame,
    design: Blueprint | None = None,
    rank_incomplete: bool = False,
    gate: tuple[float | None, float | None] = (None, None),
) -> pl.DataFrame:
    chosen = design or gated()
    limits = dict.fromkeys(LIMITS) | dict(zip(LIMITS_OF_GATE, gate, strict=True))
    measured = total_scores(pl.concat(frames), chosen)
    decided = apply_veto(measured.with_columns(pl.lit(limit, pl.Float64).alias(name) for name, limit in limits.items()), chosen)
    ranked = rank_models(decided, chosen, rank_incomplete=rank_incomplete)
    return Totals.validate(ranked.select(Totals.column_names())).sort("model", "setting")


def only(frame: pl.DataFrame) -> dict[str, Any]:
    assert frame.height == 1
    return frame.row(0, named=True)


def gate_at(score: float | None, model: str = "m") -> pl.DataFrame:
    return abilities(("safe", score), ("able", 40.0), ("kind", 80.0), model=model)


def test_the_gate_never_enters_the_mean() -> None:
    # (0.3 x 40 + 0.7 x 80) / 1.0 = 12 + 56
    row = only(totals(gate_at(100)))
    assert [row[name] for name in NUMBERS] == [pytest.approx(68), pytest.approx(68), 100.0]
    assert (row["vetoed"], row["veto_reason"], row["rank"]) == (False, None, 1)


@pytest.mark.parametrize("score", [0.0, 40.83, 59.0, 59.99, 59.999999])
def test_below_the_threshold_is_vetoed(score: float) -> None:
    row = only(totals(gate_at(score)))
    assert [row[name] for name in NUMBERS] == [0.0, pytest.approx(68), score]
    assert (row["vetoed"], row["rank"]) == (True, None)
    assert row["veto_reason"] == f"safe scored {score}, below the threshold of 60"


@pytest.mark.parametrize("score", [60.0, 60.000001, 100.0])
def test_exactly_the_threshold_passes(score: float) -> None:
    row = only(totals(gate_at(score)))
    assert (row["vetoed"], row["rank"]) == (False, 1)
    assert row["total"] == row["total_before_veto"]


def test_a_gate_that_was_not_scored_decides_nothing() -> None:
    row = only(totals(gate_at(None)))
    assert row["vetoed"] is None
    assert row["total"] == row["total_before_veto"] == pytest.approx(68)
    assert row["rank"] is None
    assert row["coverage"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("score", "interval", "datasets", "items", "vetoed"),
    [
        (90.0, (80.0, 99.0), (1, 2), (10, 10), False),  # half of the gate, and all of its interval on one side
        (40.0, (20.0, 59.9), (1, 2), (10, 10), True),
        (70.0, (60.0, 80.0), (1, 2), (10, 10), False),  # exactly the threshold passes
        (70.0, (59.0, 80.0), (1, 2), (10, 10), None),
        (40.0, (20.0, 60.0), (1, 2), (10, 10), None),
        (40.0, (None, None), (1, 2), (10, 10), None),
        (90.0, (80.0, 99.0), (2, 5), (10, 10), None),  # less than half
        (40.0, (59.0, 61.0), (2, 2), (10, 10), True),  # the whole gate decides whatever its interval
        (40.0, (39.0, 61.0), (2, 2), (9, 10), None),  # 0.9 of its items, below 0.95
        (40.0, (39.0, 41.0), (2, 2), (9, 10), True),
        (40.0, (39.0, 41.0), (2, 2), (4, 10), None),
    ],
)
def test_partial_gate_decides_only_clear_cases(
    score: float, interval: tuple[float, float], datasets: tuple[int, int], items: tuple[int, int], vetoed: bool | None
) -> None:
    counts = dict(zip(("datasets_scored", "datasets_total", "n_scored", "n_total"), (*datasets, *items), strict=True))
    gate = abilities(("safe", score)).with_columns(pl.lit(count, pl.Int64).alias(name) for name, count in counts.items())
    frames = gate, abilities(("able", 40.0), ("kind", 80.0))
    row = only(totals(*frames, gate=interval, rank_incomplete=True))
    assert row["vetoed"] is vetoed
    assert row["total"] == (0 if vetoed else pytest.approx(68))
    assert (row["gate_coverage"], row["gate_item_coverage"]) == (datasets[0] / datasets[1], items[0] / items[1])
    assert row["rank"] == (None if vetoed else 1)
    ranked = vetoed is False and datasets[0] == datasets[1] and items[0] == items[1]
    assert (only(totals(*frames, gate=interval))["rank"] is not None) == ranked


def test_without_a_gate_nothing_is_vetoed() -> None:
    design = blueprint(ability("able", task("mind")), ability("kind", task("heart")))
    row = only(totals(abilities(("able", 1.0), ("kind", 2.0)), design=design))
    assert (row["total"], row["vetoed"], row["gate_score"]) == (1.5, False, None)


def test_vetoed_model_alone_has_total_zero() -> None:
    row = only(totals(abilities(("safe", 10.0), ("able", None), ("kind", None))))
    assert (row["total"], row["total_before_veto"], row["vetoed"]) == (0.0, None, True)


def test_rank_by_total_and_ties_share_smaller_rank() -> None:
    scores = {"a": 50.0, "b": 70.0, "c": 70.0, "d": 90.0, "e": 10.0}
    frames = [abilities(("safe", 90.0), ("able", score), ("kind", score), model=model) for model, score in scores.items()]
    assert totals(*frames)["rank"].to_list() == [4, 2, 2, 1, 5]


def test_totals_that_differ_by_rounding_tie() -> None:
    frames = [
        abilities(("safe", 90.0), ("able", 70.0), ("kind", 70.0), model="a"),
        abilities(("safe", 90.0), ("able", 70.00000000000001), ("kind", 70.0), model="b"),
    ]
    assert totals(*frames)["rank"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("scored", "ranked"),
    [(10, True), (9, False)],  # 30 of 30 items; 27 of 30 = 0.9, below 0.95
)
def test_too_few_items_are_listed_but_not_ranked(scored: int, ranked: bool) -> None:
    frame = abilities(("safe", 90.0), ("able", 50.0), ("kind", 50.0), scored=scored)
    row = only(totals(frame))
    assert row["total"] == 50.0
    assert (row["rank"] is not None) == ranked
    assert only(totals(frame, rank_incomplete=True))["rank"] == 1


def test_the_required_share_of_items_is_the_blueprints() -> None:
    frame = abilities(("safe", 90.0), ("able", 50.0), ("kind", 50.0), scored=9)
    lenient = gated().model_copy(update={"rank_item_coverage": 0.9})
    assert only(totals(frame, design=lenient))["rank"] == 1


def test_unscored_and_vetoed_are_never_ranked() -> None:
    nothing = abilities(("safe", None), ("able", None), ("kind", None), model="a")
    assert totals(nothing, gate_at(10.0, "b"), rank_incomplete=True)["rank"].to_list() == [None, None]
