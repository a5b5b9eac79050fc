"""Score layers of the example run, as the score stage computes them from its items; three intervals are set by hand."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.tables import scores as tables
from schemas.tables.layers import AGGREGATED
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.reporting.example_items import make_table

RAW = pl.DataFrame({"model": "alpha", "dataset": ["mood", "tale"], "ci_low": [0.1, 0.2], "ci_high": [0.6, 0.3]})
TOTAL = pl.DataFrame({"model": "alpha", "ci_low": [15.0], "ci_high": [35.5]})


def score_layers(item_scores: dy.DataFrame[tables.ItemScores], blueprint: Blueprint) -> dict[str, dy.DataFrame[Any]]:
    """Every score layer by its name."""
    found = score_benchmark(item_scores.lazy(), blueprint, ScoreSettings())
    raw, totals = found.raw.update(RAW, on=["model", "dataset"]), found.totals.update(TOTAL, on="model")
    layers: dict[str, Any] = {layer: found.layer(layer) for layer in AGGREGATED}
    return layers | {"raw_scores": tables.RawScores.validate(raw), "totals": tables.Totals.validate(totals)}


def totals_row(**changes: Any) -> dict[str, Any]:
    """What `totals` says of alpha, and other values."""
    row = {"model": "alpha", "setting": "base", "total": 25.0, "total_before_veto": 25.0, "ci_low": 15.0, "ci_high": 35.5}
    row |= {"gate_score": 100.0, "vetoed": False, "datasets_scored": 3, "datasets_total": 4, "n_scored": 6, "n_total": 6}
    return row | {"coverage": 0.75, "item_coverage": 1.0} | changes


def totals(*rows: dict[str, Any]) -> dy.DataFrame[tables.Totals]:
    return make_table(tables.Totals, list(rows))
