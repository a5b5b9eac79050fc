"""The steps of the infer stage as plain functions on a lake of their own: what they write, and what an incomplete one is."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.chat import ModelEntry
from schemas.lineage import CodeVersion, PartitionRef
from schemas.tables.items import Chunks, Contexts, Items, Retrievals
from schemas.tables.responses import Answers, Responses
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.chunk_rows import ChunkJob, read_contexts
from tasks.solvers.infer_job import InferJob
from tasks.solvers.state import AskedItem, Chunking, SolverCode, SolverOptions, SolverPlan, SolverResources
from tasks.solvers.steps import chunk_partition, infer_partition
from tests.tasks.benchmarks.longemotion.solvers.long_items import EE, QA
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import FAILED, ScriptedModel, WordRetriever, saying
from tests.tasks.rows import frame, item, items
from tests.tasks.solvers.asking import Replies

DATASET = "own"


def build(lake: Lake, long_item: AskedItem) -> tuple[PartitionRef, PartitionRef]:
    """Write the item and its context."""
    built = item(long_item.item_id, **long_item.item.model_dump(exclude={"item_id"}, exclude_none=True))
    assert long_item.context
    context = {**long_item.context.model_dump(), "dataset": DATASET, "item_id": long_item.item_id, "renamed": [["a", "b"]]}

    def write(layer: str, table: pl.DataFrame, schema: Any) -> PartitionRef:
        return lake.write(partition_key(layer, {"dataset": DATASET}, {}, [], "1"), table, schema)

    return write("items", items(built), Items), write("contexts", frame(Contexts, (context,)), Contexts)


def plain(step: Any) -> Callable[..., Awaitable[Any]]:
    """A step without its engine."""
    return step.fn  # type: ignore[no-any-return]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path, CodeVersion("test", None))


def refs_of(state: Any) -> Any:
    """What a step gives back, whether it worked or found it done."""
    return getattr(state, "data", state)


CHUNKING = Chunking(64, 8)


def split_job(built: tuple[PartitionRef, PartitionRef]) -> ChunkJob:
    return ChunkJob(*built, CHUNKING)


def job(built: tuple[PartitionRef, PartitionRef], setting: str, *, own: bool = False) -> InferJob:
    entry = ModelEntry(name="core", base_url="http://core.test/v1")
    yields = {"base": [], "rag": ["retrievals", *(["chunks"] if own else [])]}.get(setting, [])
    chunking = CHUNKING if setting == "rag" and not own else None
    plan = SolverPlan(SolverCode("1"), chunking=chunking, yields=frozenset(yields))
    return InferJob({"tested": entry}, SolverOptions(setting), plan, *built)


def resources(model: ScriptedModel) -> SolverResources:
    return SolverResources({"tested": model.role_model()}, WordRetriever())


async def infer(lake: Lake, asked: InferJob, model: ScriptedModel) -> tuple[list[PartitionRef], Replies]:
    listener = Replies()
    async with WorkerPool(1) as pool:
        refs = await plain(infer_partition)(asked, lake, resources(model), pool.do_all, {"tested": listener})
    return refs, listener


async def test_what_was_built_is_read_as_it_was(lake: Lake) -> None:
    built = build(lake, QA)
    assert QA.context
    assert read_contexts(lake, built[1]) == {"qa-1": QA.context.model_copy(update={"renamed": (("a", "b"),)})}


async def test_retrievals_name_chunks_that_are_there(lake: Lake) -> None:
    built = build(lake, QA)
    chunks = await plain(chunk_partition)(split_job(built), lake, WordRetriever())
    (responses, answers, retrievals), listener = await infer(lake, job(built, "rag"), ScriptedModel(saying("exposure")))
    rows, table = lake.read(retrievals, Retrievals), lake.read(chunks, Chunks)
    assert table.height == len(QA.chunks)
    assert rows.join(table, on=["dataset", "item_id", "corpus", "chunk"]).height == rows.height == len(QA.chunks)
    # The chunk that answers shares most words with the question.
    assert rows.filter(rank=0)["chunk"].to_list() == [20]
    assert rows["kept"].sum() == 4
    assert rows["holds_needle"].null_count() == rows.height
    assert lake.read(responses, Responses)["reply"].to_list() == ["exposure"]
    assert lake.read(answers, Answers).select("text", "failed_role", "part").rows() == [("exposure", None, "")]
    assert (listener.expected, len(listener)) == (1, 1)


async def test_written_text_is_kept_and_calls_expected(lake: Lake) -> None:
    built = build(lake, EE)
    refs, listener = await infer(
        lake, job(built, "rag", own=True), ScriptedModel(saying("one", "two", "three", "four", "five", "six"))
    )
    responses, _, retrievals, written = refs
    assert [ref.layer for ref in refs] == ["responses", "answers", "retrievals", "chunks"]
    assert lake.read(responses, Responses)["turn"].to_list() == list(range(6))
    assert set(lake.read(written, Chunks)["corpus"]) == {f"written-0-{step}" for step in (2, 3, 4, 5)}
    assert lake.read(retrievals, Retrievals)["holds_needle"].null_count() == lake.read(retrievals, Retrievals).height
    assert (listener.expected, len(listener)) == (6, 6)


async def test_a_failed_call_leaves_every_partition_incomplete(lake: Lake) -> None:
    built = build(lake, QA)
    await plain(chunk_partition)(split_job(built), lake, WordRetriever())
    asked = job(built, "rag")
    refs, _ = await infer(lake, asked, ScriptedModel(saying(FAILED)))
    assert [ref.complete for ref in refs] == [False, False, False]
    again = ScriptedModel(saying("exposure"))
    refs, _ = await infer(lake, asked, again)
    assert (len(again.asked), [ref.complete for ref in refs]) == (1, [True, True, True])


async def test_what_is_complete_is_asked_no_second_time(lake: Lake) -> None:
    built = build(lake, QA)
    first, second = ScriptedModel(saying("exposure")), ScriptedModel(saying("never"))
    done, _ = await infer(lake, job(built, "base"), first)
    found, listener = await infer(lake, job(built, "base"), second)
    assert (len(first.asked), len(second.asked), listener.expected) == (1, 0, 0)
    assert refs_of(found) == done
