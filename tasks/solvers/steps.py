"""Steps of the infer stage: split contexts, then ask one model the items of one dataset in one setting."""

import asyncio
from collections.abc import Iterable
from typing import Any

import dataframely as dy
import polars as pl

from schemas.context import Retriever
from schemas.errors import LakeError
from schemas.lineage import PartitionRef
from schemas.tables.items import Chunks, Items, Retrievals
from schemas.tables.responses import Answers, Responses
from schemas.worker_pool import RunJobs
from tasks.lake.lake import Lake
from tasks.models.journal.journal import cut_prompts
from tasks.solvers.chunk_rows import ChunkJob, chunk_rows, mark_needle, read_chunks, read_contexts, split_context
from tasks.solvers.infer_job import InferJob, answers_key
from tasks.solvers.presentation import plan_epochs
from tasks.solvers.run import BuiltContexts, ItemRows, Listeners, fail_cut, make_tables, read_item, run_solver
from tasks.solvers.state import CONTEXT, SolverResources
from tasks.steps import step, up_to_date


@step("chunks {job.dataset}")
async def chunk_partition(job: ChunkJob, lake: Lake, retriever: Retriever) -> Any:
    """Split every context of a dataset, and return the PartitionRef of the chunks."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    rows: list[dict[str, object]] = []
    contexts = read_contexts(lake, job.contexts)
    for row in lake.read(job.items, Items).iter_rows(named=True):
        item = read_item(row)
        chunks = await split_context(item, job.chunking, retriever)
        rows += chunk_rows(row["dataset"], row["item_id"], CONTEXT, chunks, mark_needle(chunks, item, contexts[row["item_id"]]))
    frame = pl.DataFrame(rows, schema=Chunks.create_empty().schema)
    return await asyncio.to_thread(lake.write, job.key, frame, Chunks)


def chunks_of(job: InferJob, lake: Lake) -> dy.DataFrame[Chunks] | None:
    """Read the chunks of a job's contexts; null if they are not split. Raise LakeError if they are not there."""
    if job.chunk_job is None:
        return None
    key = job.chunk_job.key
    if (stored := lake.find(key)) is None:
        raise LakeError(
            "contexts were not split into chunks before inference",
            where=f"{key.layer} of {job.dataset}",
            next_step="run moodflow infer again",
        )
    return lake.read(stored, Chunks)


@step("{job.dataset}/{job.entry.name}/{job.options.setting}")
async def infer_partition(job: InferJob, lake: Lake, resources: SolverResources, run_jobs: RunJobs, listeners: Listeners) -> Any:
    """Ask every item; a failed call is a row too, and leaves the partitions incomplete.

    The lake has items, contexts and chunks. Return PartitionRefs of the responses, of the answers, of retrievals and of chunks
    that were written, where there are any.
    """
    if stored := job.keys.find_all(lake):
        return up_to_date(stored)
    presentations = plan_epochs(lake.read(job.items, Items), job.epochs)
    rows = chunks_of(job, lake)
    built = BuiltContexts(read_contexts(lake, job.contexts), read_chunks(rows) if rows is not None else {})
    listeners["tested"].expect(len(presentations))
    solved = await run_solver(presentations, built, job.options, resources, run_jobs, listeners)
    cut = cut_prompts(model.chat for model in resources.roles.values())
    # In a thread: calls of other partitions go on meanwhile.
    return await asyncio.to_thread(write_outputs, job, lake, (fail_cut(rows, cut) for rows in solved))


def write_outputs(job: InferJob, lake: Lake, solved: Iterable[ItemRows]) -> list[PartitionRef]:
    """Write what a setting yielded; the answers last, so that they are there only when the rest is."""
    tables = make_tables(solved)
    complete = not (tables["responses"]["status"] == "failed").any()
    refs = []
    if job.keys.retrievals is not None:
        marked = mark_retrieved(tables["retrievals"], chunks_of(job, lake))
        refs.append(lake.write(job.keys.retrievals, marked, Retrievals, complete=complete))
    if job.keys.written is not None:
        refs.append(lake.write(job.keys.written, tables["chunks"], Chunks, complete=complete))
    replies = lake.write(job.keys.responses, tables["responses"], Responses, complete=complete)
    answers = lake.write(answers_key(replies), tables["answers"], Answers, complete=complete)
    return [replies, answers, *refs]


def mark_retrieved(retrievals: pl.DataFrame, chunks: dy.DataFrame[Chunks] | None) -> pl.DataFrame:
    """Return rows of `retrievals` that say which chunk of a context holds the needle; null where it was not split."""
    if chunks is None:
        return retrievals
    of_context = chunks.filter(pl.col("corpus") == CONTEXT).select("item_id", "corpus", "chunk", "holds_needle")
    return retrievals.drop("holds_needle").join(of_context, on=["item_id", "corpus", "chunk"], how="left")
