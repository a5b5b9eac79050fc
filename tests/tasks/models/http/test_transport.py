"""Answers that come as event streams, whether that was asked for or not."""

import json
from typing import Any

import pytest

from tasks.models.http.parse_reply import read_completion
from tasks.models.http.transport import join_events
from tests.probed_server import Answer, ProbedServer
from tests.tasks.models.making_calls import Pauses, ask_once, entry


def chunk(delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any) -> str:
    return json.dumps({"id": "1", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason, **more}]})


def events(*data: str, end: str = "\n\n") -> bytes:
    return "".join(f"data: {one}{end}" for one in data).encode()


HALVES = (chunk({"role": "assistant", "content": "The answer "}), chunk({"content": "is B."}))
USAGE = '{"model": "listener-2", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}'


@pytest.mark.parametrize(
    "body",
    [
        events(*HALVES, chunk(reason="stop"), USAGE),
        events(*HALVES, chunk(reason="stop"), USAGE, "[DONE]", end="\r\n\r\n"),
        events(*HALVES, chunk(reason="stop"), USAGE, "[DONE]", end="\n"),
        events(*HALVES, chunk(reason="stop"), USAGE, "[DONE]").replace(b"data: ", b"data:"),
        b"\xef\xbb\xbf" + events(*HALVES, chunk(reason="stop"), USAGE, "[DONE]"),
        b": waiting\n\n" + events(*HALVES, chunk(reason="stop"), USAGE).replace(b"data:", b"id: 7\nevent: chunk\ndata:"),
        events(*HALVES, chunk(reason="stop"), USAGE).replace(b', "choices"', b',\ndata: "choices"'),
        events(*HALVES, chunk(), chunk(reason="stop"), chunk(), USAGE, "[DONE]").replace(b"data", b": ping\n\ndata"),
        events(chunk({"content": "The ans"}), chunk(message={"content": "The answer is B."}, reason="stop"), USAGE),
        events("", HALVES[0], "", HALVES[1], chunk(reason="stop", logprobs="none"), USAGE, ""),
    ],
)
def test_stream_is_read_as_answer_it_is(body: bytes) -> None:
    reply = read_completion(join_events(body), model="listener")
    assert (reply.text, reply.failure, reply.finish_reason) == ("The answer is B.", None, "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.model) == (9, 4, "listener-2")


def test_reasoning_and_probabilities_are_joined_too() -> None:
    token = {"token": "B", "logprob": -0.5, "top_logprobs": [{"token": "B", "logprob": -0.5}, {"token": "C", "logprob": -2.0}]}
    thought = [chunk({"reasoning_content": "Let me "}), chunk({"reasoning_content": "see."}), chunk({"content": "B"}, "stop")]
    reply = read_completion(join_events(events(*thought)))
    assert (reply.reasoning, reply.reasoning_in, reply.text) == ("Let me see.", "reasoning_content", "B")
    plain = read_completion(join_events(events(chunk({"content": "B"}, "stop", logprobs={"content": [token]}))))
    assert plain.top_logprobs == (("B", -0.5), ("C", -2.0))


def test_contents_in_parts_and_texts_are_joined() -> None:
    thought = {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}
    reply = read_completion(join_events(events(chunk(thought), chunk({"content": "It is "}), chunk({"content": "B"}, "stop"))))
    assert (reply.reasoning, reply.text) == ("Hm.", "It is B")


@pytest.mark.parametrize(
    ("body", "failure", "error"),
    [
        (events(*HALVES)[:-20], "http_5xx", "broke off after 11 characters"),
        (b": only a comment\n\n", "http_5xx", "broke off after 0 characters"),
        (events(HALVES[0]) + b"event: error\ndata: no more\n\ndata: [DONE]\n\n", "http_5xx", "no more"),
        (events(HALVES[0]) + "data: 好".encode()[:-1], "http_5xx", "broke off after 11 characters"),
        (events(HALVES[0], '{"error": {"message": "Overloaded", "code": 503}}'), "http_5xx", "HTTP 200: Overloaded"),
        (b"event:error\n:HTTP_STATUS/400\n" + events('{"code": "1301", "message": "no"}'), "content_filter", "no"),
        (events(chunk(reason="stop"), "[DONE]"), "empty_content", "no text"),
        (events("[1]", '"text"', "[DONE]"), "http_5xx", "broke off after 0 characters"),
        (b'{"message": {"content": "B"}}\n{"done": true}\n', "missing_choices", "as the native API of Ollama streams"),
    ],
)
def test_stream_without_answer_is_failure_it_is(body: bytes, failure: str, error: str) -> None:
    reply = read_completion(join_events(body))
    assert reply.failure == failure
    assert error in str(reply.error)


@pytest.mark.parametrize("body", [b"", b'{\n"a": {}\n}', b"<html>data: 1</html>", b"database: down"])
def test_what_is_no_stream_stays_as_it_is(body: bytes) -> None:
    assert join_events(body) is body


async def test_a_stream_ends_with_its_mark() -> None:
    body = events(*HALVES, chunk(reason="stop"), USAGE, "[DONE]")
    # The connection stays open, as if more were to come.
    with ProbedServer(lambda *_: Answer(200, body, headers={"Content-Length": str(len(body) + 1)})) as server:
        reply = await ask_once(entry(server.base_url), Pauses())
    assert (reply.text, reply.failure, reply.prompt_tokens, reply.attempts) == ("The answer is B.", None, 9, 1)
