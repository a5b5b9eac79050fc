"""Steps of the score stage: score one partition of responses, in the corrected or the reference profile."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.blueprint import MethodSpec
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import ItemScores
from tasks.lake.lake import Lake
from tasks.metrics.item_scores import score_items
from tasks.metrics.reference.scoring import score_reference
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class ItemScoreJob:
    """One dataset, model and setting to score."""

    dataset: str
    model: str
    setting: str
    methods: tuple[MethodSpec, ...]
    items: PartitionRef
    responses: PartitionRef
    judgements: PartitionRef | None
    key: PartitionKey


@step("score {job.dataset}/{job.model}/{job.setting}")
async def score_partition(job: ItemScoreJob, lake: Lake) -> Any:
    """Read replies as answers and compare them with the gold.

    Returns:
        PartitionRef of the item scores.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    return lake.write(job.key, compute_item_scores(job, lake), ItemScores)


def compute_item_scores(job: ItemScoreJob, lake: Lake) -> pl.DataFrame:
    """Return rows of `item_scores`, from what the lake holds."""
    items, responses = lake.read(job.items, Items), lake.read(job.responses, Responses)
    judgements = lake.read(job.judgements, Judgements) if job.judgements else None
    return pl.concat([score_items(items, responses, judgements, method) for method in job.methods])


@step("score {job.dataset}/{job.model}/{job.setting} as released")
async def score_reference_partition(job: ItemScoreJob, lake: Lake) -> Any:
    """Score one partition of responses as the released code would; ratings of a judge are not looked at.

    Returns:
        PartitionRef of the item scores.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    return lake.write(job.key, compute_reference_scores(job, lake), ItemScores)


def compute_reference_scores(job: ItemScoreJob, lake: Lake) -> pl.DataFrame:
    """Return rows of `item_scores`, from what the lake holds."""
    items, responses = lake.read(job.items, Items), lake.read(job.responses, Responses)
    return pl.concat([score_reference(items, responses, method) for method in job.methods])
