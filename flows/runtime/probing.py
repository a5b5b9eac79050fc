"""Probe models for their API capabilities, before their first call."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from flows.planning.capabilities import quirks_for
from schemas.addresses import VERSION_PATH
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.provider import ModelProbe, Quirks
from schemas.vocabulary import FAILURES
from tasks.models.capabilities.probe import probe
from tasks.models.capabilities.probe_records import alone, recall, remember
from tasks.models.cost import Budget, BudgetAccount
from tasks.models.http.client import CallRetryPolicy, HttpChat
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.http.failures import RETRIES
from tasks.text.backoff import Retry

AT_ONCE = CallRetryPolicy(retries={failure: Retry(attempts=1) for failure in FAILURES})
"""No second attempt: a probe says what happens now."""

ONCE_LOADED = CallRetryPolicy(retries={**AT_ONCE.retries, "loading": RETRIES["loading"]})
"""For the probe before a run: a server that is still loading its model is waited for."""


async def ensure_probed(lake: Path, models: Iterable[ModelEntry], budget: Budget) -> bool:
    """Probe some of the models that `unprobed` names; say whether something was found, and remember it in a lake's state folder.

    A model that does not answer is left as it is: its calls then fail with a status of their own. A key that is missing or cannot
    be sent, and a base URL that lacks its path, is an EndpointError.
    """
    return any(await asyncio.gather(*(_probe_once(lake, entry, budget) for entry in models)))


async def _probe_once(lake: Path, entry: ModelEntry, budget: Budget) -> bool:
    async with alone(lake, entry):
        if recall(lake, entry) is not None:  # found by another run, while this one waited
            return True
        account = budget.account(entry, learns=False)  # its short replies are not like others
        url = entry.base_url or ""  # one that is to be probed has an address
        probe = await probe_model(entry, quirks_for(entry), url, account, ONCE_LOADED)
        if probe.answers:
            remember(lake, entry, probe)
        else:
            await _require_version_path(entry, probe.findings["answers"].evidence, account)
        return probe.answers


async def _require_version_path(entry: ModelEntry, error: str, account: BudgetAccount | None) -> None:
    """Refuse a base URL that answers with an error where the usual path below it answers."""
    address = str(entry.base_url).rstrip("/")
    below = f"{address}{VERSION_PATH}"
    if address.endswith(VERSION_PATH) or not error.startswith(("HTTP 2", "HTTP 3", "HTTP 4", "not ")):
        return
    if (await probe_model(entry, quirks_for(entry), below, account)).answers:
        raise EndpointError(
            f"the base URL of model {entry.name} is incomplete: {VERSION_PATH} is missing",
            where=f"base URL {entry.base_url}",
            expected=below,
            got=error,
            next_step=f"use {below}; moodflow models check {entry.name} --base-url {below} says what works there",
        )


async def probe_model(
    entry: ModelEntry,
    quirks: Quirks | None,
    base_url: str,
    budget: BudgetAccount | None = None,
    policy: CallRetryPolicy = AT_ONCE,
) -> ModelProbe:
    """Probe one model, by default without a second attempt; what its quirks make likely is tried first."""
    async with chat_for_probe(entry, base_url, policy, budget) as chat:
        return await probe(entry, chat, token_limit=(quirks or Quirks()).token_limit)


def chat_for_probe(
    entry: ModelEntry, base_url: str, policy: CallRetryPolicy = AT_ONCE, budget: BudgetAccount | None = None
) -> HttpChat:
    """Return a client that sends one call at a time and takes a reply from any model."""
    alone = entry.model_copy(update={"concurrency": 1, "require_same_model": False})
    return HttpChat(alone, base_url, resolve_keys(entry, os.environ), policy=policy, budget=budget)
