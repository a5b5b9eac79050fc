"""Runs that are written out by hand, in a lake."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import CodeVersion, RunManifest
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.runs.past_run import PastRun
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.lake.test_manifest import bare_manifest


def keep_run(folder: Path, run: str, layers: Mapping[str, pl.DataFrame], place: dict[str, str], **fields: Any) -> RunManifest:
    """Leave a run with these layers, one partition each with the same keys, and nothing else."""
    lake, settings = Lake(folder, CodeVersion("1", None)), {"seed": 0, "bootstrap": 0, "run": run}
    refs = [lake.write(partition_key(name, place, settings, [], "1"), rows, LAYERS[name].schema) for name, rows in layers.items()]
    manifest = bare_manifest(run, partitions=tuple(refs), **fields)
    write_manifest(folder, manifest)
    return manifest


def run_of(folder: Path, blueprint: Blueprint, layers: Mapping[str, pl.DataFrame], place: dict[str, str], **plan: Any) -> PastRun:
    """A run with these layers, `item_scores` among them, and what follows from it."""
    scored = score_benchmark(layers["item_scores"].lazy(), blueprint, ScoreSettings())
    written = {name: scored.layer(name) for name in AGGREGATED} | dict(layers)
    manifest = keep_run(folder, "r", written, place, plan=plan, blueprint=blueprint.model_dump(mode="json"))
    return PastRun(manifest, blueprint, Lake(folder, CodeVersion("1", None)))
