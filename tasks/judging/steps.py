"""The infer stage's second step: let a judge rate one partition of responses."""

import asyncio
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.chat import Chat, ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.watching import Watcher
from schemas.working import DoAll
from tasks.judging.executor import Judge, judge_responses
from tasks.judging.rubrics import load_rubric
from tasks.lineage.lake import Lake
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class JudgeJob:
    """One partition of responses to rate."""

    dataset: str
    model: str
    rubric: str
    judge: ModelEntry
    items: PartitionRef
    responses: PartitionRef
    key: PartitionKey


@step("judge {job.dataset}/{job.model} by {job.judge.name}")
async def judge_partition(job: JudgeJob, lake: Lake, chat: Chat, do_all: DoAll, watcher: Watcher) -> Any:
    """Rate every answered response; a failed judge call is a row too, and leaves the partition incomplete.

    Args:
        job: what to rate.
        lake: has the responses, and gets the judgements.
        chat: the judge's client.
        do_all: begins the judge's calls.
        watcher: told of every reply.

    Returns:
        PartitionRef of the judgements.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    items, responses = lake.read(job.items, Items), lake.read(job.responses, Responses)
    watcher.expect(responses.filter(pl.col("status") == "answered").height)
    judging = Judge(job.judge, load_rubric(job.rubric), chat, watcher.on_reply)
    judgements = await judge_responses(items, responses, judging, do_all)
    complete = not (judgements["parse_status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, judgements, Judgements, complete=complete)
