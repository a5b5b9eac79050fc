"""What partitions of `judgements` and `agreements` are made of."""

from collections.abc import Sequence

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from tasks.lake.fingerprint import partition_key

JUDGEMENTS_VERSION = "3"
"""Bumped when the judge contract or executor changes meaning; rubric texts carry their own hash."""

AGREEMENTS_VERSION = "2"
"""Bumped when agreement is measured differently."""


def judgements_key(
    responses: PartitionRef, judge: ModelEntry, rubric: str, rubric_sha256: str, repetitions: int = 1
) -> PartitionKey:
    """Key of one judge's ratings of one partition of responses.

    That its replies are not held to a schema counts only where they are not, and how often it rates an answer only where it does
    so more than once.
    """
    settings = {
        "judge": judge.name,
        **judge.meaning,
        "rubric_sha256": rubric_sha256,
        **({"json_schema": False} if judge.dialect and "json_schema" in judge.dialect.unsent else {}),
        **({"repetitions": repetitions} if repetitions > 1 else {}),
    }
    keys = {**dict(responses.place), "judge": judge.name, "rubric": rubric}
    return partition_key("judgements", keys, settings, parents=[responses.identity], version=JUDGEMENTS_VERSION)


def agreements_key(benchmark: str, parents: Sequence[PartitionRef]) -> PartitionKey:
    """Key of how far judges agree; `parents` are the ratings, what they rate and the items."""
    identities = sorted({ref.identity for ref in parents})
    return partition_key("agreements", {"benchmark": benchmark}, {}, identities, AGREEMENTS_VERSION)
