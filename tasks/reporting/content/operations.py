"""What happened on the way: failed calls, judge failures, tokens, latency, and the partitions of the run."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from schemas.lineage import PartitionRef, RunManifest
from tasks.analysis.number_format import shorten
from tasks.analysis.run_tables import ReportData, System

ERROR_LENGTH = 160
SHORT_HASH = 12


@dataclass(frozen=True)
class FailureRow:
    """Failed calls of one kind. `example` is the error of one of them."""

    system: str
    failure: str
    calls: int
    datasets: int
    example: str | None


@dataclass(frozen=True)
class JudgeFailureRow:
    """Items of one dataset that the judge failed on."""

    system: str
    dataset: str
    items: int


@dataclass(frozen=True)
class UsageRow:
    """Calls, tokens and latency of one system. Token sums are null if the server never counted them."""

    system: str
    calls: int
    answered: int
    failed: int
    cut_off: int
    prompt_tokens: int | None
    completion_tokens: int | None
    uncounted: int
    latency_median_s: float | None
    latency_p95_s: float | None


@dataclass(frozen=True)
class LayerRow:
    """A layer's share of the run."""

    layer: str
    partitions: tuple[PartitionRef, ...]
    rows: int
    incomplete: int


def failure_rows(data: ReportData) -> tuple[FailureRow, ...]:
    """Failed calls by model, setting and kind, the most frequent first within each model."""
    grouped = (
        data.responses.filter(pl.col("status") == "failed")
        .group_by("model", "setting", "failure")
        .agg(calls=pl.len(), datasets=pl.col("dataset").n_unique(), example=pl.col("error").drop_nulls().sort().first())
        .with_columns(pl.col("failure").cast(pl.String))
        .sort(["model", "setting", "calls", "failure"], descending=[False, False, True, False])
    )
    return tuple(
        FailureRow(
            System(row["model"], row["setting"]).label,
            row["failure"],
            row["calls"],
            row["datasets"],
            None if row["example"] is None else shorten(row["example"], ERROR_LENGTH),
        )
        for row in grouped.iter_rows(named=True)
    )


def judge_failure_rows(data: ReportData) -> tuple[JudgeFailureRow, ...]:
    """Items without a usable judgement, by model, setting and dataset."""
    grouped = (
        data.item_scores.filter(pl.col("status") == "judge_failed")
        .group_by("model", "setting", "dataset")
        .agg(items=pl.struct("item_id", "repetition").n_unique())
        .sort("model", "setting", "dataset")
    )
    return tuple(
        JudgeFailureRow(System(model, setting).label, dataset, items) for model, setting, dataset, items in grouped.iter_rows()
    )


def usage_rows(data: ReportData) -> tuple[UsageRow, ...]:
    """One row per system of the run; latency is that of answered calls."""
    return tuple(_usage(system.label, system.of(data.responses)) for system in data.systems())


def _usage(label: str, responses: pl.DataFrame) -> UsageRow:
    answered = responses.filter(pl.col("status") == "answered")
    counted = answered.drop_nulls(["prompt_tokens", "completion_tokens"])
    latency = answered["latency_s"]
    return UsageRow(
        system=label,
        calls=responses.height,
        answered=answered.height,
        failed=responses.height - answered.height,
        cut_off=answered.filter(pl.col("finish_reason") == "length").height,
        prompt_tokens=int(counted["prompt_tokens"].sum()) if counted.height else None,
        completion_tokens=int(counted["completion_tokens"].sum()) if counted.height else None,
        uncounted=answered.height - counted.height,
        latency_median_s=latency.quantile(0.5, "linear"),
        latency_p95_s=latency.quantile(0.95, "linear"),
    )


def layer_rows(manifest: RunManifest) -> tuple[LayerRow, ...]:
    """The run's partitions by layer, in the manifest's order."""
    counts = Counter(ref.layer for ref in manifest.partitions)
    return tuple(_layer(layer, tuple(ref for ref in manifest.partitions if ref.layer == layer)) for layer in counts)


def _layer(layer: str, refs: tuple[PartitionRef, ...]) -> LayerRow:
    return LayerRow(layer, refs, sum(ref.rows for ref in refs), sum(not ref.complete for ref in refs))
