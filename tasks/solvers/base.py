"""Setting `base`: ask an item as it is, in one message with the prompt of its question type."""

from typing import NamedTuple

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.item import Item
from schemas.usage import TESTED, Role
from tasks.solvers.prompts import Prompts, build_messages, choose_sampling, choose_top_logprobs


class Call(NamedTuple):
    """One call and what became of it.

    `role`: who was asked, `tested` is the model under test. `step`: what for. `left_out_characters` of the item's context were
    not sent, 0 = it was sent whole.
    """

    request: ChatRequest
    reply: ChatReply
    role: Role = TESTED
    step: str = "answer"
    left_out_characters: int = 0


class UnsentCalls(list[ChatRequest]):
    """A client that sends nothing and keeps what it was asked, for forecasts."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Note a request."""
        self.append(request)
        return ChatReply(failure="budget", error="not sent: this is a forecast")


async def direct(item: Item, entry: ModelEntry, prompts: Prompts, chat: Chat, repetition: int = 0) -> Call:
    """Ask one item with one call.

    Args:
        item: what is asked.
        entry: the model under test.
        prompts: texts of all question types.
        chat: the client.
        repetition: number of the call among equal ones.
    """
    request = ChatRequest(
        model=entry.name,
        identity=entry.identity,
        messages=build_messages(item, prompts),
        sampling=choose_sampling(entry, item.question_type, prompts),
        repetition=repetition,
        top_logprobs=choose_top_logprobs(entry, item),
        capabilities=entry.dialect or DEFAULT_CAPABILITIES,
    )
    return Call(request, await chat(request))
