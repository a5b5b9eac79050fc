"""Compute the partition keys of the aggregated layers."""

from collections.abc import Sequence

from schemas.blueprint import Blueprint
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lake.fingerprint import hash_settings, partition_key
from tasks.scoring.benchmark import SCORING_VERSION, ScoreSettings

COMPARISONS_VERSION = "1"
"""Bumped when grids of needles or tables of ablations are computed differently."""


def aggregate_key(layer: str, item_scores: Sequence[PartitionRef], blueprint: Blueprint, settings: ScoreSettings) -> PartitionKey:
    """Aggregate key of one aggregated layer over all the item scores of a run."""
    resolved = {
        "blueprint_sha256": blueprint_sha256(blueprint),
        "seed": settings.seed,
        "bootstrap": settings.bootstrap,
        "rank_incomplete": settings.rank_incomplete,
    }
    parents = [ref.identity for ref in item_scores]
    return partition_key(layer, {"benchmark": blueprint.name}, resolved, parents, SCORING_VERSION)


def compared_key(layer: str, benchmark: str, parents: Sequence[PartitionRef]) -> PartitionKey:
    """Return the key of a layer that lays scores side by side, from nothing but its inputs."""
    return partition_key(layer, {"benchmark": benchmark}, {}, [ref.identity for ref in parents], COMPARISONS_VERSION)


def ablation_key(name: str, benchmark: str, variants: Sequence[str], parents: Sequence[PartitionRef]) -> PartitionKey:
    """Return the key of the scores of an ablation's variants."""
    place = {"benchmark": benchmark, "ablation": name}
    return partition_key("ablations", place, {"variants": list(variants)}, [ref.identity for ref in parents], COMPARISONS_VERSION)


def blueprint_sha256(blueprint: Blueprint) -> str:
    """Hash of the resolved blueprint, independent of comments and layout of its file."""
    return hash_settings(blueprint.model_dump(mode="json"))
