"""Steps that emit events, on one small partition of `task_scores`."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.chat import ModelEntry
from schemas.lineage import CodeVersion, Missing, PartitionKey, PartitionRef
from schemas.tables.scores import TaskScores
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.steps import step, up_to_date

CODE = CodeVersion("1.2.3", "a" * 40)


def make_key(model: str = "org/model") -> PartitionKey:
    """Key of the partition a step is to write."""
    return partition_key("task_scores", {"model": model}, {"sample": 1}, ["parent"], "1")


def make_frame(rows: int = 2) -> pl.DataFrame:
    """Rows of `task_scores`."""
    row = {"model": "m", "setting": "base", "score_0_100": 50.0, "datasets_scored": 1, "datasets_total": 1}
    return pl.DataFrame([{**row, "task": f"t{index}", "n_scored": 8, "n_total": 8} for index in range(rows)])


@dataclass(frozen=True)
class Job:
    """What a step is given; `failure` is raised, or returned in place of a partition."""

    key: PartitionKey
    inputs: tuple[PartitionRef, ...] = ()
    entry: ModelEntry | None = None
    failure: BaseException | Missing | None = None


@step("scores of {job.key.layer}")
async def write_scores(job: Job, lake: Lake) -> Any:
    """Write task scores.

    Further lines are not in its events.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    if isinstance(job.failure, BaseException):
        raise job.failure
    return job.failure or lake.write(job.key, make_frame(), TaskScores)
