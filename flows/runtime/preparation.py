"""Prepare a run: check its plan, warn of limits that are too low, ask its canary, and probe models that were never probed."""

import asyncio
import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from flows.planning.capabilities import unprobed, with_capabilities
from flows.planning.checks import kept_here, require_certificates
from flows.planning.jobs import ResolvedPlan, SelectedDataset
from flows.planning.resolve import embeds, require_asked, with_plan
from flows.planning.stored import stored_outcomes
from flows.planning.usage import open_budget
from flows.runtime.clusters import require_runner
from flows.runtime.endpoints import check_endpoints, way_to
from flows.runtime.prefect_flows import log
from flows.runtime.probing import ensure_probed
from schemas.canary import CanaryFinding
from schemas.chat import ModelEntry
from schemas.errors import EndpointError, UsageError
from schemas.plan import Plan
from schemas.roles import JUDGES
from tasks.judging.executor import rating_tokens
from tasks.lake.local_state import state_folder
from tasks.models.canary import compare_replies, conclude, draw_sample, epoch_identity, keep_record, read_record
from tasks.models.capabilities.probe_records import recall
from tasks.models.cost import Budget
from tasks.models.http.client import HttpChat
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.journal.table import JOURNAL
from tasks.retrieval.embedding import BUNDLED, UNREAD_CHINESE
from tasks.solvers.forecast import is_answered
from tasks.solvers.plain import CONTEXT_SOLVERS
from tasks.solvers.prompts import Prompts
from tasks.text.number_format import listed

SPARE_FILES = 128
"""Of tables, the journal, Prefect and libraries; half of them are usual."""

TOKENS_TO_REASON = 2048
"""With fewer, models that reason have often not begun to answer."""


async def check_plan(resolved: ResolvedPlan) -> tuple[str, ...]:
    """Prove that the lake can be written and, if calls are left to make, that the endpoints can be right.

    Returned are warnings, for the caller that sends the calls to log before they are paid for, so that each is logged once.
    """
    resolved.lake.require_writable()
    require_runner(resolved.plan)
    require_open_files(resolved.plan)
    if stored_outcomes(resolved).is_complete:
        return tuple(kept_here(resolved))
    await check_endpoints(resolved.plan)
    warnings = (kept_here, made_at_once, cut_short, cut_in_thought, unread_chinese)
    return tuple(chain.from_iterable(warns(resolved) for warns in warnings))


def require_open_files(plan: Plan) -> None:
    """Raise the limit of open files to what the calls of a plan need; UsageError: the system does not allow as many."""
    needed = SPARE_FILES + sum({way_to(entry): entry.concurrency for entry in plan.entries}.values())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise UsageError(
            "the limit of open files is too low",
            where="ulimit -n",
            expected=f"at least {needed}: one per call in flight, and {SPARE_FILES} others",
            got=str(hard),
            next_step=f"ulimit -n {needed}, or lower --concurrency",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def warn(warnings: Iterable[str]) -> None:
    """Log what check_plan found, each warning once."""
    for warning in dict.fromkeys(warnings):
        log(warning)


def made_at_once(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model that answers on this machine although the plan hands calls over."""
    for entry in resolved.plan.entries if resolved.plan.batch or resolved.plan.requests_to else ():
        if entry.base_url is None:
            yield f"{entry.name} answers on this machine, so its calls are made at once and are in no batch or file"


def unread_chinese(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning if Chinese texts are ranked by an embedding model that does not know their characters."""
    chinese = [selected.spec.id for selected in resolved.selected if "zh" in selected.spec.languages and selected.spec.task]
    if embeds(resolved.plan) and resolved.plan.retrieval.embedder == BUNDLED and chinese:
        yield f"{listed(chinese)}: {UNREAD_CHINESE}"


def cut_short(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model whose replies are limited to less than what it is asked for takes."""
    plan = resolved.plan
    tasks = {dataset.spec.id: dataset.spec.task for dataset in resolved.selected if plan.contexts.length_demand}
    demands = {name: CONTEXT_SOLVERS[task].demanded_tokens.get(task, 0) for name, task in tasks.items() if task}
    answers = {dataset.spec.id: _answer_tokens(resolved, dataset) for dataset in resolved.selected}
    for entry in plan.models:
        limit = entry.sampling.max_tokens
        longer = {name: tokens for name, tokens in demands.items() if tokens > limit}
        if entry.base_url is not None and not entry.is_file and longer:
            yield (
                f"replies of {entry.name} end at {limit} tokens, and prompts of {listed([*longer])} demand more than "
                f"{max(longer.values())} each; --max-tokens 8192 gives them room, contexts.length_demand=false asks for no length"
            )
        yield from _too_long_for(entry, answers, "--max-tokens")
    for role in JUDGES:
        for entry in plan.named(role):
            rated = {
                dataset.spec.id: _rating_tokens(resolved, dataset)
                for dataset in resolved.selected
                if entry in plan.judges(dataset.spec.id)
            }
            yield from _too_long_for(entry, rated, f"{role}.sampling.max_tokens")


def cut_in_thought(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model that was seen to reason and whose limit may end its replies before they begin."""
    for entry in resolved.plan.entries:
        probe = None if entry.base_url is None else recall(resolved.lake.state, entry)
        if probe and probe.reasoning_in and entry.sampling.max_tokens < TOKENS_TO_REASON:
            yield (
                f"{entry.name} reasons before it answers, and its replies end at {entry.sampling.max_tokens} tokens, reasoning "
                "included; raise --max-tokens, of a judge or another role ROLE.sampling.max_tokens, to 4000 or more"
            )


def _too_long_for(entry: ModelEntry, lengths: Mapping[str, int], option: str) -> Iterator[str]:
    """Yield a warning if replies about some datasets are longer than the limit of a served model."""
    longer = {name: tokens for name, tokens in lengths.items() if tokens > entry.sampling.max_tokens}
    if entry.base_url is not None and not entry.is_file and longer:
        demands = listed([f"{name} ({tokens})" for name, tokens in longer.items()])
        limit = entry.sampling.max_tokens
        yield f"replies of {entry.name} are limited to {limit} tokens, but more are needed for {demands}; raise {option}"


def _answer_tokens(resolved: ResolvedPlan, selected: SelectedDataset) -> int:
    """Return the length of an answer: what the embedded model is given for it."""
    if selected.spec.task is not None:
        return CONTEXT_SOLVERS[selected.spec.task].longest_reply(selected.spec.task, resolved.blueprint.own_prompts)
    prompts = Prompts.load(resolved.blueprint.own_prompts).by_type
    return max((prompts[name].max_tokens for name in selected.spec.question_types if name in prompts), default=0)


def _rating_tokens(resolved: ResolvedPlan, selected: SelectedDataset) -> int:
    rubric = resolved.rubric(selected.rubric) if selected.rubric else None
    return max((rating_tokens(rubric, call) for call in rubric.calls()), default=0) if rubric else 0


async def prepare_models(resolved: ResolvedPlan) -> tuple[ResolvedPlan, tuple[CanaryFinding, ...], Budget]:
    """Ask a sample of what the journal answers again, if the plan has a canary; then probe models that were never probed.

    Returned are the plan with what was found about its models, what its canaries found, and what that left of its budget.
    Of a model that changed everything is asked again, if the plan says so. A model is probed before its first call that the
    journal does not answer: what it wants otherwise is remembered in the lake. If every partition is there, none is.

    Raises:
        UsageError: a setting does not ask such items as were built, or a judge lacks the certificate that the plan requires.
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
    require_certificates(resolved)
    return resolved, canaries, budget


async def _to_probe(resolved: ResolvedPlan) -> list[ModelEntry]:
    """Return models of a plan to be probed before their first call: those of which something is left to ask.

    A model whose every question, asked as it would be now, is answered by the journal needs no probe. Who rates answers is always
    left, and so is one that is asked about what was retrieved: what these are asked is not known before. Calls that go to a file
    are for a server that need not be reached from here.
    """
    entries = unprobed(resolved.stated)
    if not entries or resolved.plan.requests_to or stored_outcomes(resolved).is_complete:
        return []
    left = {_who(rater) for rater in resolved.stated.named(*JUDGES)}
    for job in resolved.jobs:
        infer = job.infer_job()
        if infer is None or resolved.lake.find(infer.keys.responses):
            continue
        tested = {_who(entry) for entry in infer.models.values()}
        # Who is probed already, or left anyway, need not be looked for among many replies.
        if tested - left & {_who(entry) for entry in entries} and (
            infer.contexts is not None or not await is_answered(infer, resolved.lake)
        ):
            left |= tested
    return [entry for entry in entries if _who(entry) in left]


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def ask_canaries(plan: Plan, budget: Budget) -> tuple[CanaryFinding, ...]:
    """Ask the canary sample of every model of a plan that has a server, say what was found, and remember it.

    The plan is as the user made it, its models without the identities of later epochs.
    """
    if not plan.canary or plan.requests_to:
        return ()
    entries = with_capabilities(plan).entries
    models = {(entry.identity, entry.name): entry for entry in entries if entry.base_url and not entry.is_file}
    findings = await asyncio.gather(*(_ask_canary(entry, plan, budget) for entry in models.values()))
    for finding in findings:
        log(finding.message)
    return tuple(findings)


async def _ask_canary(entry: ModelEntry, plan: Plan, budget: Budget) -> CanaryFinding:
    state = state_folder(plan.lake)
    record = read_record(state, entry.identity, entry.name)
    epoch = record.epoch if plan.ask_changed else 1
    of_epoch = entry.model_copy(update={"identity": epoch_identity(entry.identity, epoch)})
    before = record if epoch == 1 else read_record(state, of_epoch.identity, entry.name)
    sample = draw_sample(state, of_epoch.identity, entry.name, plan.canary or 0, before.last)
    nothing = conclude(of_epoch, before).model_copy(update={"epoch": epoch})
    if not sample.rows:
        return nothing
    try:
        keys, account = resolve_keys(entry, os.environ), budget.account(entry, learns=False)
        async with HttpChat(of_epoch, str(entry.base_url), keys, budget=account) as chat:
            finding = await compare_replies(of_epoch, sample, before, chat, state / JOURNAL)
    except EndpointError as error:
        return nothing.model_copy(update={"error": error.what})
    keep_record(state, finding.record)
    if not finding.changed or not plan.ask_changed:
        return finding.model_copy(update={"epoch": epoch})
    keep_record(state, read_record(state, entry.identity, entry.name).model_copy(update={"epoch": epoch + 1}))
    return finding.model_copy(update={"epoch": epoch + 1, "anew": True})
