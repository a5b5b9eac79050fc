"""The steps of judging: have a judge rate one partition of answers, and write gold replies for it."""

import asyncio
from dataclasses import dataclass
from typing import Any

from schemas.chat import Chat, ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.worker_pool import ProgressListener, RunJobs
from tasks.judging.answers import judged_answers
from tasks.judging.executor import Judge, judge_answers, rating_calls
from tasks.judging.gold import GOLD, gold_answers
from tasks.judging.rubrics import load_rubric
from tasks.lake.fingerprint import partition_key
from tasks.lake.lake import Lake
from tasks.solvers.infer_job import ANSWERS_VERSION
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class JudgeJob:
    """One partition of answers to rate, each `repetitions` times."""

    rubric: str
    judge: ModelEntry
    items: PartitionRef
    answers: PartitionRef
    key: PartitionKey
    repetitions: int = 1

    @property
    def title(self) -> str:
        """Return what is rated, and by whom."""
        return "/".join(self.answers.key(name) for name in ("dataset", "model", "setting")) + f" by {self.judge.name}"


@step("judge {job.title}")
async def judge_partition(job: JudgeJob, lake: Lake, chat: Chat, run_jobs: RunJobs, listener: ProgressListener) -> Any:
    """Rate every answer and return the PartitionRef of the judgements.

    A failed judge call is a row too, and leaves the partition incomplete. The listener is told of every reply.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    items, answers = lake.read(job.items, Items), lake.read(job.answers, Answers)
    rubric = load_rubric(job.rubric)
    listener.expect(judged_answers(answers, items, rubric).height * len(rating_calls(rubric, job.repetitions)))
    judging = Judge(job.judge, rubric, chat, listener.on_reply, job.repetitions)
    judgements = await judge_answers(items, answers, judging, run_jobs)
    complete = not (judgements["parse_status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, judgements, Judgements, complete=complete)


@dataclass(frozen=True)
class GoldJob:
    """Gold replies of one partition of items."""

    items: PartitionRef

    @property
    def key(self) -> PartitionKey:
        """Key of the replies, as answers."""
        place = {"dataset": self.items.key("dataset"), "model": GOLD, "setting": GOLD}
        return partition_key("answers", place, {}, [self.items.identity], ANSWERS_VERSION)


@step("gold replies of {job.key.place[0][1]}")
async def write_gold(job: GoldJob, lake: Lake) -> Any:
    """Write gold replies as answers, for the judge to rate, and return their PartitionRef."""
    if found := lake.find(job.key):
        return up_to_date(found)
    return lake.write(job.key, gold_answers(lake.read(job.items, Items)), Answers)
