"""What an `item_scores` partition of the reference profile is made of."""

from collections.abc import Sequence

from schemas.blueprint import MethodSpec
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lake.fingerprint import partition_key
from tasks.metrics.reference.scoring import REFERENCE_VERSION


def reference_scores_key(responses: PartitionRef, methods: Sequence[MethodSpec]) -> PartitionKey:
    """Key of the scored items of one partition of responses; never that of the corrected profile."""
    asked = [{"method": method.id, "metrics": [metric.metric for metric in method.metrics]} for method in methods]
    settings = {"profile": "reference", "methods": asked}
    return partition_key("item_scores", dict(responses.place), settings, [responses.identity], REFERENCE_VERSION)
