"""What a `judgements` partition is made of."""

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lineage.fingerprint import partition_key

JUDGEMENTS_VERSION = "2"
"""Bumped when the judge contract or executor changes meaning; rubric texts carry their own hash."""


def judgements_key(responses: PartitionRef, judge: ModelEntry, rubric: str, rubric_sha256: str) -> PartitionKey:
    """Key of one judge's ratings of one partition of responses.

    That its replies are not held to a schema counts only where they are not.
    """
    settings = {
        "judge": judge.name,
        **judge.meaning,
        "rubric_sha256": rubric_sha256,
        **({"json_schema": False} if judge.dialect and "json_schema" in judge.dialect.unsent else {}),
    }
    keys = {**dict(responses.place), "judge": judge.name, "rubric": rubric}
    return partition_key("judgements", keys, settings, parents=[responses.identity], version=JUDGEMENTS_VERSION)
