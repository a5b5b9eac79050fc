"""Everything that can be known to be wrong before anything is written."""

from collections.abc import Iterator

from flows.asking import stored
from flows.endpoints import check_endpoints
from flows.partitions import cells
from flows.resolution import Resolution, resolve
from flows.serving import say
from schemas.settings import Plan

DEMANDED_TOKENS = 3000
"""Of each stage of emotion expression; LongEmotion, its prompts."""


async def check_plan(plan: Plan) -> Resolution:
    """Look up names, prove that the lake can be written and, if calls are left to make, that the endpoints can be right.

    Raises:
        MoodflowError: the first thing that is wrong.
    """
    resolution = resolve(plan)
    resolution.lake.require_writable()
    if not all(stored(resolution, cell) for cell in cells(resolution)):
        await check_endpoints(resolution.plan)
        for warning in cut_short(resolution):
            say(warning)
    return resolution


def cut_short(resolution: Resolution) -> Iterator[str]:
    """A warning for each model whose replies are limited to less than emotion expression asks for."""
    asked = any("emotion_expression" in chosen.spec.question_types for chosen in resolution.chosen)
    if not asked or not resolution.plan.contexts.length_demand:
        return
    for entry in resolution.plan.models:
        if entry.base_url is not None and entry.sampling.max_tokens < DEMANDED_TOKENS:
            yield (
                f"emotion expression asks for more than {DEMANDED_TOKENS} tokens per stage and replies of {entry.name} end at "
                f"{entry.sampling.max_tokens}; --max-tokens 8192 gives them room, --no-length-demand asks for no length"
            )
