"""The build stage's step: source files to a partition of `items`, and of `contexts` and annotations where there are any."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionRef
from schemas.tables.items import Contexts, Items
from schemas.tables.layers import LAYERS
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import ItemsKeys
from tasks.datasets.rejected_rows import require_layout
from tasks.lake.lake import Lake
from tasks.sources.locating import Locator
from tasks.steps import step, up_to_date

BUILDERS = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="build")
"""As many as there are processors: more of them build no faster, and wait for each other."""


@dataclass(frozen=True)
class BuildJob:
    """One dataset to build."""

    spec: DatasetSpec
    keys: ItemsKeys
    sample: int
    seed: int
    options: ContextOptions
    required: bool
    """The user named this dataset, so a missing source file is an error."""


@step("items/{job.spec.id}")
async def build_partition(job: BuildJob, lake: Lake, locator: Locator) -> Any:
    """Write the sampled, validated items of one dataset, what is known of contexts built for them, and their annotations.

    Rows that break a rule go to `items_rejected`. Returns PartitionRefs, or Missing if a source file cannot be had and the
    dataset was not asked for by name.
    """
    wanted = job.keys.all()
    refs = [ref for key in wanted if (ref := lake.find(key))]
    if len(refs) == len(wanted):
        return up_to_date(refs)
    try:
        paths = await asyncio.to_thread(lambda: [locator.locate(file) for file in job.spec.files])
    except SourceMissingError as error:
        if job.required:
            raise
        return without_source(job.spec, error)
    return await _in_thread(job, lake, paths)


def without_source(spec: DatasetSpec, error: SourceMissingError) -> Missing:
    """Record that a dataset is not built, since a source file cannot be had."""
    return Missing(dataset=spec.id, reason=error.what, next_step=error.next_step or "give the file with --mirror")


async def _in_thread(job: BuildJob, lake: Lake, paths: list[Path]) -> list[PartitionRef]:
    # Apart from the step: a cluster is sent the step with all that it names, and threads cannot be sent.
    return await asyncio.get_running_loop().run_in_executor(BUILDERS, _write, job, lake, paths)


def _write(job: BuildJob, lake: Lake, paths: list[Path]) -> list[PartitionRef]:
    built = build_items(job.spec, paths, job.sample, job.seed, job.options)
    if built.rejected.height:
        lake.write_rejected(job.keys.items, built.rejected)
    require_layout(job.spec, built.rejected)
    contexts = [lake.write(job.keys.contexts, built.contexts, Contexts)] if job.keys.contexts else []
    annotations = [lake.write(key, built.annotations[key.layer], LAYERS[key.layer].schema) for key in job.keys.annotations]
    # The items last: they are there only when the rest is.
    return [lake.write(job.keys.items, built.items, Items), *contexts, *annotations]
