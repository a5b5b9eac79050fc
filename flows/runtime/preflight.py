"""Check a plan before anything is written: names, lake, cluster, endpoints."""

import resource
from collections.abc import Iterable, Iterator, Mapping

from flows.planning.jobs import ResolvedPlan, SelectedDataset
from flows.planning.resolve import embeds
from flows.runtime.clusters import require_runner
from flows.runtime.endpoints import check_endpoints, way_to
from flows.runtime.prefect_flows import log
from schemas.chat import ModelEntry
from schemas.errors import UsageError
from schemas.plan import Plan
from schemas.roles import JUDGES
from tasks.judging.executor import rating_tokens
from tasks.lake.local_state import network_disk
from tasks.models.capabilities.probe_records import recall
from tasks.retrieval.embedding import BUNDLED, UNREAD_CHINESE
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
    rated = all(gold.find(resolved.lake.find) for gold in resolved.golds)
    if not rated or not all((found := job.find(job.lake.find)) and found.is_complete for job in resolved.jobs):
        await check_endpoints(resolved.plan)
        return (*kept_here(resolved), *cut_short(resolved), *cut_in_thought(resolved), *unread_chinese(resolved))
    return tuple(kept_here(resolved))


def require_open_files(plan: Plan) -> None:
    """Raise the limit of open files to what the calls of a plan need; UsageError: the system does not allow as many."""
    needed = SPARE_FILES + sum({way_to(entry): entry.concurrency for entry in plan.entries}.values())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise UsageError(
            "too few files may be open at once",
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


def kept_here(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning with the local folder of what the lake's object store cannot hold, and one if other machines share it."""
    lake = resolved.lake
    if kind := network_disk(lake.state):
        yield (
            f"{lake.state} is on a network file system ({kind}): runs of two machines at once would damage the journal in it or "
            "pay for the same calls twice; keep to one machine, or name a lake on a disk of its own with --lake"
        )
    if lake.state != lake.root:
        yield (
            f"replies, embeddings and findings about models are kept on this machine, in {lake.state}; "
            "another machine pays for the same calls again, unless it takes replies in with moodflow journal import"
        )


def unread_chinese(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning if Chinese texts are ranked by an embedding model that does not know their characters."""
    chinese = [selected.spec.id for selected in resolved.selected if "zh" in selected.spec.languages and selected.spec.task]
    if embeds(resolved.plan) and resolved.plan.retrieval.embedder == BUNDLED and chinese:
        yield f"{listed(chinese)}: {UNREAD_CHINESE}"


def cut_short(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model whose replies are limited to less than what it is asked for takes."""
    plan = resolved.plan
    demands = {one.spec.id: _demanded_tokens(one) for one in resolved.selected if plan.contexts.length_demand}
    for entry in plan.models:
        limit = entry.sampling.max_tokens
        longer = {name: tokens for name, tokens in demands.items() if tokens > limit}
        if entry.base_url is not None and longer:
            yield (
                f"replies of {entry.name} end at {limit} tokens, and prompts of {listed([*longer])} demand more than "
                f"{max(longer.values())} each; --max-tokens 8192 gives them room, contexts.length_demand=false asks for no length"
            )
        yield from _too_long_for(entry, {one.spec.id: _answer_tokens(resolved, one) for one in resolved.selected}, "--max-tokens")
    for role in JUDGES:
        for entry in plan.named(role):
            rated = {one.spec.id: _rating_tokens(resolved, one) for one in resolved.selected if entry in plan.judges(one.spec.id)}
            yield from _too_long_for(entry, rated, f"{role}.sampling.max_tokens")


def cut_in_thought(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model that was seen to reason and whose limit may end its replies before they begin."""
    for entry in resolved.plan.entries:
        known = None if entry.base_url is None else recall(resolved.lake.state, entry)
        if known and known.reasoning_in and entry.sampling.max_tokens < TOKENS_TO_REASON:
            yield (
                f"{entry.name} reasons before it answers, and its replies end at {entry.sampling.max_tokens} tokens, reasoning "
                "included; raise --max-tokens, of a judge or another role ROLE.sampling.max_tokens, to 4000 or more"
            )


def _too_long_for(entry: ModelEntry, lengths: Mapping[str, int], option: str) -> Iterator[str]:
    """Yield a warning if replies about some datasets are longer than the limit of a served model."""
    longer = {name: tokens for name, tokens in lengths.items() if tokens > entry.sampling.max_tokens}
    if entry.base_url is not None and longer:
        named = listed([f"{name} ({tokens})" for name, tokens in longer.items()])
        yield f"replies of {entry.name} end at {entry.sampling.max_tokens} tokens, and more are wanted by {named}; raise {option}"


def _answer_tokens(resolved: ResolvedPlan, selected: SelectedDataset) -> int:
    """Return the length of an answer: what the embedded model is given for it."""
    if selected.spec.task is not None:
        return CONTEXT_SOLVERS[selected.spec.task].longest_reply(selected.spec.task)
    prompts = Prompts.load(resolved.blueprint.own_prompts).by_type
    return max((prompts[name].max_tokens for name in selected.spec.question_types if name in prompts), default=0)


def _demanded_tokens(selected: SelectedDataset) -> int:
    """Return what the prompts of a dataset ask a reply to be longer than."""
    task = selected.spec.task
    return CONTEXT_SOLVERS[task].demanded_tokens.get(task, 0) if task else 0


def _rating_tokens(resolved: ResolvedPlan, selected: SelectedDataset) -> int:
    rubric = resolved.rubric(selected.rubric) if selected.rubric else None
    return max((rating_tokens(rubric, asked) for asked in rubric.calls()), default=0) if rubric else 0
