"""The steps of judging: rate one partition of answers, write gold replies for it, take role cards one step further."""

import asyncio
from functools import partial
from typing import Any

import polars as pl

from schemas.chat import Chat
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.tables.role_cards import RoleCards
from schemas.worker_pool import Job, ProgressListener, RunJobs
from tasks.judging.answers import gold_answers, judged_answers
from tasks.judging.cards import CardJob
from tasks.judging.executor import Judge, judge_answers, rating_calls
from tasks.judging.jobs import GoldJob, JudgeJob
from tasks.lake.lake import Lake
from tasks.solvers.state import SolverResources
from tasks.steps import step, up_to_date


@step("judge {job.title}")
async def judge_partition(job: JudgeJob, lake: Lake, chat: Chat, run_jobs: RunJobs, listener: ProgressListener) -> Any:
    """Rate every answer and return the PartitionRef of the judgements.

    A failed judge call is a row too, and leaves the partition incomplete. The listener is told of every reply.
    """
    if stored := lake.find(job.key):
        return up_to_date(stored)
    items, answers = lake.read(job.items, Items), lake.read(job.answers, Answers)
    listener.expect(judged_answers(answers, items, job.rubric).height * len(rating_calls(job.rubric, job.repetitions)))
    judging = Judge(job.judge, job.rubric, chat, listener.on_reply, job.repetitions)
    judgements = await judge_answers(items, answers, judging, run_jobs)
    complete = not (judgements["parse_status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, judgements, Judgements, complete=complete)


@step("gold replies of {job.key.place[0][1]}")
async def write_gold(job: GoldJob, lake: Lake) -> Any:
    """Write gold replies as answers, for the judge to rate, and return their PartitionRef."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    return lake.write(job.key, gold_answers(lake.read(job.items, Items)), Answers)


@step("cards/{job.name}/{job.step}")
async def write_cards(job: CardJob, lake: Lake, models: SolverResources, run_jobs: RunJobs) -> Any:
    """Take every card one step further, and return the PartitionRef; a failed call leaves the partition incomplete."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    advance = job.pipeline.advance
    jobs = [Job(len(row["text"] or row["posted"]), partial(advance, row, job.step, models)) for row in job.rows]
    frame = pl.DataFrame(list(await run_jobs(jobs)), schema=RoleCards.create_empty().schema)
    complete = not (frame["status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, frame, RoleCards, complete=complete)
