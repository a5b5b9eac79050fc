"""Scores of an ablation's variants, side by side."""

from typing import Any

import polars as pl

from schemas.tables.scores import NormalizedScores, RawScores
from tasks.scoring.ablations import Variant, ablation_rows
from tasks.scoring.tree import METRIC
from tests.tasks.rows import frame

SPEC = {"model": "m", "dataset": "d", "method": "x", "metric": "accuracy", "setting": "rag"}
RATIOS = pl.DataFrame(
    [("d", "x", "accuracy", "ratio")],
    {**dict.fromkeys(("dataset", "method"), pl.String), "metric": METRIC, "kind": pl.String},
    orient="row",
)


def scored(value: float | None, normalized: float | None, **more: Any) -> tuple[Any, Any]:
    limits = {"ci_low": None if value is None else value - 0.1, "ci_high": None if value is None else value + 0.1}
    counts = {"n_scored": 0 if value is None else 3, "n_unparsed": 0, "n_total": 4}
    raw = {**SPEC, "value": value, **limits, **counts, **more}
    normal = {**SPEC, "normalized_0_100": normalized, **counts, **more}
    return frame(RawScores, (raw,)), frame(NormalizedScores, (normal,))


def test_each_variant_is_a_row_with_its_values() -> None:
    one, two = Variant("top_k 1", "top_k", "1", 1.0), Variant("top_k 8", "top_k", "8", 8.0)
    rows = ablation_rows("retrieval", [(two, *scored(0.5, 50.0)), (one, *scored(0.25, 25.0))], RATIOS)
    assert rows.select("ablation", "variant", "x_value", "value_0_100", "n_scored", "n_total").rows() == [
        ("retrieval", "top_k 1", 1.0, 25.0, 3, 4),
        ("retrieval", "top_k 8", 8.0, 50.0, 3, 4),
    ]
    # 100 x (0.25 - 0.1) and 100 x (0.25 + 0.1)
    assert [round(limit, 6) for limit in rows.select("ci_low", "ci_high").row(0)] == [15.0, 35.0]
    assert rows["second_factor"].null_count() == 2


def test_an_interval_of_raw_scores_is_left_out_where_scores_are_not_multiples_of_them() -> None:
    variant = Variant("top_k 1", "top_k", "1", 1.0)
    rows = ablation_rows("retrieval", [(variant, *scored(0.25, 40.0))], RATIOS.clear())
    assert rows.select("value_0_100", "ci_low", "ci_high").row(0) == (40.0, None, None)


def test_a_variant_without_scored_items_is_missing_and_not_zero() -> None:
    variant = Variant("sage a, top_k 1", "sage", "a", None, "top_k", "1", 1.0)
    rows = ablation_rows("both", [(variant, *scored(None, None))], RATIOS)
    assert rows.select("value_0_100", "n_scored", "n_total").row(0) == (None, 0, 4)
    assert rows.select("factor", "x", "x_value", "second_factor", "y", "y_value").row(0) == ("sage", "a", None, "top_k", "1", 1.0)
