"""What an `item_scores` partition is made of."""

from collections.abc import Sequence

from schemas.blueprint import MethodSpec
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lake.fingerprint import partition_key
from tasks.metrics.item_scores import METRICS_VERSION


def item_scores_key(responses: PartitionRef, judgements: Sequence[PartitionRef], methods: Sequence[MethodSpec]) -> PartitionKey:
    """Key of the scored items of one partition of responses.

    Weights and normalisation are left out: they act later, so changing them does not score the items again.
    """
    asked = [
        {
            "method": method.id,
            "rubric": method.rubric,
            "profile": method.profile,
            "metrics": [{"metric": metric.metric, "k": metric.k} for metric in method.metrics],
        }
        for method in methods
    ]
    parents = [responses.identity, *(ref.identity for ref in judgements)]
    return partition_key("item_scores", dict(responses.place), {"methods": asked}, parents, METRICS_VERSION)
