"""One cell of long items through the infer stage: split the contexts, retrieve and ask, then judge."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from flows.planning.jobs import EvalJob, helpers_of, long_parts, too_long_of
from flows.planning.resolve import ResolvedPlan, embeds
from flows.planning.usage import UsageCounter, usage_of
from flows.runtime.asking import InferResources, Results, judge_job
from schemas.chat import ModelEntry
from schemas.lineage import PartitionRef
from schemas.retrieval import Retriever
from schemas.usage import Role
from tasks.lake.lake import Lake
from tasks.retrieval.embedding import BUNDLED, find_embedder
from tasks.retrieval.engine import RetrievalEngine
from tasks.retrieval.store import EMBEDDINGS
from tasks.solvers.longemotion.context import ModelRoles, RoleModel, SolverResources
from tasks.solvers.longemotion.longemotion_steps import ChunkJob, LongJob, RoleListeners, chunk_partition, infer_long_partition
from tasks.solvers.run import Endpoint
from tasks.steps import outcome


@asynccontextmanager
async def open_retriever(resolution: ResolvedPlan) -> AsyncIterator[Retriever | None]:
    """Who splits and ranks texts, if any are long; the model that embeds them is loaded when the first text is embedded.

    Raises:
        UsageError: the embedding model is not on this machine.
    """
    if not any(chosen.is_long for chosen in resolution.selected):
        yield None
        return
    options, folder = resolution.plan.retrieval, resolution.lake.state / EMBEDDINGS
    # Where nothing is embedded, the model that was named need not be here.
    files = find_embedder(options.embedder if embeds(resolution.plan) else BUNDLED)
    async with RetrievalEngine(files, folder, legacy_bos=options.counts_bos) as engine:
        yield engine


async def infer_long_job(resolution: ResolvedPlan, cell: EvalJob, company: InferResources) -> Results:
    """Responses, retrievals and chunks of one cell and, where its dataset is judged, the ratings; and what each of them took."""
    parts, retriever = long_parts(resolution, cell), company.retriever
    if parts is None or retriever is None:
        return [cell.missing("its items are not built", "moodflow build says why")]
    lake, plan = resolution.lake, resolution.plan
    chunks = await split_once(parts.chunk_job, lake, retriever, company.splitting) if parts.chunk_job else None
    job = LongJob(
        dataset=cell.dataset,
        entry=cell.entry,
        how=parts.options,
        items=parts.items,
        contexts=parts.contexts,
        chunks=chunks,
        keys=parts.keys,
        repeat=plan.repeat,
        too_long=too_long_of(resolution),
    )
    helpers = helpers_of(plan, cell.entry, cell.setting)
    hands = SolverResources(model_roles_of(cell.entry, helpers, company.endpoints), retriever)
    core, sage, critic = (UsageCounter(company.watcher) for _ in range(3))
    crew = company.endpoints[cell.entry].crew
    refs: list[PartitionRef] = await outcome(infer_long_partition(job, lake, hands, crew, RoleListeners(core, sage, critic)))
    heard: dict[Role, UsageCounter] = {"sage": sage, "critic": critic}
    helped = [meter.usage(cell.dataset, helpers[role].name, role) for role, meter in heard.items() if meter.calls]
    judged = await judge_job(resolution, cell, (parts.items, refs[0]), company)
    return [*refs, *([chunks] if chunks else []), usage_of(refs[0], lake, core), *helped, *judged]


async def split_once(job: ChunkJob, lake: Lake, retriever: Retriever, locks: dict[str, asyncio.Lock]) -> PartitionRef:
    """Chunks of a dataset's contexts, which the cells of all models and settings share; `locks` by fingerprint."""
    async with locks.setdefault(job.key.fingerprint, asyncio.Lock()):
        ref: PartitionRef = await outcome(chunk_partition(job, lake, retriever))
    return ref


def model_roles_of(entry: ModelEntry, helpers: Mapping[str, ModelEntry], endpoints: Mapping[ModelEntry, Endpoint]) -> ModelRoles:
    """The models with their clients; who does not take part is played by the one under test, and not called."""
    core = RoleModel(entry, endpoints[entry].chat)
    named = {role: RoleModel(helper, endpoints[helper].chat) for role, helper in helpers.items()}
    return ModelRoles(core=core, sage=named.get("sage", core), critic=named.get("critic", core))
