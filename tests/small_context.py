"""A model server with a small context: it counts words as tokens and refuses longer prompts, over real HTTP."""

from collections.abc import Callable
from typing import Any

from tests.probed_server import Answer, ProbedServer

Wording = Callable[[int, int], str]
"""The refusal of a prompt, from its tokens and the longest context."""


def stated(tokens: int, limit: int) -> str:
    """Both numbers, as llama.cpp words it."""
    return f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it"


def unstated(_tokens: int, _limit: int) -> str:
    """No number."""
    return "the request exceeds the available context size, try increasing it"


class SmallContext(ProbedServer):
    """The answer is always "B".

    Args:
        limit: longest prompt in words.
        wording: of the refusal.
    """

    def __init__(self, limit: int, wording: Wording = stated) -> None:
        super().__init__(self._answer)
        self.limit = limit
        self.wording = wording
        self.prompts: list[str] = []

    def _answer(self, body: dict[str, Any], _: str) -> Answer:
        prompt = body["messages"][-1]["content"]
        self.prompts.append(prompt)
        tokens = len(prompt.split())
        if tokens > self.limit:
            message = self.wording(tokens, self.limit)
            return Answer(400, {"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}
        return Answer(200, {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}})
