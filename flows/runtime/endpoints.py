"""Check and open the model servers of a run: one client and limiter per endpoint, one journal."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from flows.runtime.prefect_flows import log
from schemas.chat import ChatReply, KeepingChat, ModelEntry
from schemas.errors import EndpointError
from schemas.lineage import CallCounts
from schemas.plan import Plan
from tasks.interchange.replies import FileChat
from tasks.lake.lake import Lake
from tasks.models.batches.store import BatchStore
from tasks.models.batches.waves import WaveChat
from tasks.models.cost import Budget
from tasks.models.embedded.serving import RESTART_RETRY, InTurn, serve_embedded
from tasks.models.http.client import HOPELESS_AFTER_CALLS, WRONG_ADDRESS, CallRetryPolicy, HttpChat
from tasks.models.http.endpoint_check import check_endpoint, resolve_keys
from tasks.models.http.failures import FAILURE_KINDS, RETRIES
from tasks.models.http.worker_pool import WorkerPool
from tasks.models.journal.journal import Journal, JournaledChat
from tasks.models.journal.table import JOURNAL

ASKING = {"name", "identity", "sampling", "dialect", "token_probabilities", "about"}
"""Fields of an entry that say what and who is asked; models for which the others are equal share a client, made of these."""


@dataclass(frozen=True)
class Endpoint:
    """A model server as a stage uses it: its client, which counts calls, and the worker pool that begins them."""

    chat: JournaledChat
    pool: WorkerPool
    client: HttpChat | None
    """Null = the replies come from a file."""
    wave: WaveChat | None = None
    """Where the plan has calls go by batch: what notes them."""


class _Lines(NamedTuple):
    """What calls go through besides their client; `batches` is null where they go live, `file` answers entries of a file."""

    journal: Journal
    batches: BatchStore | None
    live_too: bool
    to_file: bool
    file: FileChat


async def check_endpoints(plan: Plan) -> None:
    """Raise EndpointError before any call if a key is missing or a base URL cannot be right; a file needs neither."""
    for entry in () if plan.requests_to else plan.entries:
        resolve_keys(entry, os.environ)
        await check_endpoint(entry)


@asynccontextmanager
async def open_endpoints(
    plan: Plan, lake: Lake, budget: Budget, replies: Mapping[str, ChatReply] | None = None
) -> AsyncIterator[Mapping[ModelEntry, Endpoint]]:
    """Open the endpoint of each model of a resolved plan; models that are called in the same way share it and its limits.

    The embedded server runs as long as this block does. `replies`: from a file, by key of the call.
    """
    async with AsyncExitStack() as stack:
        # The journal's thread gets its turn in the interpreter sooner: it needs three per batch, while calls hold their slots.
        # With Python's 5 ms a tenth fewer calls are answered at 256 in flight.
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(0.001)
        journal = await stack.enter_async_context(Journal(lake.state / JOURNAL))
        batches = stack.enter_context(BatchStore(lake.state / JOURNAL)) if plan.batch or plan.requests_to else None
        lines = _Lines(journal, batches, plan.live_too, plan.requests_to is not None, FileChat(replies or {}))
        opened: dict[tuple[Any, ...], Endpoint] = {}
        # Who shares a budget takes turns: its jobs are those of one pool.
        in_flight = sum(entry.concurrency for entry in plan.entries)
        shared = None if budget.limits == (None, None) else WorkerPool(in_flight, journal.folder, budget)
        for entry in plan.entries:
            if (way := way_to(entry)) not in opened:
                opened[way] = await _open(entry, lines, budget, shared, stack)
        yield {entry: opened[way_to(entry)] for entry in plan.entries}


def count_calls(endpoints: Mapping[ModelEntry, Endpoint]) -> CallCounts:
    """Return the calls of a run whose jobs have ended."""
    return sum((endpoint.chat.counts for endpoint in set(endpoints.values())), CallCounts())


def require_answer(endpoints: Mapping[ModelEntry, Endpoint], calls: CallCounts) -> None:
    """Raise EndpointError if none of the calls was answered, and no question is the cause: no server or key, a wrong address.

    The jobs of the run have ended, and none of them had its replies before.
    """
    breakers = {entry: endpoint.client.breakers.get(entry.name) for entry, endpoint in endpoints.items() if endpoint.client}
    ends = [(entry, breaker.hopeless) for entry, breaker in breakers.items() if breaker and breaker.last]
    entry, reply = next(iter(ends), (None, None))
    if entry is None or reply is None or calls.answered or calls.from_journal or not all(end for _, end in ends):
        return
    kind = FAILURE_KINDS[reply.failure or "connect"]
    wrong = f"check base_url, which mostly ends in /v1, and the name; moodflow models check {entry.name} tries both"
    raise EndpointError(
        f"the run stopped because no call was answered: {kind.meaning}",
        where=f"model {entry.name}, base URL {entry.base_url}",
        expected=f"an answer to one of the first {HOPELESS_AFTER_CALLS} calls",
        got=f"{reply.failure}: {reply.error}",
        next_step=wrong if reply.http_status in WRONG_ADDRESS else f"{kind.remedy}; then run the same command again",
    )


def way_to(entry: ModelEntry) -> tuple[Any, ...]:
    """Return where a model is called, and with which limits: models for which it is equal share an endpoint."""
    # The embedded server has limits of its own.
    return () if entry.base_url is None else tuple(entry.model_dump(exclude=ASKING).items())


async def _open(entry: ModelEntry, lines: _Lines, budget: Budget, pool: WorkerPool | None, stack: AsyncExitStack) -> Endpoint:
    account, client, wave = budget.account(entry), None, None
    if entry.is_file:
        sending: KeepingChat = lines.file
    elif entry.base_url is None:
        server = await stack.enter_async_context(serve_embedded(log))
        # What waits in its queue cannot be answered sooner, and a busy machine may need minutes for a long prompt.
        entry = entry.model_copy(update={"concurrency": server.size.slots, "timeout_s": 900.0})
        policy = CallRetryPolicy({**RETRIES, "connect": RESTART_RETRY})
        client = HttpChat(entry, server.base_url, policy=policy, budget=account)
        sending = InTurn(await stack.enter_async_context(client))
    else:
        if lines.to_file:  # keys are the other machine's matter
            entry = entry.model_copy(update={"api_key_env": None, "headers_env": (), "query_env": ()})
        client = HttpChat(entry, str(entry.base_url), resolve_keys(entry, os.environ), budget=account)
        sending = await stack.enter_async_context(client)
        if lines.batches:
            wave = WaveChat(sending, entry, lines.journal, lines.batches, account, to_file=lines.to_file)
            sending = wave
    chat = JournaledChat(sending, lines.journal, live_too=lines.live_too, in_passes=lines.batches is not None)
    pool = pool or WorkerPool(entry.concurrency, lines.journal.folder)
    return Endpoint(chat, await stack.enter_async_context(pool), client, wave)
