"""Define a step, the one kind of Prefect task MoodFlow has, and count those that ran.

A step looks for its own partition before it works, so Prefect's result cache is off; retries live in the model client. Its inputs
and outputs are emitted as OpenLineage events.
"""

import inspect
import os
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from openlineage.client.uuid import generate_new_uuid
from prefect import __version__ as prefect_version
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext, TaskRunContext
from prefect.states import Completed, Failed
from pydantic import SecretStr

from schemas.lineage import PartitionRef
from tasks.lineage.emission import StepTrace
from tasks.lineage.events import NAMESPACE, StepRun
from tasks.text.scrub_keys import Scrubber

UP_TO_DATE = "UpToDate"
"""Name of the state of a step that had nothing to compute."""

SECRETS = {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD"}
"""Words in the name of an environment variable that holds what no event may repeat."""


@dataclass
class RunLedger:
    """Runs that ended, here or on a cluster for this process: what a server must have recorded before we may stop it."""

    flow_runs: set[UUID] = field(default_factory=set)
    ended: list[UUID] = field(default_factory=list)
    """Flow runs in the order they ended: a sub-flow before the flow it is part of."""
    task_runs: set[UUID] = field(default_factory=set)

    def note(self, flow_run: UUID | None, task_run: UUID | None) -> None:
        """Note that a task run ended, in a flow run; outside of one it is not waited for. Noted twice it counts once."""
        if flow_run is not None and task_run is not None:
            self.flow_runs.add(flow_run)
            self.task_runs.add(task_run)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note that the step or the flow ended whose body the block is. Hooks would write two lines each into the run's log."""
        try:
            yield
        finally:
            task, flow = TaskRunContext.get(), FlowRunContext.get()
            if task:
                self.note(task.task_run.flow_run_id, task.task_run.id)
            elif flow and (run := flow.flow_run):
                self.flow_runs.add(run.id)
                self.ended.append(run.id)
                self.note(run.id, run.parent_task_run_id)  # a sub-flow is recorded as one task run of its parent


ledger = RunLedger()


def step(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of a step; `name` is the template of its task run name, filled from its arguments."""
    decorate = task(cache_policy=NO_CACHE, retries=0, task_run_name=name)
    return lambda body: decorate(_traced(body))


def check(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of a step that may end as `refused`."""
    # Of a task that has no retries, Prefect logs a state that is a failure twice, once with the trace of no exception.
    return lambda body: step(name)(body).with_options(retries=1, retry_condition_fn=lambda *_: False)


def _traced(body: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return the body of a step with its events around it; name, module and arguments stay what they are."""

    @wraps(body)
    async def traced(*arguments: Any, **keywords: Any) -> Any:
        trace = StepTrace(lambda: _step_run(body), (*arguments, *keywords.values()))
        await trace.start()
        try:
            with ledger.noting():
                result = await body(*arguments, **keywords)
        except BaseException as error:
            interrupted = isinstance(error, CancelledError | KeyboardInterrupt)
            trace.fail(_without_secrets(f"{type(error).__name__}: {error}", trace.inputs.key_variables), interrupted=interrupted)
            raise
        if isinstance(result, State) and not result.is_completed():
            trace.fail(_without_secrets(result.message or "refused", trace.inputs.key_variables))
        else:
            state = result if isinstance(result, State) else None
            await trace.complete(state.data if state else result, up_to_date=state is not None and state.name == UP_TO_DATE)
        return result

    return traced


def _step_run(body: Callable[..., Any]) -> StepRun:
    task_context, flow_context = TaskRunContext.get(), FlowRunContext.get()
    parent = task_context.task_run.flow_run_id if task_context else None
    flow = flow_context.flow if flow_context else None
    return StepRun(
        id=str(task_context.task_run.id if task_context else generate_new_uuid()),
        function=body.__name__,
        module=body.__module__,
        documentation=(inspect.getdoc(body) or body.__name__).partition("\n\n")[0],
        engine=prefect_version,
        namespace=os.environ.get("OPENLINEAGE_NAMESPACE") or NAMESPACE,
        flow_run=str(parent) if parent else None,
        flow=flow.name if flow else "flow",
    )


def _without_secrets(text: str, variables: Iterable[str]) -> str:
    """Return a message without what these environment variables hold, and all others whose name says that it is a secret."""
    for name in {*variables, *(name for name in os.environ if not SECRETS.isdisjoint(name.upper().split("_")))}:
        text = Scrubber(SecretStr(os.environ.get(name, "").strip())).clean(text)
    return text


FoundT = TypeVar("FoundT", PartitionRef, list[PartitionRef])


def up_to_date(ref: FoundT) -> State[FoundT]:
    """Return the state of a step that found its partition, or all of them: shown and counted as `UpToDate` in the Prefect UI."""
    return Completed(name=UP_TO_DATE, message="fingerprint matches", data=ref)


def refused(message: str) -> State[None]:
    """Return the state of a check that failed: shown as `Failed` with the message in the Prefect UI, without a stack trace."""
    return Failed(message=message)


async def outcome(run: Awaitable[Any]) -> Any:
    """Return the result of a step; Prefect hands over the state itself, not its data, if the step returned one."""
    result = await run
    return await result.aresult() if isinstance(result, State) else result
