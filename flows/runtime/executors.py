"""Where the steps of a stage run that asks no model: in this process, or on a cluster."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from prefect.context import FlowRunContext

from flows.runtime.clusters import Cluster, open_cluster
from schemas.dataset import BundledFile, DatasetSpec, PinnedFile
from schemas.errors import ClusterError
from schemas.plan import Plan
from tasks.steps import ledger, outcome

RunStep = Callable[..., Awaitable[Any]]
"""Called with a step and its arguments; gives the step's result, or raises what the step raised."""


@asynccontextmanager
async def spread(plan: Plan) -> AsyncIterator[RunStep]:
    """How the steps of a stage are run.

    Raises:
        UsageError, ClusterError: the plan's cluster cannot be used.
    """
    if plan.runner == "local":
        yield run_here
        return
    lake = plan.lake.absolute() if isinstance(plan.lake, Path) else plan.lake
    async with open_cluster(plan, lake) as cluster:
        yield partial(run_there, cluster, plan)


async def run_here(step: Any, *arguments: Any) -> Any:
    """Run a step in this process."""
    return await outcome(step(*arguments))


async def run_there(cluster: Cluster, plan: Plan, step: Any, *arguments: Any) -> Any:
    """Run a step on one of a cluster's workers; a run that a worker does not survive is begun again by the cluster.

    Raises:
        ClusterError: the cluster was lost, or lost the step.
    """
    context = FlowRunContext.get()
    flow_run = context.flow_run.id if context and context.flow_run else None
    future = cluster.submit(step, signature(step.fn).bind(*arguments).arguments)
    await _end_of(future)
    try:
        # What the step raised is returned; what is raised is about the cluster.
        result = await asyncio.to_thread(future.result, raise_on_failure=False)
    except Exception as error:
        raise ClusterError(
            f"the {plan.runner} cluster did not finish {step.name}",
            where=f"--set runner_address={plan.runner_address}",
            got=" ".join(f"{type(error).__name__}: {error}".split())[:300],
            next_step="see the logs of its workers, then run the same command again; finished partitions are kept",
        ) from error
    ledger.note(flow_run, future.task_run_id)  # the worker's own count is lost with it
    if isinstance(result, BaseException):
        raise result
    return result


async def _end_of(future: Any) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
    await ended.wait()


def may_travel(spec: DatasetSpec) -> bool:
    """Whether a dataset can be built on any machine: its files come with the package, or their content is pinned.

    A user's own file is on the user's machine. A file that nothing pins was fetched here, and the key rests on that content.
    """
    return all(isinstance(file, BundledFile) or (isinstance(file, PinnedFile) and bool(file.sha256)) for file in spec.files)
