"""A model server whose every answer a test decides, over real HTTP.

with ProbedServer(refusing("temperature")) as server:
    ...  # server.base_url, server.bodies
"""

import json
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from tests.loopback import Handler, LoopbackServer

SCHEMA_REPLY = '{"count_of_weekdays": 7}'


class Answer(NamedTuple):
    """What the server sends: a status, a JSON document (or bytes as they are), how long it thinks before, further headers."""

    status: int
    document: Any
    delay_s: float = 0.0
    headers: Mapping[str, str] = MappingProxyType({})


Script = Callable[[dict[str, Any], str], Answer]
"""From the body of a call and its Authorization header to the answer."""


def completed(body: dict[str, Any], text: str | None = SCHEMA_REPLY, **changes: Any) -> Answer:
    """A chat completion that gives what the call asks for.

    Args:
        body: of the call.
        text: content of the message.
        changes: fields of the message (`reasoning_content`, `reasoning`), of the choice (`finish_reason`, `logprobs`) or of the
            document (`model`, `usage`), instead of the usual ones; None leaves a field out.
    """
    first = {"token": (text or "")[:1], "logprob": -0.5}
    logprobs = (
        {"content": [{**first, "top_logprobs": [first, {"token": "7", "logprob": -2.0}]}]} if body.get("logprobs") else None
    )
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "logprobs": logprobs, "message": message}
    document = {"model": body["model"], "choices": [choice], "usage": {"prompt_tokens": 14, "completion_tokens": 9}}
    for name, value in changes.items():
        place = next((part for part in (document, choice) if name in part), message)
        place[name] = value
        if value is None:
            del place[name]
    return Answer(200, document)


def streamed(answer: Answer, *, usage: bool = True) -> Answer:
    """The same completion as an event stream, its text in two parts."""
    (choice,) = answer.document["choices"]
    message, text = dict(choice["message"]), choice["message"].pop("content") or ""
    named = {"object": "chat.completion.chunk", "model": answer.document["model"]}
    deltas = [{**message, "content": text[: len(text) // 2]}, {"content": text[len(text) // 2 :]}, {}]
    chunks: list[dict[str, Any]] = [
        {**named, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks[1]["choices"][0]["logprobs"] = choice.get("logprobs")
    chunks[2]["choices"][0]["finish_reason"] = choice["finish_reason"]
    chunks += [{**named, "choices": [], "usage": answer.document["usage"]}] if usage else []
    body = "".join(f"data: {json.dumps(part)}\n\n" for part in chunks)
    headers = {"Content-Type": "text/event-stream"}
    return Answer(200, f": keep-alive\n\n{body}data: [DONE]\n\n".encode(), headers=headers)


def refused(message: str, status: int = 400) -> Answer:
    """An error in the usual form."""
    return Answer(status, {"error": {"message": message, "type": "invalid_request_error"}})


def refusing(*names: str, message: str = "Unsupported parameter: '{}' is not supported with this model.") -> Script:
    """Refuses calls that have one of these parameters, naming the first."""

    def script(body: dict[str, Any], _: str) -> Answer:
        found = [name for name in names if name in body]
        return refused(message.format(found[0])) if found else completed(body)

    return script


class _Handler(Handler):
    def answer(self, body: dict[str, Any]) -> None:
        owner: ProbedServer = self.server.owner
        owner.bodies.append(body)
        owner.paths.append(self.path)
        owner.headers.append(dict(self.headers))
        answer = owner.script(body, self.headers.get("Authorization", ""))
        time.sleep(answer.delay_s)
        document = answer.document if isinstance(answer.document, bytes) else json.dumps(answer.document).encode()
        self.send_body(answer.status, document, answer.headers)


class ProbedServer(LoopbackServer):
    """A server that answers as its script says."""

    handler = _Handler

    def __init__(self, script: Script) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []


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
        return completed(body, "B", usage={"prompt_tokens": tokens, "completion_tokens": 1})


Side = Literal["front", "middle", "end"]


class CuttingContext(ProbedServer):
    """Reads as much of a prompt as it has room for, a token a word, and answers "B" as if that were all of it.

    Args:
        window: most words that are read of a prompt.
        side: where the others are left out.
        usage: whether it says how many it read.
        reply: what it answers, to the words that it read.
    """

    def __init__(
        self, window: int, side: Side = "front", *, usage: bool = True, reply: Callable[[list[str]], str] = lambda _: "B"
    ) -> None:
        super().__init__(self._answer)
        self.window = window
        self.side = side
        self.usage = usage
        self.reply = reply

    def _answer(self, body: dict[str, Any], _: str) -> Answer:
        words = " ".join(message["content"] for message in body["messages"]).split()
        surplus = len(words) - self.window
        if surplus > 0:
            begin = {"front": 0, "middle": self.window // 2, "end": self.window}[self.side]
            words = words[:begin] + words[begin + surplus :]
        usage = {"prompt_tokens": len(words), "completion_tokens": 1} if self.usage else None
        return completed(body, self.reply(words), usage=usage)
