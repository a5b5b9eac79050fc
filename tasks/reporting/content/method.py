"""Describe what is particular to a run about how its numbers were computed; what holds for all runs stands in the template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.lineage import DatasetNotice
from schemas.metrics import METRICS, Metric
from tasks.reporting.content.benchmark import metric_paths
from tasks.runs.run_tables import ReportData


@dataclass(frozen=True)
class MethodNotes:
    """What a reader must know to understand the numbers.

    `metrics`: what is said of each. `reply_limits`: models whose replies the plan limits, with the limit in tokens.
    `design_effects`: per metric whose items share sources, a row of raw scores, that of the greatest one. `own_samples`: sizes of
    the samples that the blueprint states, by title. `deviations`: datasets that are asked or scored otherwise than in their
    papers; empty for manifests that do not record them.
    """

    metrics: Mapping[Metric, str]
    reply_limits: list[str]
    design_effects: list[dict[str, Any]]
    own_samples: Mapping[str, int]
    deviations: tuple[DatasetNotice, ...]


def describe_method(data: ReportData) -> MethodNotes:
    """Describe everything about the method that a reader of this run needs."""
    effects = data.raw.filter(pl.col("design_effect").is_not_null()).sort("design_effect", descending=True)
    greatest = effects.unique(["dataset", "metric"], keep="first", maintain_order=True)
    limits = {one["name"]: (one.get("sampling") or {}).get("max_tokens") for one in data.manifest.plan.get("models", ())}
    own = data.blueprint.datasets.values() if data.manifest.plan.get("sample") is None else ()
    return MethodNotes(
        metrics={path.spec.metric: METRICS[path.spec.metric].words for path in metric_paths(data.blueprint)},
        reply_limits=[f"{name} {limit:,d}" for name, limit in limits.items() if limit],
        design_effects=greatest.to_dicts(),
        own_samples={entry.title: entry.sample for entry in own if entry.sample},
        deviations=tuple(notice for notice in data.manifest.datasets if notice.differences),
    )
