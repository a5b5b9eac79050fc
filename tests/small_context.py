"""A model server with a small context: it counts words as tokens and refuses longer prompts, over real HTTP."""

import json
from collections.abc import Callable
from typing import Any

from tests.loopback import Handler, LoopbackServer

Wording = Callable[[int, int], str]
"""The refusal of a prompt, from its tokens and the longest context."""


def stated(tokens: int, limit: int) -> str:
    """Both numbers, as llama.cpp words it."""
    return f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it"


def unstated(_tokens: int, _limit: int) -> str:
    """No number."""
    return "the request exceeds the available context size, try increasing it"


class _Handler(Handler):
    def answer(self, body: dict[str, Any]) -> None:
        owner: SmallContext = self.server.owner
        prompt = body["messages"][-1]["content"]
        owner.prompts.append(prompt)
        tokens = len(prompt.split())
        if tokens > owner.limit:
            error = {"code": 400, "message": owner.wording(tokens, owner.limit), "type": "exceed_context_size_error"}
            self._send(400, {"error": error})
        else:
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}
            self._send(200, {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}})

    def _send(self, status: int, document: Any) -> None:
        self.send_body(status, json.dumps(document).encode())


class SmallContext(LoopbackServer):
    """The answer is always "B".

    Args:
        limit: longest prompt in words.
        wording: of the refusal.
    """

    handler = _Handler

    def __init__(self, limit: int, wording: Wording = stated) -> None:
        self.limit = limit
        self.wording = wording
        self.prompts: list[str] = []
