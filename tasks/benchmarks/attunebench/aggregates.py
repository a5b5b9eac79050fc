"""Means of annotated conversations per model, mode and strategy, with what lies between models; AttuneBench.

Source: AttuneBench 1.0 and the public port of its scorer: names, means, standard errors, z scores, pooled judgements. Ours beside
them: z within a mode, and intervals by bootstrap over the people who wrote the conversations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.metrics.choices import OUTCOMES, pooled
from tasks.benchmarks.attunebench.metrics.conversation import COUNTED
from tasks.scoring.clusters import place_clusters
from tasks.scoring.resampling import draw_weights
from tasks.scoring.summation import exact_sum
from tasks.scoring.uncertainty import LIMITS, Resampling, mean_limits

ROW = ["model", "mode", "strategy"]
COMPOSITE = "composite_score"

UNPREFIXED = ("turn_level_average", "conversation_wide_average", COMPOSITE, "equal_weight_composite")
"""Means of a score file whose names do not begin with avg_."""

_VALUE = pl.col("value")


def conversation_rows(scored: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return ROW, item_id, cluster (who wrote it), metric and value of conversations, from a row of each with all its values."""
    index = [*ROW, "item_id", "cluster"]
    wide = pl.DataFrame(scored, infer_schema_length=None).with_columns(pl.exclude(index).cast(pl.Float64))
    return wide.unpivot(index=index, variable_name="metric", value_name="value")


def aggregate_conversations(rows: pl.DataFrame, resampling: Resampling) -> pl.DataFrame:
    """Return statistics of each metric; the intervals of one mode share the draws of its conversations.

    Returns:
        ROW, metric, n, mean, sd (with n - 1), se (sd by root n; both null below two conversations), median, min, max, LIMITS and,
        of the composite, `z_score` over all rows and `z_in_mode` (null where all are equal); sorted.
    """
    known = rows.filter(_VALUE.is_not_null())
    mean, deviation = exact_sum(_VALUE) / pl.len(), _VALUE.std(ddof=1)
    statistics = {"n": pl.len(), "mean": mean, "sd": deviation, "se": deviation / pl.len().sqrt(), "median": _VALUE.median()}
    found = known.group_by(*ROW, "metric").agg(**statistics, min=_VALUE.min(), max=_VALUE.max())
    nothing = pl.DataFrame(schema={**found.select(*ROW, "metric").schema, **LIMITS})
    limits = [nothing]
    for of_mode in known.partition_by("mode"):
        placed = place_clusters(of_mode)
        draws = f"attunebench {of_mode['mode'][0]}"
        weights = draw_weights(draws, placed["place"].n_unique(), resampling.resamples, resampling.seed)
        limits += [mean_limits(part, [*ROW, "metric"], weights) for part in placed.partition_by("metric")]
    score = pl.when(metric=COMPOSITE).then("mean")
    z = ((score - score.mean()) / score.std(ddof=1)).fill_nan(None)
    found = found.with_columns(z_score=z, z_in_mode=z.over("mode", "metric"))
    return found.join(pl.concat(limits), on=[*ROW, "metric"], how="left").sort(*ROW, "metric")


def score_file(rows: pl.DataFrame, metadata: Mapping[str, Any], resampling: Resampling) -> dict[str, Any]:
    """Return what a score file holds, by the names of the official ones: how it was scored, aggregates, conversations.

    Beside them `model_stats`, each metric's statistics. `metadata` is of the run: profile, data, version.
    """
    counts = [name for names in COUNTED.values() for name in names]
    rows = rows.with_columns(pl.col("metric").replace(load_codebook().score_names))
    statistics = aggregate_conversations(rows.filter(~pl.col("metric").is_in(counts)), resampling)
    means = statistics.partition_by(ROW, as_dict=True)
    official = {"model": "em_model", "strategy": "panas_strategy"}
    wide = rows.pivot("metric", index=["item_id", "model", "mode"], values="value")
    return {
        "metadata": dict(metadata),
        "aggregates": [_aggregate(one, means.get(key)) for key, one in rows.sort(ROW).partition_by(ROW, as_dict=True).items()],
        "model_stats": statistics.drop("z_score", "z_in_mode").rename(official).to_dicts(),
        "conversations": wide.rename({"item_id": "conversationId", "model": "em_model"}).to_dicts(),
    }


def _aggregate(rows: pl.DataFrame, statistics: pl.DataFrame | None) -> dict[str, Any]:
    """Return what a score file says of a model in one mode and strategy."""
    model, mode, strategy = rows.select(ROW).row(0)
    found: dict[str, Any] = {"em_model": model, "mode": mode, "panas_strategy": strategy}
    found["n_conversations"] = rows["item_id"].n_unique()
    known = {} if statistics is None else {row["metric"]: row for row in statistics.iter_rows(named=True)}
    for name in {**dict.fromkeys(load_codebook().score_names.values()), **known}:
        row = known.get(name, {})
        found[name if name in UNPREFIXED else f"avg_{name}"] = row.get("mean")
        found["se_composite" if name == COMPOSITE else f"se_{name}"] = row.get("se")
    found["z_score"] = known.get(COMPOSITE, {}).get("z_score")
    sums = dict(rows.group_by("metric").agg(_VALUE.sum()).iter_rows())
    for metric, names in COUNTED.items():
        tp, tn, fp, fn = counts = [int(sums.get(name) or 0) for name in names]
        ratios = {"accuracy": (tp + tn) / (sum(counts) or 1), **pooled(tp, tn, fp, fn)}
        named = {**dict(zip(OUTCOMES, counts, strict=True)), **(ratios if any(counts) else dict.fromkeys(ratios))}
        found[f"pooled_{metric.replace('accuracy', 'metrics')}"] = named
    return found
