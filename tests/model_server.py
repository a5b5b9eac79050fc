"""A scriptable OpenAI-compatible model server for tests: the only mock of the project, and it speaks real HTTP.

    with ModelServer(lambda messages: "B") as server:
        ...  # server.base_url, server.calls, server.repeated

`fault(n)` names what to do with the n-th call (0-based) instead of answering:

* `close`: the connection ends before an answer begins; `truncated`: in the middle of it.
* `429` (with `Retry-After`), `echo`: a 401 that repeats the key it got.
* `401`, `402`, `403`, `404`, `500`, `context_too_long`, `content_filter`: an error in the usual form.
* `not_json`, `no_choices`, `null_content`, `length`: a 200 without an answer.
* `wrong_model`: an answer that names another model.
* `slow`: no answer for SLOW_S seconds; `drip`: one byte now and then, for as long; `late`: the right answer after LATE_S seconds.

A call with the question of `tasks.models.capabilities.probe` is answered, is no part of the count and never fails. Certificates
that are not trusted are provoked with `tls`. No server can provoke a connection that is not accepted in time.
"""

import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from tasks.models.capabilities.probe import QUESTION
from tasks.models.long_prompts import TASK
from tests.loopback import Handler, LoopbackServer

Fault = Literal[
    "close", "429", "500", "401", "402", "403", "404", "echo", "truncated", "not_json", "no_choices", "null_content", "slow",
    "drip", "context_too_long", "content_filter", "length", "wrong_model", "late",
]  # fmt: skip
Reply = Callable[[list[dict[str, str]]], str]


def _error(message: str, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


FIXED: dict[Fault, tuple[int, bytes]] = {
    "500": (500, _error("out of order")),
    "401": (401, _error("unknown key")),
    "402": (402, _error("Insufficient Balance")),
    "403": (403, _error("not your model")),
    "404": (404, _error("no such model")),
    "context_too_long": (400, _error("This model's maximum context length is 4096 tokens.", code="context_length_exceeded")),
    "content_filter": (400, _error("stopped", code="content_filter")),
    "not_json": (200, b"<html>busy</html>"),
    "no_choices": (200, b'{"choices": []}'),
}

ODD: dict[Fault, dict[str, Any]] = {
    "null_content": {"message": {"content": None}},
    "length": {"message": {"content": "", "reasoning_content": "Let me see"}, "finish_reason": "length"},
    "wrong_model": {"message": {"content": "from elsewhere"}, "model": "another-model"},
}

LATE_S = 0.3
SLOW_S = 60.0
DRIP_S = 0.05


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a call is one of those that find out what an endpoint accepts."""
    return str(body["messages"][-1]["content"]).endswith((QUESTION, TASK))


class _Handler(Handler):
    def answer(self, body: dict[str, Any]) -> None:
        owner: ModelServer = self.server.owner
        if not self.path.startswith("/v1/"):
            self._send(*FIXED["404"])
            return
        number = owner.note(body, dict(self.headers))
        fault = None if number is None else owner.fault(number)
        if fault in FIXED:
            self._send(*FIXED[fault])
        elif fault in ODD:
            self._send(200, owner.choice(**{"model": body.get("model"), **ODD[fault]}))
        elif fault == "429":
            self._send(429, _error("too many requests"), {"Retry-After": owner.retry_after})
        elif fault == "echo":
            self._send(401, _error(f"who is {self.headers['Authorization']}?"))
        elif fault in {None, "late"}:
            time.sleep(LATE_S if fault else 0)
            self._answer(body, owner)
        else:
            self._end_unanswered(fault)

    def _answer(self, body: dict[str, Any], owner: "ModelServer") -> None:
        text, logprobs = '{"count_of_weekdays": 7}', None
        if not is_probe(body):
            time.sleep(owner.latency_s)
            text, logprobs = owner.reply(body["messages"]), owner.logprobs(body["messages"]) if body.get("logprobs") else None
        self._send(200, owner.completion(text, logprobs, body.get("model")))

    def setup(self) -> None:
        super().setup()
        self.server.owner.connections += 1

    def _end_unanswered(self, fault: Fault | None) -> None:
        if fault in {"truncated", "drip"}:
            self._send(200, b'{"choices": [{"in', {"Content-Length": "500"})
        for _ in range(int(SLOW_S / DRIP_S) if fault in {"slow", "drip"} else 0):
            time.sleep(DRIP_S)
            self.wfile.write(b" " if fault == "drip" else b"")
        self.close_connection = True

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        owner: ModelServer = self.server.owner
        self.send_body(status, body, {**owner.answer_headers, **(headers or {})})


@dataclass(eq=False)
class ModelServer(LoopbackServer):
    """Answers, or fails as it is told."""

    handler = _Handler

    reply: Reply
    _: KW_ONLY
    latency_s: float = 0.0
    fault: Callable[[int], Fault | None] = lambda _number: None
    retry_after: str = "0"
    logprobs: Callable[[list[dict[str, str]]], Any] = lambda _messages: None
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    probes: list[dict[str, Any]] = field(default_factory=list, init=False)
    bodies: list[dict[str, Any]] = field(default_factory=list, init=False)
    headers: list[dict[str, str]] = field(default_factory=list, init=False)
    connections: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def calls(self) -> int:
        return len(self.bodies)

    @property
    def repeated(self) -> int:
        """Calls received more than once, by their body."""
        return len(self.bodies) - len({json.dumps(body, sort_keys=True) for body in self.bodies})

    def note(self, body: dict[str, Any], headers: dict[str, str]) -> int | None:
        """Remember a call; returns its number, None for a probe."""
        with self._lock:
            if is_probe(body):
                self.probes.append(body)
                return None
            self.bodies.append(body)
            self.headers.append(headers)
            return len(self.bodies) - 1

    def completion(self, text: str | None, logprobs: Any = None, model: str | None = None) -> bytes:
        return self.choice(model, message={"content": text}, logprobs=logprobs)

    def choice(self, model: str | None, *, message: dict[str, Any], finish_reason: str = "stop", logprobs: Any = None) -> bytes:
        """A body as OpenAI-compatible servers send it; `model` is the name it says answered."""
        choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}, "logprobs": logprobs}
        usage = {"prompt_tokens": 11, "completion_tokens": 2}
        return json.dumps({"model": model, "choices": [choice], "usage": usage}).encode()
