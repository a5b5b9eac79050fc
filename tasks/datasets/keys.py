"""Keys of the partitions that build writes: `items`, `contexts` and layers of annotations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.lineage import PartitionKey
from tasks.lake.fingerprint import partition_key

ITEMS_VERSION = "3"
"""Bumped when sampling, validation or the items schema changes meaning."""

LAZY_ITEMS_VERSION = "1"
"""Bumped when lazy samples are drawn or recorded differently; how one is built is the dataset's evaluation version."""


class ItemsKeys(NamedTuple):
    """Where the sampled items of a dataset are, what is known of built contexts (null = there are none), and annotations."""

    items: PartitionKey
    contexts: PartitionKey | None
    annotations: tuple[PartitionKey, ...] = ()

    def all(self) -> tuple[PartitionKey, ...]:
        """Return all of them, items first."""
        return (self.items, *([self.contexts] if self.contexts else []), *self.annotations)


def items_keys(spec: DatasetSpec, source_sha256: Sequence[str], sample: int, seed: int, options: ContextOptions) -> ItemsKeys:
    """Return where the sampled items of a dataset are, by its entry, the hashes of its files, size and seed of the draw.

    Of the options the demand for long replies is left out: it changes how items are asked, not the items.
    """
    of_source = {"dataset_version": spec.evaluation_version, "source_sha256": list(source_sha256)}
    settings: dict[str, Any] = {**of_source, "sample": sample, "seed": seed}
    if spec.sample_builder is not None:
        settings["contexts"] = options.model_dump(mode="json", exclude={"length_demand"})
        settings["long_items_version"] = LAZY_ITEMS_VERSION

    def key(layer: str) -> PartitionKey:
        return partition_key(layer, {"dataset": spec.id}, settings, parents=(), version=ITEMS_VERSION)

    annotations = tuple(key(layer) for layer in spec.annotation_layers)
    return ItemsKeys(key("items"), key("contexts") if spec.sample_builder is not None else None, annotations)
