"""How MoodFlow uses Prefect: settings of a local run, the kind of flow it has, and draining a temporary server."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar

from schemas.plan import Plan

ResultT = TypeVar("ResultT")

LOCAL_SETTINGS = {
    # Without batching, the recorder and the API fight for SQLite's write lock: a small run takes 6 to 10 s instead of 2.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    # Prefect cuts it to whole seconds, and with none the recorder spins.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "60",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "moodflow",
}
DRAIN_LIMIT_S = 30.0
INTERRUPT_LIMIT_S = 5.0
INTERRUPTED = 130
"""Exit status after Ctrl-C."""

_TERMINAL = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]


def configure_prefect() -> None:
    """Put our defaults into the environment; what the user has set wins. Call before Prefect is imported."""
    for name, value in LOCAL_SETTINGS.items():
        os.environ.setdefault(name, value)


def silence_console() -> None:
    """Keep Prefect's log lines off the terminal; they still reach the UI. Errors are reported once, by the command line."""
    from prefect.logging.configuration import ensure_logging_setup  # noqa: PLC0415  settings are read on import
    from prefect.logging.handlers import PrefectConsoleHandler  # noqa: PLC0415

    ensure_logging_setup()
    loggers = [logging.getLogger(), *(logging.getLogger(name) for name in logging.root.manager.loggerDict)]
    for logger in loggers:
        for handler in list(logger.handlers):
            if isinstance(handler, PrefectConsoleHandler):
                # A filter, not removal: Prefect configures logging again for each flow and would put a new handler there.
                handler.addFilter(_refuse)


def _refuse(record: logging.LogRecord) -> bool:  # noqa: ARG001  the logging module passes it
    return False


def leave_soon_when_interrupted() -> None:
    """Let Ctrl-C end the process within INTERRUPT_LIMIT_S.

    Prefect tries for minutes to report the end to a temporary server that got the same Ctrl-C. Leaving without that loses
    nothing: partitions are written whole, and replies are in the journal.
    """

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signal module passes them
        limit = threading.Timer(INTERRUPT_LIMIT_S, os._exit, [INTERRUPTED])
        limit.daemon = True  # the process need not wait for its limit
        limit.start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, leave)


def run_to_end(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run a command's work in an event loop of its own.

    Raises:
        KeyboardInterrupt: after SIGTERM too, which Prefect turns into an exception of its own.
    """
    from prefect.exceptions import TerminationSignal  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except TerminationSignal as ended:
        raise KeyboardInterrupt from ended


def moodflow_flow(name: str, run_name: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a flow. Flows are never retried: a new run finds every finished partition and is cheap."""
    from prefect import flow  # noqa: PLC0415

    return flow(name=name, flow_run_name=run_name, retries=0, on_completion=[_note], on_failure=[_note])


_OUTERMOST: ContextVar[Any] = ContextVar("outermost flow run", default=None)


async def begin_run(plan: Plan, *more: str) -> None:
    """Tag the flow run this is called in, unless it is the sub-flow of another, so that it is found by what it evaluates.

    Its tasks get no tag: the server looks a task's tags up in its concurrency limits, 30 to 85 ms each time.
    """
    from prefect.client.orchestration import get_client  # noqa: PLC0415
    from prefect.context import FlowRunContext  # noqa: PLC0415

    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is None or run.parent_task_run_id is not None:
        return
    _OUTERMOST.set(context)
    async with get_client() as client:
        await client.update_flow_run(run.id, tags=sorted({*run.tags, *plan.tags, *more}))


@contextmanager
def in_outermost_run() -> Iterator[None]:
    """Let artifacts, tasks and events of the block belong to the outermost flow run: nobody looks for them in a sub-flow."""
    from tasks.steps import ledger  # noqa: PLC0415

    context = _OUTERMOST.get()
    if context is None or context.flow_run.id in ledger.ended:
        yield
        return
    with context.model_copy():
        yield


def _note(flow: Any, flow_run: Any, state: Any) -> None:  # noqa: ARG001  the worker passes hooks their arguments by name
    from tasks.steps import ledger  # noqa: PLC0415

    ledger.flow_runs.add(flow_run.id)
    ledger.ended.append(flow_run.id)
    if flow_run.parent_task_run_id is not None:
        ledger.task_runs.add(flow_run.parent_task_run_id)  # a sub-flow is recorded as one task run of its parent


async def drain() -> bool:
    """Wait until the server has recorded every task run that ended here; a temporary server loses them at exit otherwise.

    Returns:
        False if it had not after DRAIN_LIMIT_S seconds.
    """
    from prefect.client.orchestration import get_client  # noqa: PLC0415

    from tasks.steps import ledger  # noqa: PLC0415

    wanted = {
        "flow_runs": {"id": {"any_": [str(run) for run in ledger.flow_runs]}},
        "task_runs": {"state": {"type": {"any_": _TERMINAL}}},
    }
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_LIMIT_S), get_client() as client:
            # The server announces nothing; asking is the only way.
            while (await client.request("POST", "/task_runs/count", json=wanted)).json() < len(ledger.task_runs):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            return True
    return False
