"""The score stage's step for items: score one partition of answers, in the corrected or the reference profile."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from schemas.lineage import PartitionRef
from schemas.tables.scores import ItemScores
from tasks.lake.lake import Lake
from tasks.metrics.item_score_job import ItemScoreJob, compute_item_scores
from tasks.steps import step, up_to_date

SCORER = ThreadPoolExecutor(1, thread_name_prefix="score")
"""A thread beside the one that answers Prefect. One: what metrics load on first use is loaded once."""


@step("score {job.title}")
async def score_partition(job: ItemScoreJob, lake: Lake) -> Any:
    """Read answers, compare them with the gold and return the PartitionRef of the item scores."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    return await _in_thread(job, lake)


async def _in_thread(job: ItemScoreJob, lake: Lake) -> PartitionRef:
    # Apart from the step: a cluster is sent the step with all that it names, and threads cannot be sent.
    return await asyncio.get_running_loop().run_in_executor(SCORER, _write, job, lake)


def _write(job: ItemScoreJob, lake: Lake) -> PartitionRef:
    return lake.write(job.key, compute_item_scores(job, lake), ItemScores)
