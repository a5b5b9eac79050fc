"""The model servers of a run: keys resolved, reachability checked, one client and limiter per endpoint, one journal."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from schemas.chat import ModelEntry
from schemas.settings import Plan
from tasks.inference.client import HttpChat
from tasks.inference.embedded import SLOTS, serve_embedded
from tasks.inference.journal import Journal, JournaledChat
from tasks.inference.preflight import check_endpoint, resolve_api_key
from tasks.lineage.lake import Lake

EMBEDDED_LIMITS = {"concurrency": SLOTS, "timeout_s": 900.0}
"""What waits in the embedded server's queue cannot be answered sooner, and a busy machine may need minutes for a long prompt."""


def entries(plan: Plan) -> tuple[ModelEntry, ...]:
    """Models under test and the judge, each once."""
    named = [*plan.models, *([plan.judge] if plan.judge else [])]
    return tuple(dict.fromkeys(named))


async def check_endpoints(plan: Plan, environ: Mapping[str, str] | None = None) -> None:
    """Fail early if a key is missing or a base URL cannot be right.

    Raises:
        EndpointError: naming the model, its URL or its variable.
    """
    for entry in entries(plan):
        resolve_api_key(entry, os.environ if environ is None else environ)
        await check_endpoint(entry)


@asynccontextmanager
async def open_chats(plan: Plan, lake: Lake) -> AsyncIterator[Mapping[ModelEntry, JournaledChat]]:
    """The client of each model; models of one endpoint share it, its limits and its connections.

    The embedded server runs as long as this block does.
    """
    async with AsyncExitStack() as stack:
        journal = await stack.enter_async_context(Journal(lake.root / "journal" / "replies.sqlite"))
        chats: dict[tuple[str | None, str | None], JournaledChat] = {}
        for entry in entries(plan):
            endpoint = (entry.base_url, entry.api_key_env)
            if endpoint not in chats:
                if entry.base_url is None:
                    server = await stack.enter_async_context(serve_embedded())
                    client = HttpChat(entry.model_copy(update=EMBEDDED_LIMITS), server.base_url)
                else:
                    client = HttpChat(entry, entry.base_url, resolve_api_key(entry, os.environ))
                chats[endpoint] = JournaledChat(await stack.enter_async_context(client), journal)
        yield {entry: chats[entry.base_url, entry.api_key_env] for entry in entries(plan)}
