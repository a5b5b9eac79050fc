"""The one kind of Prefect task MoodFlow has, and the count of those that ran.

A step looks for its own partition before it works, so Prefect's result cache is off; retries live in the model client.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.states import Completed

from schemas.lineage import PartitionRef


@dataclass
class RunLedger:
    """Runs that ended in this process: what a server must have recorded before we may stop it."""

    flow_runs: set[UUID] = field(default_factory=set)
    task_runs: int = 0


ledger = RunLedger()


def _note(task: Any, task_run: TaskRun, state: State[Any]) -> None:  # noqa: ARG001  Prefect fixes the hook's arguments
    if task_run.flow_run_id is not None:
        ledger.flow_runs.add(task_run.flow_run_id)
        ledger.task_runs += 1


def step(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a step; `name` is the template of its task run name, filled from its arguments."""
    return task(cache_policy=NO_CACHE, retries=0, task_run_name=name, on_completion=[_note], on_failure=[_note])


FoundT = TypeVar("FoundT", PartitionRef, list[PartitionRef])


def up_to_date(ref: FoundT) -> State[FoundT]:
    """State of a step that found its partition, or all of them: shown and counted as `UpToDate` in the Prefect UI."""
    return Completed(name="UpToDate", message="fingerprint matches", data=ref)


async def outcome(run: Awaitable[Any]) -> Any:
    """Result of a step; Prefect hands over the state itself, not its data, if the step returned one."""
    result = await run
    return await result.aresult() if isinstance(result, State) else result
