"""The score stage's first step in the reference profile."""

from typing import Any

import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.tables.scores import ItemScores
from tasks.lake.lake import Lake
from tasks.metrics.reference.scoring import score_reference
from tasks.metrics.steps import ItemScoreJob
from tasks.steps import step, up_to_date


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
    """Rows of `item_scores`, from what the lake holds."""
    items, responses = lake.read(job.items, Items), lake.read(job.responses, Responses)
    return pl.concat([score_reference(items, responses, method) for method in job.methods])
