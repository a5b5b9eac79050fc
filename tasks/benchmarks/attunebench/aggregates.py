"""Means of annotated conversations per model, mode and strategy, and how models differ; AttuneBench.

Source: AttuneBench 1.0 and the public port of its scorer: names, means, standard errors, z scores, pooled judgements. Ours next
to them: z within a mode, and intervals by bootstrap over the people who wrote the conversations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.metrics.choices import OUTCOMES, pooled
from tasks.benchmarks.attunebench.metrics.conversation import COUNTED, COUNTS
from tasks.scoring.aggregation import exact_sum
from tasks.scoring.resampling import draw_weights, place_clusters
from tasks.scoring.uncertainty import LIMITS, Resampling, mean_limits

ROW = ["model", "mode", "strategy"]
COMPOSITE = "composite_score"

UNPREFIXED = ("turn_level_average", "conversation_wide_average", COMPOSITE, "equal_weight_composite")
"""Means of a score file whose names do not begin with avg_."""

_VALUE = pl.col("value")


def conversation_rows(scored: Sequence[Mapping[str, object]]) -> pl.DataFrame:
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
    valued = rows.filter(_VALUE.is_not_null())
    mean, deviation = exact_sum(_VALUE) / pl.len(), _VALUE.std(ddof=1)
    statistics = {"n": pl.len(), "mean": mean, "sd": deviation, "se": deviation / pl.len().sqrt(), "median": _VALUE.median()}
    found = valued.group_by(*ROW, "metric").agg(**statistics, min=_VALUE.min(), max=_VALUE.max()).sort(*ROW, "metric")
    limits = [pl.DataFrame(schema={**found.select(*ROW, "metric").schema, **LIMITS})]
    for of_mode in valued.partition_by("mode"):
        placed = place_clusters(of_mode)
        draws = f"attunebench {of_mode['mode'][0]}"
        weights = draw_weights(draws, placed["place"].n_unique(), resampling.resamples, resampling.seed)
        limits += [mean_limits(of_metric, [*ROW, "metric"], weights) for of_metric in placed.partition_by("metric")]
    score = pl.when(metric=COMPOSITE).then("mean")
    z = ((score - score.mean()) / score.std(ddof=1)).fill_nan(None)
    found = found.with_columns(z_score=z, z_in_mode=z.over("mode", "metric"))
    return found.join(pl.concat(limits), on=[*ROW, "metric"], how="left").sort(*ROW, "metric")


def score_file(rows: pl.DataFrame, metadata: Mapping[str, object], resampling: Resampling) -> dict[str, object]:
    """Return the object of a score file, by the names of the official ones: how it was scored, aggregates, conversations.

    It also has `model_stats`, the statistics of each metric. `metadata` is of the run: profile, data, version.
    """
    rows = rows.with_columns(pl.col("metric").replace(load_codebook().score_names))
    statistics = aggregate_conversations(rows.filter(~pl.col("metric").is_in(COUNTS)), resampling)
    by_row = statistics.partition_by(ROW, as_dict=True)
    official = {"model": "em_model", "strategy": "panas_strategy"}
    wide = rows.pivot("metric", index=["item_id", "model", "mode"], values="value")
    return {
        "metadata": dict(metadata),
        "aggregates": [
            _aggregate(of_row, by_row.get(key)) for key, of_row in rows.sort(ROW).partition_by(ROW, as_dict=True).items()
        ],
        "model_stats": statistics.drop("z_score", "z_in_mode").rename(official).to_dicts(),
        "conversations": wide.rename({"item_id": "conversationId", "model": "em_model"}).to_dicts(),
    }


def _aggregate(rows: pl.DataFrame, statistics: pl.DataFrame | None) -> dict[str, Any]:
    """Return what a score file holds of a model in one mode and strategy."""
    model, mode, strategy = rows.select(ROW).row(0)
    fields: dict[str, Any] = {"em_model": model, "mode": mode, "panas_strategy": strategy}
    fields["n_conversations"] = rows["item_id"].n_unique()
    by_metric = {} if statistics is None else {row["metric"]: row for row in statistics.iter_rows(named=True)}
    for name in {**dict.fromkeys(load_codebook().score_names.values()), **by_metric}:
        row = by_metric.get(name, {})
        fields[name if name in UNPREFIXED else f"avg_{name}"] = row.get("mean")
        fields["se_composite" if name == COMPOSITE else f"se_{name}"] = row.get("se")
    fields["z_score"] = by_metric.get(COMPOSITE, {}).get("z_score")
    sums = dict(rows.group_by("metric").agg(_VALUE.sum()).iter_rows())
    for metric, names in COUNTED.items():
        counts = [int(sums.get(name) or 0) for name in names]
        ratios = dict(zip(OUTCOMES, counts, strict=True)) | pooled(*counts)
        fields[f"pooled_{metric.replace('accuracy', 'metrics')}"] = ratios
    return fields
