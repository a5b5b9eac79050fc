"""Prepare the models of a run: ask its canary, and probe those that were never probed."""

import asyncio
import os
from typing import NamedTuple

from flows.planning.capabilities import ensure_probed, unprobed, with_capabilities
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import require_asked, with_plan
from flows.planning.usage import open_budget
from flows.runtime.endpoints import check_endpoints
from flows.runtime.infer_jobs import stored_outcomes
from flows.runtime.prefect_flows import log
from flows.runtime.preflight import cut_in_thought, warn
from schemas.canary import CanaryFinding
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.plan import Plan
from schemas.roles import JUDGES
from tasks.lake.local_state import state_folder
from tasks.models.canary import compare_replies, conclude, draw_sample, epoch_identity, keep_record, read_record
from tasks.models.cost import Budget
from tasks.models.http.client import HttpChat
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.journal.table import JOURNAL
from tasks.solvers.forecast import is_answered


class Prepared(NamedTuple):
    """A plan with what was found about its models, what its canaries found, and what that left of its budget."""

    resolved: ResolvedPlan
    canaries: tuple[CanaryFinding, ...]
    budget: Budget


async def prepare_models(resolved: ResolvedPlan) -> Prepared:
    """Ask a sample of what the journal answers again, if the plan has a canary; then probe models that were never probed.

    Of a model that changed everything is asked again, if the plan says so. A model is probed before its first call that the
    journal does not answer: what it wants otherwise is remembered in the lake. If every partition is there, none is.

    Raises:
        UsageError: a setting does not ask such items as were built.
        EndpointError: a key is missing, or a base URL cannot be right.
    """
    require_asked(resolved)
    budget = open_budget(resolved.plan)
    canaries = await ask_canaries(resolved.stated, budget)
    if any(finding.anew for finding in canaries):
        resolved = with_plan(resolved, resolved.stated)
    if entries := await _to_probe(resolved):
        await check_endpoints(resolved.plan)
        if await ensure_probed(resolved.lake.state, entries, budget):
            resolved = with_plan(resolved, resolved.stated)
            warn(cut_in_thought(resolved))
    return Prepared(resolved, canaries, budget)


async def _to_probe(resolved: ResolvedPlan) -> list[ModelEntry]:
    """Return models of a plan to be probed before their first call: those of which something is left to ask.

    A model whose every question, asked as it would be now, is answered by the journal needs no probe. Who rates answers is always
    left, and so is one that is asked about what was retrieved: what these are asked is not known before.
    """
    entries = unprobed(resolved.stated)
    if not entries or stored_outcomes(resolved).is_complete:
        return []
    left = {_who(rater) for rater in resolved.stated.named(*JUDGES)}
    for job in resolved.jobs:
        infer = job.infer_job()
        if infer is None or resolved.lake.find(infer.keys.responses):
            continue
        asked = {_who(entry) for entry in infer.models.values()}
        # Who is probed already, or left anyway, need not be looked for among many replies.
        if asked - left & {_who(entry) for entry in entries} and (
            infer.contexts is not None or not await is_answered(infer, resolved.lake)
        ):
            left |= asked
    return [entry for entry in entries if _who(entry) in left]


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def ask_canaries(plan: Plan, budget: Budget) -> tuple[CanaryFinding, ...]:
    """Ask the canary sample of every model of a plan that has a server, say what was found, and remember it.

    The plan is as the user made it, its models without the identities of later epochs.
    """
    if not plan.canary:
        return ()
    entries = with_capabilities(plan).entries
    models = {(entry.identity, entry.name): entry for entry in entries if entry.base_url is not None}
    findings = await asyncio.gather(*(_ask_canary(entry, plan, budget) for entry in models.values()))
    for found in findings:
        log(found.message)
    return tuple(findings)


async def _ask_canary(entry: ModelEntry, plan: Plan, budget: Budget) -> CanaryFinding:
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
