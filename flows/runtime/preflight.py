"""Check a plan before anything is written: names, lake, cluster, endpoints."""

import resource
from collections.abc import Iterable, Iterator

from flows.planning.jobs import ResolvedPlan
from flows.runtime.clusters import require_runner
from flows.runtime.endpoints import check_endpoints
from flows.runtime.prefect_flows import log
from schemas.errors import UsageError
from schemas.plan import Plan

SPARE_FILES = 128
"""Of tables, the journal, Prefect and libraries; half of them are usual."""

DEMANDED_TOKENS = 3000
"""Of each stage of emotion expression; LongEmotion, its prompts."""


async def check_plan(resolved: ResolvedPlan) -> tuple[str, ...]:
    """Prove that the lake can be written and, if calls are left to make, that the endpoints can be right.

    Returns:
        Warnings to be logged before calls are paid for, by the caller that sends them, so that each is logged once.

    Raises:
        MoodflowError: the first thing that is wrong.
    """
    resolved.lake.require_writable()
    require_runner(resolved.plan)
    require_open_files(resolved.plan)
    if not all((found := job.find(job.lake.find)) and found.is_complete for job in resolved.jobs):
        await check_endpoints(resolved.plan)
        return (*kept_here(resolved), *cut_short(resolved))
    return tuple(kept_here(resolved))


def require_open_files(plan: Plan) -> None:
    """Raise the limit of open files to what the calls of a plan need.

    Raises:
        UsageError: the system does not allow as many.
    """
    needed = SPARE_FILES + sum({entry.base_url: entry.concurrency for entry in plan.entries}.values())
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
    """Yield a warning with the local folder of what the lake's object store cannot hold."""
    lake = resolved.lake
    if lake.state != lake.root:
        yield (
            f"replies, embeddings and findings about models are kept on this machine, in {lake.state}; "
            "another machine pays for the same calls again, unless it takes replies in with moodflow journal import"
        )


def cut_short(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning for each model whose replies are limited to less than emotion expression asks for."""
    # A user's own items may be of any type, and are no emotion expression for that.
    asked = any(selected.spec.question_types == ("emotion_expression",) for selected in resolved.selected)
    if not asked or not resolved.plan.contexts.length_demand:
        return
    for entry in resolved.plan.models:
        if entry.base_url is not None and entry.sampling.max_tokens < DEMANDED_TOKENS:
            yield (
                f"emotion expression asks for more than {DEMANDED_TOKENS} tokens per stage and replies of {entry.name} end at "
                f"{entry.sampling.max_tokens}; --max-tokens 8192 gives them room, contexts.length_demand=false asks for no length"
            )
