"""Everything that can be known to be wrong before anything is written."""

from collections.abc import Iterable, Iterator

from flows.planning.jobs import eval_jobs
from flows.planning.resolve import ResolvedPlan, resolve
from flows.runtime.asking import find_stored
from flows.runtime.clusters import require_runner
from flows.runtime.endpoints import check_endpoints
from flows.runtime.server_session import say
from schemas.plan import Plan

DEMANDED_TOKENS = 3000
"""Of each stage of emotion expression; LongEmotion, its prompts."""


async def check_plan(plan: Plan) -> tuple[str, ...]:
    """Look up names, prove that the lake can be written and, if calls are left to make, that the endpoints can be right.

    Returns:
        What is not wrong, but to be told before calls are paid for. Who asks the models says it, so that it is said once.

    Raises:
        MoodflowError: the first thing that is wrong.
    """
    resolution = resolve(plan)
    resolution.lake.require_writable()
    require_runner(plan)
    if not all(find_stored(resolution, cell) for cell in eval_jobs(resolution)):
        await check_endpoints(resolution.plan)
        return (*kept_here(resolution), *cut_short(resolution))
    return tuple(kept_here(resolution))


def warn(warnings: Iterable[str]) -> None:
    """Tell the user what check_plan found, each warning once."""
    for warning in dict.fromkeys(warnings):
        say(warning)


def kept_here(resolution: ResolvedPlan) -> Iterator[str]:
    """Where on this machine is what the lake's object store cannot hold."""
    lake = resolution.lake
    if lake.state != lake.root:
        yield (
            f"replies, embeddings and findings about models are kept on this machine, in {lake.state}; "
            "another machine pays for the same calls again, unless it takes replies in with moodflow journal import"
        )


def cut_short(resolution: ResolvedPlan) -> Iterator[str]:
    """A warning for each model whose replies are limited to less than emotion expression asks for."""
    asked = any("emotion_expression" in chosen.spec.question_types for chosen in resolution.selected)
    if not asked or not resolution.plan.contexts.length_demand:
        return
    for entry in resolution.plan.models:
        if entry.base_url is not None and entry.sampling.max_tokens < DEMANDED_TOKENS:
            yield (
                f"emotion expression asks for more than {DEMANDED_TOKENS} tokens per stage and replies of {entry.name} end at "
                f"{entry.sampling.max_tokens}; --max-tokens 8192 gives them room, contexts.length_demand=false asks for no length"
            )
