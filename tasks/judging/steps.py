"""The step of judging: have a judge rate one partition of answers; and the job that compares judges, or finds slips."""

import asyncio
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.chat import Chat, ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.layers import LAYERS
from schemas.tables.responses import Answers, Judgements
from schemas.worker_pool import ProgressListener, RunJobs
from tasks.judging.agreement import agreements
from tasks.judging.answers import judged_answers
from tasks.judging.executor import Judge, judge_answers, rating_calls
from tasks.judging.gold import GOLD, gold_answers
from tasks.judging.rubrics import load_rubric
from tasks.judging.simulation import find_faults
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


@dataclass(frozen=True)
class AgreementJob:
    """Ratings of a benchmark's answers by all judges, these answers and the items they are to; and the layer computed of them."""

    benchmark: str
    items: tuple[PartitionRef, ...]
    answers: tuple[PartitionRef, ...]
    judgements: tuple[PartitionRef, ...]
    layer: str = "agreements"

    @property
    def key(self) -> PartitionKey:
        """Key of what is found; in which order ratings, answers and items are named does not matter."""
        parents = sorted({ref.identity for ref in (*self.items, *self.answers, *self.judgements)})
        version = str(LAYERS[self.layer].version)
        return partition_key(self.layer, {"benchmark": self.benchmark}, {}, parents, version)

    def compute(self, lake: Lake) -> pl.DataFrame:
        """Compute rows of the layer, from what the lake holds."""
        items = Items.cast(pl.concat([lake.read(ref, Items) for ref in dict.fromkeys(self.items)]))
        answers = Answers.cast(pl.concat([lake.read(ref, Answers) for ref in self.answers]))
        rated = [Judgements.create_empty(), *(lake.read(ref, Judgements) for ref in self.judgements)]
        judgements = Judgements.cast(pl.concat(rated))
        rubrics = {name: load_rubric(name) for name in judgements["rubric"].unique()}
        compute = find_faults if self.layer == "simulation_faults" else agreements
        return compute(judgements, answers, items, rubrics)
