"""Run Prefect flows and their steps: with the user's server or a temporary one, in this process or on a cluster."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, Never, TypeVar

from prefect import flow, get_run_logger
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.states import Failed
from prefect.utilities.annotations import opaque

from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import resolve, with_canary
from flows.runtime.clusters import cluster_error, open_cluster
from flows.runtime.local_server import INTERRUPTED, INTERRUPTION, ends_process
from schemas.addresses import KEY_ADDRESSES
from schemas.errors import MoodflowError
from schemas.plan import Plan
from schemas.printing import printable, tell
from tasks.lake.unused import hold
from tasks.steps import ledger, outcome

ResultT = TypeVar("ResultT")

RunStep = Callable[..., Awaitable[Any]]
"""Called with a step and its arguments; gives the step's result, or raises what the step raised."""

INTERRUPT_LIMIT_S = 5.0
HANDLE_PERIOD_S = 0.2

_UNSAID: list[str] = []
"""Last words of this process that are not printed yet."""


def leave_soon(text: str, status: int) -> None:
    """End the process of a command within INTERRUPT_LIMIT_S with these last words, if it does not end by itself.

    Prefect tries for minutes to report the end to a server that is gone. Leaving without that loses nothing: partitions are
    written whole, and replies are in the journal. The process of a notebook or a test goes on.
    """
    if not ends_process.get():
        return
    _UNSAID.append(text)
    limit = threading.Timer(INTERRUPT_LIMIT_S, _leave, [status])
    limit.daemon = True  # the process need not wait for its limit
    limit.start()


def _leave(status: int) -> None:
    sys.stderr.writelines(_UNSAID)
    sys.stderr.flush()
    os._exit(status)


def run_in_thread(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run work in an event loop of a thread of its own, so that the caller may have a running one; Ctrl-C cancels the work.

    In the main thread Prefect puts a handler of SIGTERM in place of ours while a flow runs, and that raises what means nothing to
    asyncio: it ends whichever task gets it, or nothing at all.
    """
    tasks: list[asyncio.Task[Any] | None] = []

    async def stoppable() -> ResultT:
        tasks.append(asyncio.current_task())
        try:
            return await work
        finally:
            tasks.clear()  # a later signal finds no loop any more

    with ThreadPoolExecutor(1) as thread:
        try:
            result = thread.submit(copy_context().run, asyncio.run, stoppable())
            while not result.done():  # a signal that another thread got is handled when this one runs
                wait([result], timeout=HANDLE_PERIOD_S)
            return result.result()
        except KeyboardInterrupt:
            for task in filter(None, tasks):
                task.get_loop().call_soon_threadsafe(task.cancel)
            raise


def run_to_end(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run the work of a command.

    Meanwhile Ctrl-C and SIGTERM raise KeyboardInterrupt and end the command's process within INTERRUPT_LIMIT_S. Any other process
    does with signals what it always does.
    """

    def interrupt(*_: object) -> Never:
        leave_soon(INTERRUPTION, INTERRUPTED)
        raise KeyboardInterrupt

    handled = (signal.SIGINT, signal.SIGTERM) if ends_process.get() else ()
    usual = [(number, signal.signal(number, interrupt)) for number in handled]
    try:
        return run_in_thread(work)
    finally:
        for number, handler in usual:
            signal.signal(number, handler)
        _UNSAID.clear()


def moodflow_flow(name: str, run_name: str) -> Callable[[Callable[..., Awaitable[Any]]], Any]:
    """Return the decorator of a flow, which keeps `moodflow gc` from the lake of its plan, its first parameter.

    Awaiting the flow raises the MoodflowError of its body. Flows are never retried: a new run finds every finished partition and
    is cheap.
    """

    def decorate(body: Callable[..., Awaitable[Any]]) -> Any:
        @wraps(body)
        async def holding(*arguments: Any, **keywords: Any) -> Any:
            plan = next(iter((*arguments, *keywords.values())))
            try:
                with hold(getattr(plan, "stated", plan).lake), ledger.noting():
                    return await body(*arguments, **keywords)
            except MoodflowError as error:
                # As a state, it is one line of the log; as an exception, a stack trace of this flow and of each around it.
                return Failed(message="; ".join(map(str.strip, str(error).splitlines())), data=error)

        return flow(name=name, flow_run_name=run_name, retries=0)(holding)

    return decorate


_OUTERMOST_CONTEXT: ContextVar[FlowRunContext | None] = ContextVar("context of the outermost flow run", default=None)


def resolve_parameters(plan: Plan) -> ResolvedPlan:
    """Resolve the plan of a run's parameters; a scheduled one has a canary unless it says otherwise.

    Any user who starts a run writes its parameters: the environment that it runs in says which key may go where.
    """
    context = FlowRunContext.get()
    if context and context.flow_run and context.flow_run.deployment_id is not None:
        os.environ.setdefault(KEY_ADDRESSES, "")
        for entry in plan.entries:
            entry.require_own_identity()
        plan = with_canary(plan)
    return resolve(with_canary(plan) if plan.ask_changed else plan)


async def begin_run(resolved: ResolvedPlan) -> None:
    """Prove that the lake can be written; tag the run if it is the outermost, so that it is found by what it evaluates.

    Its tasks get no tag: the server looks a task's tags up in its concurrency limits, 30 to 85 ms each time.
    """
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is not None and run.parent_task_run_id is not None:
        return
    resolved.lake.require_writable()
    if run is None:
        return
    _OUTERMOST_CONTEXT.set(context)
    async with get_client() as client:
        await client.update_flow_run(run.id, tags=sorted({*run.tags, *resolved.stated.tags}))


def in_outermost_run() -> AbstractContextManager[Any]:
    """Let artifacts, tasks and events of the block belong to the outermost flow run, where a user looks for them."""
    context = _OUTERMOST_CONTEXT.get()
    if context is None or context.flow_run is None or context.flow_run.id in ledger.ended:
        return nullcontext()
    return context.model_copy()


@asynccontextmanager
async def spread(plan: Plan) -> AsyncIterator[RunStep]:
    """Yield what runs the steps of a stage."""
    if plan.runner == "local":
        yield run_here
        return
    lake = plan.lake.absolute() if isinstance(plan.lake, Path) else plan.lake
    async with open_cluster(plan, lake) as cluster:
        yield partial(run_there, cluster, plan)


async def run_here(step: Any, *arguments: Any) -> Any:
    """Run a step in this process."""
    # Opaque: no argument holds the result of another step, which Prefect would look for in every field of every one.
    return await outcome(step(*map(opaque, arguments)))


async def run_there(cluster: Any, plan: Plan, step: Any, *arguments: Any) -> Any:
    """Run a step on one of a cluster's workers; a run that a worker does not survive is begun again by the cluster."""
    context = FlowRunContext.get()
    flow_run = context.flow_run.id if context and context.flow_run else None
    future = cluster.submit(step, dict(signature(step.fn).bind(*arguments).arguments))
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
    await ended.wait()
    try:
        # What the step raised is returned; what is raised is about the cluster.
        result = await asyncio.to_thread(future.result, raise_on_failure=False)
    except Exception as error:
        next_step = "see the logs of its workers, then run the same command again; finished partitions are kept"
        raise cluster_error(plan, f"the dask cluster did not finish {step.name}", None, error, next_step) from error
    ledger.note(flow_run, future.task_run_id)  # the worker's own count is lost with it
    if isinstance(result, BaseException):
        raise result
    return result


def log(text: str) -> None:
    """Write a line to standard error; in a flow run to its log, too, which is what the UI shows."""
    tell(text)
    if FlowRunContext.get():
        get_run_logger().info(printable(text))
