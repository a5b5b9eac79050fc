"""Steps of the infer stage: split contexts, then ask one model the items of one dataset in one setting."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from schemas.errors import LakeError
from schemas.lineage import PartitionRef
from schemas.retrieval import Retriever
from schemas.tables.contexts import Chunks, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Responses
from tasks.lake.lake import Lake
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.chunk_rows import ChunkJob, chunk_rows, mark_needle, read_chunks, read_contexts, split_context
from tasks.solvers.infer_job import InferJob, answers_key
from tasks.solvers.option_order import Presentation, plan_epochs
from tasks.solvers.run import BuiltContexts, Listeners, answer_rows, read_item, response_rows, run_solver
from tasks.solvers.state import CONTEXT, SolverOutput, SolverResources
from tasks.steps import step, up_to_date


@step("chunks {job.dataset}")
async def chunk_partition(job: ChunkJob, lake: Lake, retriever: Retriever) -> Any:
    """Split every context of a dataset.

    Returns:
        PartitionRef of the chunks.
    """
    if found := lake.find(job.key):
        return up_to_date(found)
    rows: list[dict[str, Any]] = []
    contexts = read_contexts(lake, job.contexts)
    for row in lake.read(job.items, Items).iter_rows(named=True):
        item = read_item(row)
        chunks = await split_context(item, job.chunking, retriever)
        rows += chunk_rows(row["dataset"], row["item_id"], CONTEXT, chunks, mark_needle(chunks, item, contexts[row["item_id"]]))
    frame = pl.DataFrame(rows, schema=Chunks.create_empty().schema)
    return await asyncio.to_thread(lake.write, job.key, frame, Chunks)


def chunks_of(job: InferJob, lake: Lake) -> dy.DataFrame[Chunks] | None:
    """Read the chunks of a job's contexts; null if they are not split.

    Raises:
        LakeError: if they are not there.
    """
    if job.chunk_job is None:
        return None
    key = job.chunk_job.key
    if (found := lake.find(key)) is None:
        raise LakeError(
            "contexts were not split before they are asked about",
            where=f"{key.layer} of {job.dataset}",
            next_step="run moodflow infer again",
        )
    return lake.read(found, Chunks)


@step("{job.dataset}/{job.entry.name}/{job.options.setting}")
async def infer_partition(job: InferJob, lake: Lake, resources: SolverResources, pool: WorkerPool, listeners: Listeners) -> Any:
    """Ask every item; a failed call is a row too, and leaves the partitions incomplete.

    Args:
        job: what to ask.
        lake: has items, contexts and chunks, and gets the rest.
        resources: models and retriever.
        pool: begins the items, the longest first.
        listeners: told of every reply.

    Returns:
        PartitionRefs of the responses, of the answers and, where the setting retrieves, of the retrievals and of chunks of what
        was written.
    """
    if found := job.keys.find_all(lake):
        return up_to_date(found)
    presentations = plan_epochs(lake.read(job.items, Items), job.epochs)
    rows = chunks_of(job, lake)
    built = BuiltContexts(read_contexts(lake, job.contexts), read_chunks(rows) if rows is not None else {})
    listeners["tested"].expect(len(presentations))
    outputs = await run_solver(presentations, built, job.options, resources, pool, listeners)
    # In a thread: calls of other partitions go on meanwhile.
    return await asyncio.to_thread(write_outputs, job, lake, presentations, outputs)


def write_outputs(
    job: InferJob, lake: Lake, presentations: list[Presentation], outputs: list[SolverOutput]
) -> list[PartitionRef]:
    """Write what a setting yielded; the answers last, so that they are there only when the rest is."""
    solved, system = list(zip(presentations, outputs, strict=True)), (job.entry.name, job.options.setting)
    responses = response_rows(presentations, outputs, system)
    complete = not (responses["status"] == "failed").any()
    refs = []
    if job.keys.retrievals is not None:
        table = pl.DataFrame(list(retrieval_rows(job, lake, solved)), schema=Retrievals.create_empty().schema)
        refs.append(lake.write(job.keys.retrievals, table, Retrievals, complete=complete))
    if job.keys.written is not None:
        written = [
            row
            for presentation, one in solved
            for text in one.written
            for row in chunk_rows(job.dataset, presentation.row["item_id"], text.corpus, text.chunks, (None,) * len(text.chunks))
        ]
        table = pl.DataFrame(written, schema=Chunks.create_empty().schema)
        refs.append(lake.write(job.keys.written, table, Chunks, complete=complete))
    replies = lake.write(job.keys.responses, responses, Responses, complete=complete)
    answers = lake.write(answers_key(replies), answer_rows(presentations, outputs, system), Answers, complete=complete)
    return [replies, answers, *refs]


def retrieval_rows(job: InferJob, lake: Lake, outputs: Iterable[tuple[Presentation, SolverOutput]]) -> Iterator[dict[str, Any]]:
    """Return rows of `retrievals`."""
    needles: Mapping[tuple[str, int], bool | None] = {}
    if (rows := chunks_of(job, lake)) is not None:
        marked = rows.select("item_id", "chunk", "holds_needle")
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
