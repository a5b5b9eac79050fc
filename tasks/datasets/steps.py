"""The build stage's step: source files to one `items` partition."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionKey, PartitionRef
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from tasks.datasets.building import build_items
from tasks.datasets.long_building import build_long_items
from tasks.lake.lake import Lake
from tasks.sources.locating import Locator
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class BuildJob:
    """One dataset to build."""

    spec: DatasetSpec
    key: PartitionKey
    sample: int
    seed: int
    required: bool
    """The user named this dataset, so a missing source file is an error."""


@dataclass(frozen=True)
class LongBuildJob(BuildJob):
    """One dataset of long items to build; `key` is that of its items."""

    contexts: PartitionKey
    options: ContextOptions


@step("items/{job.spec.id}")
async def build_partition(job: BuildJob, lake: Lake, locator: Locator) -> Any:
    """Write the sampled, validated items of one dataset; its rejected rows go to `items_rejected`.

    Returns:
        PartitionRef, or Missing if a source file cannot be had and the dataset was not asked for by name.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    paths = await _locate(job, locator)
    return paths if isinstance(paths, Missing) else _write(job, lake, paths)


@step("contexts/{job.spec.id}")
async def build_long_partition(job: LongBuildJob, lake: Lake, locator: Locator) -> Any:
    """Write the sampled, validated items of one dataset with long contexts, and what is known of the contexts.

    Returns:
        PartitionRefs of items and contexts, or Missing if a source file cannot be had and the dataset was not asked for by name.
    """
    found = [ref for key in (job.key, job.contexts) if (ref := lake.find(key))]
    if len(found) == len((job.key, job.contexts)):
        return up_to_date(found)
    paths = await _locate(job, locator)
    return paths if isinstance(paths, Missing) else await asyncio.to_thread(_write_long, job, lake, paths)


async def _locate(job: BuildJob, locator: Locator) -> list[Path] | Missing:
    try:
        return await asyncio.to_thread(lambda: [locator.locate(file) for file in job.spec.files])
    except SourceMissingError as error:
        if job.required:
            raise
        return without_source(job.spec, error)


def _write_long(job: LongBuildJob, lake: Lake, paths: list[Path]) -> list[PartitionRef]:
    built = build_long_items(job.spec, paths, job.options, job.sample, job.seed)
    if built.rejected.height:
        lake.write_rejected(job.key, built.rejected)
    contexts = lake.write(job.contexts, built.contexts, Contexts)
    return [lake.write(job.key, built.items, Items), contexts]


def without_source(spec: DatasetSpec, error: SourceMissingError) -> Missing:
    """Record that a dataset is not built, since a source file cannot be had."""
    return Missing(dataset=spec.id, reason=error.what, next_step=error.next_step or "give the file with --mirror")


def _write(job: BuildJob, lake: Lake, paths: list[Path]) -> PartitionRef:
    built = build_items(job.spec, paths, job.sample, job.seed)
    if built.rejected.height:
        lake.write_rejected(job.key, built.rejected)
    return lake.write(job.key, built.items, Items)
