"""Prepare the models of a run: ask its canary, and probe those that were never probed."""

from typing import NamedTuple

from flows.planning.capabilities import ensure_probed, unprobed
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import require_asked, with_plan
from flows.planning.usage import open_budget
from flows.runtime.canary import ask_canaries
from flows.runtime.endpoints import check_endpoints
from flows.runtime.infer_jobs import stored_outcomes
from flows.runtime.preflight import cut_in_thought, warn
from schemas.canary import CanaryFinding
from schemas.chat import ModelEntry
from schemas.roles import JUDGES
from tasks.models.cost.budget import BudgetUse
from tasks.solvers.forecast import is_answered


class Prepared(NamedTuple):
    """A plan with what was found about its models, what its canaries found, and what that used of its budget."""

    resolved: ResolvedPlan
    canaries: tuple[CanaryFinding, ...]
    used: BudgetUse


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
    return Prepared(resolved, canaries, BudgetUse(budget.used_tokens, budget.used_cost))


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
