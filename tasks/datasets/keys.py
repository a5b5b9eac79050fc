"""Keys of the partitions `items` and `contexts`."""

from collections.abc import Sequence
from typing import Any

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.lineage import PartitionKey
from tasks.lake.fingerprint import partition_key

ITEMS_VERSION = "2"
"""Bumped when sampling, validation or the items schema changes meaning."""


LONG_ITEMS_VERSION = "1"
"""Bumped when long items are drawn or recorded differently; how one is built is the dataset's evaluation version."""


def items_key(spec: DatasetSpec, source_sha256: Sequence[str], sample: int, seed: int) -> PartitionKey:
    """Return the key of the sampled items of one dataset, from the hashes of its source files."""
    return partition_key("items", {"dataset": spec.id}, _settings(spec, source_sha256, sample, seed), (), ITEMS_VERSION)


def long_items_keys(
    spec: DatasetSpec, source_sha256: Sequence[str], sample: int, seed: int, options: ContextOptions
) -> tuple[PartitionKey, PartitionKey]:
    """Return the keys of the items of a dataset with long contexts, and of what is known of their contexts.

    The demand for long replies is left out: it changes how items are asked, not the items.
    """
    built = options.model_dump(mode="json", exclude={"length_demand"})
    settings = {**_settings(spec, source_sha256, sample, seed), "contexts": built, "long_items_version": LONG_ITEMS_VERSION}
    place = {"dataset": spec.id}
    items = partition_key("items", place, settings, parents=(), version=ITEMS_VERSION)
    return items, partition_key("contexts", place, settings, parents=(), version=ITEMS_VERSION)


def _settings(spec: DatasetSpec, source_sha256: Sequence[str], sample: int, seed: int) -> dict[str, Any]:
    return {
        "dataset_version": spec.evaluation_version,
        "source_sha256": list(source_sha256),
        "sample": sample,
        "seed": seed,
    }
