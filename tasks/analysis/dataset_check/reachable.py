"""Which scores a dataset allows: that of a perfect model, and that of each constant letter."""

from collections.abc import Sequence
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint, MethodSpec
from schemas.tables.items import Items
from tasks.analysis.dataset_check.replies import PERFECT, imagined_responses
from tasks.metrics.item_scores import score_items
from tasks.scoring.benchmark import ScoreSettings, score_benchmark

NO_INTERVALS = ScoreSettings(bootstrap=0)


@dataclass(frozen=True)
class Reachable:
    """Scores on 0-100 as the blueprint weighs the dataset's metrics.

    `ceiling` is null where only a judge decides; `constant` maps each letter to the score of always answering with it, and is
    empty where nothing is asked by letter.
    """

    ceiling: float | None
    constant: dict[str, float]


def reachable_scores(items: dy.DataFrame[Items], blueprint: Blueprint) -> Reachable:
    """Score imagined models on all good items of a dataset of the blueprint, by its methods that need no judge."""
    (dataset,) = items["dataset"].unique()
    methods = [method for method in blueprint.datasets[dataset].methods if not method.judged]
    if not methods:
        return Reachable(None, {})
    scores = _dataset_scores(items, methods, blueprint)
    ceiling = scores.pop(PERFECT)
    return Reachable(ceiling, scores)


def _dataset_scores(items: dy.DataFrame[Items], methods: Sequence[MethodSpec], blueprint: Blueprint) -> dict[str, float]:
    responses = imagined_responses(items)
    scored = pl.concat([score_items(items, responses, None, method) for method in methods])
    tables = score_benchmark(scored.lazy(), blueprint, NO_INTERVALS)
    (dataset,) = items["dataset"].unique()
    rows = tables.dataset.filter(pl.col("dataset") == dataset).select("model", "score_0_100")
    letters_first = sorted(rows.iter_rows(), key=lambda row: (len(row[0]), row[0]))
    return {model: score for model, score in letters_first if score is not None}
