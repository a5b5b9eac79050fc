"""The Prefect step of building role cards: a partition of `role_cards` for each of its steps."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.role_cards import CardStep, RoleCards
from schemas.usage import Role
from schemas.worker_pool import Job, RunJobs
from tasks.benchmarks.esc_eval.cards.entering import Row
from tasks.benchmarks.esc_eval.cards.pipeline import PROMPTS, TAXONOMY, advance, load_texts
from tasks.lake.fingerprint import hash_settings, partition_key
from tasks.lake.lake import Lake
from tasks.solvers.state import SolverResources
from tasks.steps import step, up_to_date

CARDS_VERSION = "1"
"""Bumped when a step asks or concludes otherwise; prompts and taxonomy carry their own hash."""


@dataclass(frozen=True)
class CardJob:
    """A step over a collection of cards: who is asked, the rows that enter, the partition they are from; null = of none."""

    name: str
    step: CardStep
    models: Mapping[Role, ModelEntry]
    rows: tuple[Row, ...]
    parent: PartitionRef | None

    @property
    def key(self) -> PartitionKey:
        """Key of what it yields. Replies come from outside: the rows that enter count, not only what they were made of."""
        settings = {
            "models": {role: {"model": entry.name, **entry.meaning} for role, entry in self.models.items()},
            "sha256": {
                "rows": hash_settings(self.rows),
                **{file: hash_settings(load_texts(file)) for file in (PROMPTS, TAXONOMY)},
            },
        }
        parents = [self.parent.identity] if self.parent else []
        return partition_key("role_cards", {"cards": self.name, "step": self.step}, settings, parents, CARDS_VERSION)


@step("cards/{job.name}/{job.step}")
async def write_cards(job: CardJob, lake: Lake, models: SolverResources, run_jobs: RunJobs) -> Any:
    """Take every card one step further, and return the PartitionRef; a failed call leaves the partition incomplete."""
    if found := lake.find(job.key):
        return up_to_date(found)
    jobs = [Job(len(row["text"] or row["posted"]), partial(advance, row, job.step, models)) for row in job.rows]
    frame = pl.DataFrame(list(await run_jobs(jobs)), schema=RoleCards.create_empty().schema)
    complete = not (frame["status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, frame, RoleCards, complete=complete)
