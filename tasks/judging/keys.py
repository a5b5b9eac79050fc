"""What a `judgements` partition is made of."""

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lineage.fingerprint import partition_key

JUDGEMENTS_VERSION = "1"
"""Bumped when the judge contract or executor changes meaning; rubric texts carry their own hash."""


def judgements_key(responses: PartitionRef, judge: ModelEntry, rubric: str, rubric_sha256: str) -> PartitionKey:
    """Key of one judge's ratings of one partition of responses."""
    settings = {
        "judge": judge.name,
        "identity": judge.identity,
        "sampling": judge.sampling.model_dump(mode="json"),
        "rubric_sha256": rubric_sha256,
    }
    keys = {**dict(responses.place), "judge": judge.name, "rubric": rubric}
    return partition_key("judgements", keys, settings, parents=[responses.identity], version=JUDGEMENTS_VERSION)
