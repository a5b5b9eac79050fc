"""A call of a solver and what became of it; calls that are only noted."""

from typing import NamedTuple

from schemas.chat import ChatReply, ChatRequest
from schemas.usage import TESTED, Role


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


UNSENT = ChatReply(failure="budget", error="not sent: this is a forecast")


class UnsentCalls(list[ChatRequest]):
    """A client that sends nothing and keeps what it was asked, for forecasts."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Note a request."""
        self.append(request)
        return UNSENT
