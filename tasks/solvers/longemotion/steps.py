"""Steps of the infer stage for long items: split their contexts, then ask one model about them."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.context import Context
from schemas.item import Item
from schemas.lineage import PartitionKey, PartitionRef
from schemas.retrieval import Retriever
from schemas.tables.contexts import Chunks, Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.usage import Role
from schemas.vocabulary import TooLong
from schemas.worker_pool import Job, ProgressListener
from tasks.lake.lake import Lake
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.base import Transcript
from tasks.solvers.longemotion.chunk_rows import chunk_rows, mark_needle, read_chunks, segments_of
from tasks.solvers.longemotion.solve import solve
from tasks.solvers.longemotion.state import CONTEXT, LongItem, RoleModel, SolverOptions, SolverOutput, SolverResources
from tasks.solvers.option_order import Epochs, Presentation, plan_epochs
from tasks.solvers.run import read_item, response_row
from tasks.solvers.truncation import solve_within_context
from tasks.steps import step, up_to_date


@dataclass(frozen=True)
class ChunkJob:
    """Contexts of a dataset to split; `chunk_tokens` null = they come in segments."""

    dataset: str
    items: PartitionRef
    contexts: PartitionRef
    chunk_tokens: int | None
    overlap_tokens: int
    key: PartitionKey


@step("chunks {job.dataset}")
async def chunk_partition(job: ChunkJob, lake: Lake, retriever: Retriever) -> Any:
    """Split every context of a dataset.

    Returns:
        PartitionRef of the chunks.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    rows: list[dict[str, Any]] = []
    for row, context in read_long(lake, job.items, job.contexts):
        item = read_item(row)
        if job.chunk_tokens is None:
            chunks = segments_of(item.options or ())
        else:
            chunks = await retriever.split(item.context or "", job.chunk_tokens, job.overlap_tokens)
        rows += chunk_rows(row["dataset"], row["item_id"], CONTEXT, chunks, mark_needle(chunks, item, context))
    frame = pl.DataFrame(rows, schema=Chunks.create_empty().schema)
    return await asyncio.to_thread(lake.write, job.key, frame, Chunks)


@dataclass(frozen=True)
class LongKeys:
    """Where what a setting yields is written; null = the setting yields none of it."""

    responses: PartitionKey
    retrievals: PartitionKey | None = None
    written: PartitionKey | None = None

    def present(self) -> tuple[PartitionKey, ...]:
        """List the keys that are there."""
        return tuple(key for key in (self.responses, self.retrievals, self.written) if key is not None)


@dataclass(frozen=True)
class LongJob:
    """One dataset of long items, model and setting to ask."""

    dataset: str
    entry: ModelEntry
    options: SolverOptions
    items: PartitionRef
    contexts: PartitionRef
    chunks: PartitionRef | None
    keys: LongKeys
    repeat: int = 1
    too_long: TooLong = "missing"


Listeners = Mapping[Role, ProgressListener]
"""Listeners to the replies of each role."""


@step("{job.dataset}/{job.entry.name}/{job.options.setting}")
async def infer_long_partition(
    job: LongJob, lake: Lake, resources: SolverResources, pool: WorkerPool, listeners: Listeners
) -> Any:
    """Ask every long item; a failed call is a row too, and leaves the partitions incomplete.

    Args:
        job: what to ask.
        lake: has items, contexts and chunks, and gets the rest.
        resources: models and retriever.
        pool: begins the items, the longest first.
        listeners: told of every reply.

    Returns:
        PartitionRefs of the responses and, where the setting retrieves, of the retrievals and of chunks of what was written.
    """
    found = [ref for key in job.keys.present() if (ref := lake.find(key))]
    if len(found) == len(job.keys.present()):
        return up_to_date(found)
    rows = {row["item_id"]: (row, context) for row, context in read_long(lake, job.items, job.contexts)}
    chunks = read_chunks(lake.read(job.chunks, Chunks)) if job.chunks else {}
    presentations = plan_epochs(lake.read(job.items, Items), Epochs(repeat=job.repeat))
    listeners["tested"].expect(len(presentations))

    async def solve_presentation(presentation: Presentation) -> SolverOutput:
        row, context = rows[presentation.row["item_id"]]
        long_item = LongItem(row["item_id"], read_item(row), context, chunks.get(row["item_id"], ()))
        return await solve_item(long_item, job, with_listeners(resources, listeners), presentation.draw)

    jobs = [
        Job(float(rows[presentation.row["item_id"]][1].tokens), partial(solve_presentation, presentation))
        for presentation in presentations
    ]
    outputs: list[SolverOutput] = await pool.do_all(jobs)
    return await asyncio.to_thread(write_outputs, job, lake, list(zip(presentations, outputs, strict=True)))


async def solve_item(long_item: LongItem, job: LongJob, resources: SolverResources, repetition: int) -> SolverOutput:
    """Solve one item; under a policy that cuts, again with less of its context as long as the model finds it too long.

    What is retrieved comes from the whole context all the same.
    """
    tries: list[SolverOutput] = []

    async def run_once(shown: Item) -> Transcript:
        tries.append(await solve(replace(long_item, item=shown), job.options, resources, repetition))
        return tries[-1].transcript

    transcript = await solve_within_context(long_item.item, job.too_long, run_once)
    return replace(tries[-1], transcript=transcript)


def with_listeners(resources: SolverResources, listeners: Listeners) -> SolverResources:
    """Return the same models for one item, with listeners to their calls; how many calls there will be is not known."""

    def listening(role: Role, role_model: RoleModel) -> RoleModel:
        made = 0

        async def chat(request: ChatRequest) -> ChatReply:
            nonlocal made
            made += 1
            # The first call of the model under test was expected with its item.
            if role != "tested" or made > 1:
                listeners[role].expect(1)
            reply = await role_model.chat(request)
            listeners[role].on_reply(reply)
            return reply

        return replace(role_model, chat=chat)

    return replace(resources, roles={role: listening(role, model) for role, model in resources.roles.items()})


def read_long(lake: Lake, items: PartitionRef, contexts: PartitionRef) -> Iterator[tuple[dict[str, Any], Context]]:
    """Return rows of `items` with what is known of their contexts."""
    known = {row["item_id"]: row for row in lake.read(contexts, Contexts).iter_rows(named=True)}
    for row in lake.read(items, Items).iter_rows(named=True):
        found = {name: value for name, value in known[row["item_id"]].items() if name in Context.model_fields}
        yield row, Context.model_validate({**found, "renamed": tuple(tuple(pair) for pair in found["renamed"])})


def write_outputs(job: LongJob, lake: Lake, outputs: list[tuple[Presentation, SolverOutput]]) -> list[PartitionRef]:
    """Write what a setting yielded; the responses last, so that they are there only when the rest is."""
    responses = pl.DataFrame(
        [
            response_row(presentation, (job.entry.name, job.options.setting), turn, call)
            for presentation, one in outputs
            for turn, call in enumerate(one.transcript)
        ],
        schema=Responses.create_empty().schema,
    )
    complete = not (responses["status"] == "failed").any()
    refs = []
    if job.keys.retrievals is not None:
        table = pl.DataFrame(list(retrieval_rows(job, lake, outputs)), schema=Retrievals.create_empty().schema)
        refs.append(lake.write(job.keys.retrievals, table, Retrievals, complete=complete))
    if job.keys.written is not None:
        written = [
            row
            for presentation, one in outputs
            for text in one.written
            for row in chunk_rows(job.dataset, presentation.row["item_id"], text.corpus, text.chunks, (None,) * len(text.chunks))
        ]
        table = pl.DataFrame(written, schema=Chunks.create_empty().schema)
        refs.append(lake.write(job.keys.written, table, Chunks, complete=complete))
    return [lake.write(job.keys.responses, responses, Responses, complete=complete), *refs]


def retrieval_rows(job: LongJob, lake: Lake, outputs: Iterable[tuple[Presentation, SolverOutput]]) -> Iterator[dict[str, Any]]:
    """Return rows of `retrievals`."""
    needles: Mapping[tuple[str, int], bool | None] = {}
    if job.chunks is not None:
        marked = lake.read(job.chunks, Chunks).select("item_id", "chunk", "holds_needle")
        needles = {(item_id, chunk): holds for item_id, chunk, holds in marked.iter_rows()}
    for presentation, one in outputs:
        for found in one.retrieved:
            of_context = found.corpus == CONTEXT
            yield {
                "dataset": job.dataset,
                "item_id": presentation.row["item_id"],
                "model": job.entry.name,
                "setting": job.options.setting,
                "repetition": presentation.repetition,
                **vars(found),
                "holds_needle": needles.get((presentation.row["item_id"], found.chunk)) if of_context else None,
            }
