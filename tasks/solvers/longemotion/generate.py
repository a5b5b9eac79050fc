"""One call of a model in a role."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.chat import ChatMessage, ChatRequest
from tasks.solvers.base import Call
from tasks.solvers.longemotion.context import RoleModel

Helper = Literal["sage", "critic"]


def say(system: str, *blocks: str) -> tuple[ChatMessage, ...]:
    """A system message and a user message; a blank line stands between its blocks."""
    return (ChatMessage(role="system", content=system), ChatMessage(role="user", content="\n\n".join(blocks)))


async def ask(player: RoleModel, messages: Sequence[ChatMessage], limit: int, repetition: int = 0) -> Call:
    """Ask a model.

    Args:
        player: the model in its role.
        messages: the conversation.
        limit: longest reply of the embedded model, which rambles on; any other model has the limit of its entry.
        repetition: number of the call among equal ones. Helpers do not count the item's, so that what they say is asked for once.
    """
    entry = player.entry
    sampling = entry.sampling
    if entry.base_url is None:
        sampling = sampling.model_copy(update={"max_tokens": min(limit, sampling.max_tokens)})
    request = ChatRequest(
        model=entry.name,
        identity=entry.identity,
        messages=tuple(messages),
        sampling=sampling,
        repetition=repetition,
        capabilities=entry.dialect or DEFAULT_CAPABILITIES,
    )
    return Call(request, await player.chat(request))


def blame(call: Call, helper: Helper) -> Call:
    """A helper's failed call as the last of a transcript: its error says whose it is."""
    error = f"{helper}: {call.reply.error or call.reply.failure}"
    return call._replace(reply=replace(call.reply, error=error), of_helper=True)


def first_failed(calls: Sequence[Call]) -> Call | None:
    """The first call that failed; null if all were answered."""
    return next((call for call in calls if call.reply.failure is not None), None)
