"""A model server whose every answer a test decides, over real HTTP."""

import json
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from tests.loopback import Handler, LoopbackServer

SCHEMA_REPLY = '{"count_of_weekdays": 7}'


class Answer(NamedTuple):
    status: int
    document: Any
    """As JSON; bytes as they are."""
    delay_s: float = 0.0
    headers: Mapping[str, str] = MappingProxyType({})


Script = Callable[[dict[str, Any], str], Answer]
"""From the body of a call and its Authorization header to the answer."""


def completed(body: dict[str, Any], text: str | None = SCHEMA_REPLY, **changes: Any) -> Answer:
    """A chat completion that gives what the call asks for; `changes`: fields of message, choice or document, None = left out."""
    first = {"token": (text or "")[:1], "logprob": -0.5}
    asked = [{**first, "top_logprobs": [first, {"token": "7", "logprob": -2.0}]}]
    logprobs = {"content": asked} if body.get("logprobs") else None
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
    choices: list[dict[str, Any]] = [
        {"delta": {**message, "content": text[: len(text) // 2]}, "finish_reason": None},
        {"delta": {"content": text[len(text) // 2 :]}, "finish_reason": None, "logprobs": choice.get("logprobs")},
        {"delta": {}, "finish_reason": choice["finish_reason"]},
    ]
    chunks = [{**named, "choices": [{"index": 0, **one}]} for one in choices]
    chunks += [{**named, "choices": [], "usage": answer.document["usage"]}] if usage else []
    body = "".join(f"data: {json.dumps(part)}\n\n" for part in chunks)
    headers = {"Content-Type": "text/event-stream"}
    return Answer(200, f": keep-alive\n\n{body}data: [DONE]\n\n".encode(), headers=headers)


def refused(message: str, status: int = 400) -> Answer:
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
    handler = _Handler

    def __init__(self, script: Script) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []


Wording = Callable[[int, int], str]
"""The refusal of a prompt, from its tokens and the longest context."""


def stated(tokens: int, limit: int) -> str:
    return f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it"


def unstated(_tokens: int, _limit: int) -> str:
    return "the request exceeds the available context size, try increasing it"


class SmallContext(ProbedServer):
    """The answer is always "B"; a prompt of more words than `limit` is refused."""

    def __init__(self, limit: int, wording: Wording = stated) -> None:
        def answer(body: dict[str, Any], _: str) -> Answer:
            self.prompts.append(body["messages"][-1]["content"])
            tokens = len(self.prompts[-1].split())
            usage = {"prompt_tokens": tokens, "completion_tokens": 1}
            return refused(wording(tokens, limit)) if tokens > limit else completed(body, "B", usage=usage)

        super().__init__(answer)
        self.prompts: list[str] = []


Side = Literal["front", "middle", "end"]


class CuttingContext(ProbedServer):
    """Reads no more than `window` words of a prompt, and answers, to these words, as if they were all of it."""

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
