"""Exact sums; from normalised scores to abilities, total, veto and rank; what each metric contributes to a total."""

import math
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.blueprint import Blueprint, Gate, MetricSpec
from schemas.tables.scores import Totals
from schemas.vocabulary import Level
from tasks.scoring.aggregation import Aggregates, aggregate_scores, apply_veto, metric_contributions, rank_models, total_scores
from tasks.scoring.reduction import normalise_scores, reduce_item_scores
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import LIMITS, LIMITS_OF_GATE
from tasks.statistics.sums import exact_sum, fixed_point_sum, from_fixed_point
from tests.rows import each_row
from tests.tasks.scoring.samples import ability, blueprint, gated, items, measured, one_dataset, share, task

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=200)


def summed(values: list[float | None]) -> float:
    return float(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}).select(exact_sum(pl.col("x"))).item())


@settings(deadline=None)
@given(SHARES.flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_order_does_not_matter(orders: tuple[list[float], list[float]]) -> None:
    assert summed(list(orders[0])) == summed(list(orders[1]))


@settings(deadline=None)
@given(SHARES)
def test_agrees_with_the_exact_sum(values: list[float]) -> None:
    # Each term loses less than 2**-60, the result less than one rounding.
    assert abs(Fraction(summed(list(values))) - sum(map(Fraction, values))) < len(values) * 2.0**-60 + math.ulp(sum(values))


def test_null_adds_nothing_and_nothing_sums_to_zero() -> None:
    assert summed([0.25, None, 0.5]) == 0.75
    assert summed([None]) == 0.0


def test_large_sums_do_not_overflow() -> None:
    assert summed([1e9] * 1000) == 1e12


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100) | st.none(), max_size=200), st.integers(0, 2))
def test_sums_of_sums_are_the_exact_sum(values: list[float | None], groups: int) -> None:
    rows = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}).with_row_index()
    sums = rows.group_by(pl.col("index") % (groups + 1)).agg(total=fixed_point_sum(pl.col("x")))
    total = sums.select(from_fixed_point(pl.col("total").sum())).item()
    assert total == summed(values)


@pytest.mark.parametrize(("value", "whole", "bits"), [(0.3, 5404319552844595, 54), (0.1, 7205759403792794, 56)])
def test_a_million_neighbours_are_summed_exactly(value: float, whole: int, bits: int) -> None:
    rows = pl.DataFrame({"x": pl.repeat(value, 2**20, eager=True)})
    assert rows.select(fixed_point_sum(pl.col("x"))).item() == 2**20 * whole * 2 ** (60 - bits)


TWO_METRICS = (MetricSpec(metric="accuracy"), MetricSpec(metric="exact_match", weight=3))


def aggregate(design: Blueprint, *parts: pl.DataFrame) -> Aggregates:
    tree = tree_tables(design)
    return aggregate_scores(normalise_scores(reduce_item_scores(pl.concat(parts).lazy()), tree), tree)


def one(frame: pl.DataFrame, **named: str) -> dict[str, Any]:
    rows = frame.filter(**named)
    assert rows.height == 1
    return rows.row(0, named=True)


SCORES: dict[Level, int] = {"low": 50, "medium": 80, "high": 20}


@each_row(
    ("present", "expected"),
    [
        ("low medium high", 62.0),  # 0.30 x 50 + 0.55 x 80 + 0.15 x 20 = 15 + 44 + 3
        ("low medium", 68.0),  # 0.4 x 50 + 0.6 x 80 = 20 + 48
        ("low high", 38.0),  # 0.6 x 50 + 0.4 x 20 = 30 + 8
        ("medium high", 62.0),  # 0.7 x 80 + 0.3 x 20 = 56 + 6
        ("low", 50.0),
        ("medium", 80.0),
        ("high", 20.0),
    ],
)
@each_row("how", ["designed", "scored"])
def test_level_weights_follow_what_is_there(present: str, expected: float, how: str) -> None:
    """The same weights, whether the blueprint lacks a level or its results are missing."""
    levels = [level for level in SCORES if level in present.split()]
    tasks = [task(level, level) for level in (levels if how == "designed" else SCORES)]
    parts = [items(level, share(SCORES[level], 100)) for level in levels]
    node = one(aggregate(blueprint(ability("a", *tasks)), *parts).nodes)
    assert node["score_0_100"] == pytest.approx(expected, abs=1e-12)
    assert (node["datasets_scored"], node["datasets_total"]) == (len(levels), len(tasks))


def test_a_true_zero_is_present() -> None:
    # 0.4 x 0 + 0.6 x 80 = 48; were the zero taken for missing it would be 80.
    design = blueprint(ability("a", task("low", "low"), task("medium", "medium")))
    node = one(aggregate(design, items("low", share(0, 10)), items("medium", share(8, 10))).nodes)
    assert node["score_0_100"] == 48.0
    assert node["datasets_scored"] == 2


def test_dataset_counts_items_that_every_metric_scored() -> None:
    parts = items("d", share(1, 4)), items("d", [1, 1, None, None], metric="exact_match")
    found = one(aggregate(one_dataset(*TWO_METRICS), *parts).datasets)
    # (25 + 3 x 100) / 4, over 4 and 2 items.
    assert (found["score_0_100"], found["n_scored"], found["n_total"]) == (81.25, 2, 4)


def test_weightless_metrics_cause_no_missing_items() -> None:
    metrics = (MetricSpec(metric="accuracy"), MetricSpec(metric="exact_match", weight=0))
    parts = items("d", [1, 1, 0, None]), items("d", [1, None, None, None], metric="exact_match")
    found = one(aggregate(one_dataset(*metrics), *parts).datasets)
    assert (found["score_0_100"], found["n_scored"], found["n_total"]) == (pytest.approx(200 / 3), 3, 4)


def test_four_tiers() -> None:
    # deep = 80; third = mean(80, 40) = 60; second = (60 + 3 x 20) / 4 = 30; first = mean(30, 70) = 50.
    deep = ability("deep", task("d1"))
    third = ability("third", deep, ability("deep2", task("d2")))
    second = ability("second", third, ability("third2", task("d3"), weight=3))
    design = blueprint(ability("first", second, ability("second2", task("d4"))))
    parts = [items(name, share(hits, 10)) for name, hits in (("d1", 8), ("d2", 4), ("d3", 2), ("d4", 7))]
    nodes = aggregate(design, *parts).nodes
    scores = {"deep": 80, "deep2": 40, "third": 60, "third2": 20, "second": 30, "second2": 70, "first": 50}
    assert dict(nodes.select("node", "score_0_100").iter_rows()) == scores
    assert dict(nodes.select("node", "tier").iter_rows())["deep"] == 4
    assert one(nodes, node="first")["datasets_total"] == 4


def test_missing_is_left_out_and_shows_in_coverage() -> None:
    # t: d 90 and e missing -> 90, 1 of 2. u: missing. Ability: 90 from 1 of 3 datasets.
    design = blueprint(ability("a", task("t", datasets=["d", "e"]), task("u", datasets=["f"])))
    found = aggregate(design, items("d", share(9, 10)))
    assert one(found.tasks, task="task_t")["score_0_100"] == 90.0
    assert one(found.tasks, task="task_t")["datasets_scored"] == 1
    missing = one(found.tasks, task="task_u")
    assert missing["score_0_100"] is None
    assert (missing["datasets_scored"], missing["datasets_total"], missing["n_scored"], missing["n_total"]) == (0, 1, 0, 0)
    whole = one(found.nodes)
    assert (whole["score_0_100"], whole["datasets_scored"], whole["datasets_total"]) == (90.0, 1, 3)


def test_a_score_without_weight_does_not_count() -> None:
    # d has weight 0 and is scored, e has weight 1 and is missing: nothing to take a mean of.
    design = blueprint(ability("a", task("t", datasets=["d", "e"], d=0)))
    found = one(aggregate(design, items("d", share(9, 10))).tasks)
    assert found["score_0_100"] is None
    assert found["datasets_scored"] == 0


@pytest.mark.parametrize("score", [0, 1, 3, 7, 10])
def test_the_mean_of_equal_scores_is_that_score(score: int) -> None:
    """Rounding in sums and divisions must not lift a 100 above 100, nor drop a 60 below the gate."""
    names = [f"d{number}" for number in range(7)]
    design = blueprint(ability("a", *[task(name, weight=0.1 * (number + 1)) for number, name in enumerate(names)]))
    found = aggregate(design, *[items(name, share(score, 10)) for name in names])
    assert one(found.nodes)["score_0_100"] == one(found.datasets, dataset="d0")["score_0_100"]


def design() -> Blueprint:
    """A gate; able 0.3 with two tiers and levels; kind 0.7 with a dataset of two metrics."""
    hear = ability("hear", task("d1"), task("d2", "medium"), task("d3", "high", weight=2), task("d4", "high"))
    return blueprint(
        ability("safe", task("g")),
        ability("able", hear, ability("speak", task("t", datasets=["e1", "e2"], e1=3)), weight=0.3),
        ability("kind", task("f"), weight=0.7),
        gate=Gate(ability="safe", threshold=60),
        datasets={"f": measured(*TWO_METRICS)},
    )


ALL = ("d1", "d2", "d3", "d4", "e1", "e2", "f", "f/exact_match", "g")


def rows(hits: dict[str, int]) -> pl.DataFrame:
    parts = [
        items(name.partition("/")[0], share(count, 10), metric=name.partition("/")[2] or "accuracy")
        for name, count in hits.items()
    ]
    return pl.concat(parts)


def contributions(hits: dict[str, int]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    chosen = design()
    tree = tree_tables(chosen)
    normalized = normalise_scores(reduce_item_scores(rows(hits).lazy()), tree)
    aggregates = aggregate_scores(normalized, tree)
    abilities = aggregates.nodes.filter(tier=1).rename({"node": "ability"})
    return metric_contributions(normalized, aggregates, tree), normalized, total_scores(abilities, chosen)


def test_complete_by_hand() -> None:
    found, _, _ = contributions(dict.fromkeys(ALL, 5))
    # able 0.3, of which hear 1/2: low 0.30, medium 0.55, high 0.15 split 2 : 1; speak 1/2 split 3 : 1. kind 0.7 split 1 : 3.
    assert {(row[0], row[1]): row[2] for row in found.select("dataset", "metric", "contribution").iter_rows()} == {
        ("d1", "accuracy"): pytest.approx(0.3 / 2 * 0.30),
        ("d2", "accuracy"): pytest.approx(0.3 / 2 * 0.55),
        ("d3", "accuracy"): pytest.approx(0.3 / 2 * 0.15 * 2 / 3),
        ("d4", "accuracy"): pytest.approx(0.3 / 2 * 0.15 / 3),
        ("e1", "accuracy"): pytest.approx(0.3 / 2 * 3 / 4),
        ("e2", "accuracy"): pytest.approx(0.3 / 2 / 4),
        ("f", "accuracy"): pytest.approx(0.7 / 4),
        ("f", "exact_match"): pytest.approx(0.7 * 3 / 4),
    }


def test_what_is_missing_is_shared_out() -> None:
    # able only through hear, low and high: 0.3 x (0.6 and 0.4); kind only through one metric: 0.7.
    found, _, _ = contributions({"d1": 5, "d4": 5, "f": 5, "g": 5})
    assert dict(found.select("dataset", "contribution").iter_rows()) == {
        "d1": pytest.approx(0.18),
        "d4": pytest.approx(0.12),
        "f": pytest.approx(0.7),
    }


@settings(max_examples=5)
@given(st.dictionaries(st.sampled_from(ALL), st.integers(0, 10), min_size=1))
def test_scores_times_contributions_are_the_total(hits: dict[str, int]) -> None:
    found, normalized, totals = contributions(hits)
    joined = found.join(normalized, on=["model", "setting", "dataset", "method", "metric"])
    assert joined.height == found.height
    total = totals["total_before_veto"].item()
    if set(hits) == {"g"}:
        assert total is None
        assert found.is_empty()
    else:
        assert found["contribution"].sum() == pytest.approx(1)
        assert (joined["contribution"] * joined["normalized_0_100"]).sum() == pytest.approx(total)


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


def ranked_totals(*rows: tuple[str, str, float], within: tuple[str, ...] = ("setting",)) -> list[int | None]:
    frame = pl.DataFrame(rows, ["setting", "group", "total"], orient="row").with_columns(
        vetoed=pl.lit(value=False), datasets_scored=3, datasets_total=3, item_coverage=1.0
    )
    return rank_models(frame, gated(), within=within)["rank"].to_list()


def test_totals_that_rounding_parts_are_equal() -> None:
    # 1e-10 apart are equal, 1e-8 are not; two first ones leave no second.
    assert ranked_totals(("base", "1", 70.0), ("base", "1", 70.0 - 1e-10), ("base", "1", 70.0 - 1e-8)) == [1, 1, 3]


def test_ranks_are_within_setting_and_group() -> None:
    rows = [("base", "1", 70.0), ("base", "2", 60.0), ("rag", "2", 50.0), ("base", "2", 65.0)]
    assert ranked_totals(*rows, within=("setting", "group")) == [1, 2, 1, 1]
    assert ranked_totals(*rows) == [1, 3, 1, 2]
