"""Step of the infer stage: ask one model the items of one dataset."""

import asyncio
from dataclasses import dataclass
from typing import Any

from schemas.chat import Chat, ModelEntry
from schemas.item import Item
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.vocabulary import TooLong
from schemas.worker_pool import ProgressListener
from tasks.lake.lake import Lake
from tasks.solvers.base import Transcript, direct
from tasks.solvers.option_order import Epochs, plan_epochs
from tasks.solvers.prompts import load_prompts
from tasks.solvers.run import Endpoint, run_solver
from tasks.solvers.truncation import solve_within_context
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class InferJob:
    """One dataset, model and setting to ask."""

    dataset: str
    setting: str
    entry: ModelEntry
    items: PartitionRef
    key: PartitionKey
    epochs: Epochs
    too_long: TooLong = "missing"


@step("{job.dataset}/{job.entry.name}/{job.setting}")
async def infer_partition(job: InferJob, lake: Lake, endpoint: Endpoint, listener: ProgressListener) -> Any:
    """Ask every item; a failed call is a row too, and leaves the partition incomplete.

    Returns:
        PartitionRef of the responses.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    items = lake.read(job.items, Items)
    presentations = plan_epochs(items, job.epochs)
    listener.expect(len(presentations))
    prompts = load_prompts()

    async def solve(item: Item, chat: Chat, repetition: int) -> Transcript:
        async def run_once(shown: Item) -> Transcript:
            if shown is not item:
                listener.expect(1)
            return await direct(shown, job.entry, prompts, chat, repetition)

        return await solve_within_context(item, job.too_long, run_once)

    system = (job.entry.name, job.setting)
    responses = await run_solver(presentations, system, solve, endpoint, listener.on_reply)
    complete = not (responses["status"] == "failed").any()
    # In a thread: calls of other partitions go on meanwhile.
    return await asyncio.to_thread(lake.write, job.key, responses, Responses, complete=complete)
