"""Means of annotated conversations per model, mode and strategy, with what lies between models; AttuneBench.

Source: AttuneBench 1.0 and the public port of its scorer: means, standard errors, z scores, perspective. Ours beside them: z
within a mode, and intervals by bootstrap over the people who wrote the conversations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from schemas.metrics import METRICS
from tasks.scoring.clusters import place_clusters, tails
from tasks.scoring.resampling import draw_weights
from tasks.scoring.summation import exact_sum
from tasks.scoring.uncertainty import LIMITS, Resampling, limits_of, replicate

ROW = ["model", "mode", "strategy"]
_VALUE = pl.col("value")


def conversation_rows(scored: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows ROW, item_id, cluster, metric, value of conversations; nulls stay.

    Args:
        scored: per conversation ROW, `item_id`, `cluster` (who wrote it, or its own id) and its values.
    """
    index = [*ROW, "item_id", "cluster"]
    wide = pl.DataFrame(scored, infer_schema_length=None).with_columns(pl.exclude(index).cast(pl.Float64))
    return wide.unpivot(index=index, variable_name="metric", value_name="value")


def aggregate_conversations(rows: pl.DataFrame, resampling: Resampling) -> pl.DataFrame:
    """Return statistics of each metric that a conversation has of its own.

    Args:
        rows: what `conversation_rows` returns.
        resampling: of 95 % intervals; of 0 resamples there are none.

    Returns:
        ROW, metric, n, mean, sd (with n - 1), se (sd by root n; both null below two conversations), median, min, max, LIMITS and,
        of the composite, `z_score` over all rows and `z_in_mode` (null where all are equal); sorted.
    """
    known = rows.filter(_VALUE.is_not_null() & pl.col("metric").is_in(METRICS.keys()))
    mean, deviation = exact_sum(_VALUE) / pl.len(), _VALUE.std(ddof=1)
    statistics = {"n": pl.len(), "mean": mean, "sd": deviation, "se": deviation / pl.len().sqrt(), "median": _VALUE.median()}
    found = known.group_by(*ROW, "metric").agg(**statistics, min=_VALUE.min(), max=_VALUE.max())
    nothing = pl.DataFrame(schema={**found.select(*ROW, "metric").schema, **LIMITS})
    limits = [nothing, *(_limits(of_mode, resampling) for of_mode in known.partition_by("mode"))]
    score = pl.when(metric="composite_score").then("mean")
    z = ((score - score.mean()) / score.std(ddof=1)).fill_nan(None)
    found = found.with_columns(z_score=z, z_in_mode=z.over("mode", "metric"))
    return found.join(pl.concat(limits), on=[*ROW, "metric"], how="left").sort(*ROW, "metric")


def _limits(rows: pl.DataFrame, resampling: Resampling) -> pl.DataFrame:
    """Return ROW, metric and LIMITS of one mode, whose systems share the draws of its conversations."""
    systems = rows.select(ROW).unique().sort(ROW).with_row_index("system")
    placed = place_clusters(rows.join(systems, on=ROW))
    weights = draw_weights(f"attunebench {rows['mode'][0]}", placed["place"].n_unique(), resampling.resamples, resampling.seed)
    found = []
    for (metric,), part in placed.partition_by("metric", as_dict=True).items():
        cut_off = systems.join(tails(part), on="system", how="left", maintain_order="left")["tail"]
        limits = limits_of(replicate(part, str(metric), systems.height, weights), cut_off)
        found.append(systems.with_columns(metric=pl.lit(metric)).hstack(limits))
    return pl.concat(found).select(*ROW, "metric", *LIMITS)


def perspective(observer: float | None, facing: float | None) -> dict[str, float | None]:
    """Return how a share changes when the person is not spoken of but spoken as: gap, and ratio (0 if nothing is above 0)."""
    if observer is None or facing is None:
        return {"gap": None, "ratio": None}
    return {"gap": observer - facing, "ratio": facing / observer if observer > 0 else 0.0}


def score_file(rows: pl.DataFrame, metadata: Mapping[str, Any], resampling: Resampling) -> dict[str, Any]:
    """Return what a score file holds, by the names of the official ones: how it was scored, aggregates, conversations.

    Beside them `model_stats`, each metric's statistics.

    Args:
        rows: what `conversation_rows` returns.
        metadata: of the run: profile, data, version.
        resampling: of the intervals in `model_stats`.
    """
    aggregates: dict[tuple[str, ...], dict[str, Any]] = {}
    official = {"model": "em_model", "strategy": "panas_strategy"}
    statistics = aggregate_conversations(rows, resampling)
    for row in statistics.iter_rows(named=True):
        key = tuple(row[name] for name in ROW)
        named = aggregates.setdefault(key, {**{official.get(name, name): row[name] for name in ROW}, "n": 0})
        named["n"] = max(named["n"], row["n"])
        if row["metric"] == "composite_score":
            named |= {"composite_score": row["mean"], "se_composite": row["se"], "z_score": row["z_score"]}
        else:
            named |= {f"avg_{row['metric']}": row["mean"], f"se_{row['metric']}": row["se"]}
    for one in aggregates.values():
        for name in ("binary_om", "binary_human"):
            facing = perspective(one.get(f"avg_{name}_accuracy"), one.get(f"avg_{name}_accuracy_hp"))
            one |= {f"perspective_{kind}_{name}": value for kind, value in facing.items()}
    wide = rows.pivot("metric", index=["item_id", "model", "mode"], values="value")
    return {
        "metadata": dict(metadata),
        "aggregates": [*aggregates.values()],
        "model_stats": statistics.drop("z_score", "z_in_mode").rename(official).to_dicts(),
        "conversations": wide.rename({"item_id": "conversationId", "model": "em_model"}).to_dicts(),
    }
