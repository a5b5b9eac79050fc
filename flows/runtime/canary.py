"""Ask a sample of journaled calls anew before a run rests on them."""

import asyncio
import os

from flows.planning.capabilities import with_capabilities
from flows.runtime.prefect_flows import log
from schemas.canary import CanaryFinding
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.plan import Plan
from tasks.lake.local_state import state_folder
from tasks.models.canary import compare_replies, conclude, draw_sample, epoch_identity, keep_record, read_record
from tasks.models.cost.budget import Budget
from tasks.models.http.client import HttpChat
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.journal.table import JOURNAL


async def ask_canaries(plan: Plan, budget: Budget) -> tuple[CanaryFinding, ...]:
    """Ask the canary sample of every model of a plan that has a server, say what was found, and remember it.

    The plan is as the user made it, its models without the identities of later epochs.
    """
    if not plan.canary:
        return ()
    entries = with_capabilities(plan).entries
    models = {(entry.identity, entry.name): entry for entry in entries if entry.base_url is not None}
    findings = await asyncio.gather(*(_ask(entry, plan, budget) for entry in models.values()))
    for found in findings:
        log(found.message)
    return tuple(findings)


async def _ask(entry: ModelEntry, plan: Plan, budget: Budget) -> CanaryFinding:
    state = state_folder(plan.lake)
    known = read_record(state, entry.identity, entry.name)
    epoch = known.epoch if plan.ask_changed else 1
    asked = entry.model_copy(update={"identity": epoch_identity(entry.identity, epoch)})
    before = known if epoch == 1 else read_record(state, asked.identity, entry.name)
    sample = draw_sample(state, asked.identity, entry.name, plan.canary or 0, before.last)
    nothing = conclude(asked, before).model_copy(update={"epoch": epoch})
    if not sample.rows:
        return nothing
    try:
        keys, account = resolve_keys(entry, os.environ), budget.account(entry, learns=False)
        async with HttpChat(asked, str(entry.base_url), keys, budget=account) as chat:
            found = await compare_replies(asked, sample, before, chat, state / JOURNAL)
    except EndpointError as error:
        return nothing.model_copy(update={"error": error.what})
    keep_record(state, found.record)
    if not found.changed or not plan.ask_changed:
        return found.model_copy(update={"epoch": epoch})
    keep_record(state, read_record(state, entry.identity, entry.name).model_copy(update={"epoch": epoch + 1}))
    return found.model_copy(update={"epoch": epoch + 1, "anew": True})
