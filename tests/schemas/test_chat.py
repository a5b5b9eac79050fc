"""The body and the key of a call, in the usual way and as a model wants it otherwise."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ChatMessage, ChatRequest, ModelEntry
from schemas.provider import TokenLimit

USUAL: TokenLimit = "max_tokens"
OTHER: TokenLimit = "max_completion_tokens"
SCHEMA = '{"type": "object"}'


def request(capabilities: ApiCapabilities | None = None, **changed: Any) -> ChatRequest:
    fields = {
        "model": "m",
        "identity": "here",
        "messages": (ChatMessage(role="user", content="?"),),
        "sampling": Sampling(seed=3),
    }
    return ChatRequest(**{**fields, **changed}, capabilities=capabilities or ApiCapabilities())


def test_the_usual_body() -> None:
    assert request().body() == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 512,
        "seed": 3,
    }
    assert json.loads(request().body_json) == request().body()


def test_another_name_of_the_limit_is_sent_and_is_the_same_call() -> None:
    other = request(ApiCapabilities(token_limit=OTHER))
    assert other.body().keys() ^ request().body().keys() == {USUAL, OTHER}
    assert other.body()[OTHER] == 512
    assert other.key == request(ApiCapabilities(token_limit=USUAL)).key == request().key


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
def test_what_is_refused_is_left_out_and_makes_another_call(name: str) -> None:
    without = request(ApiCapabilities.model_validate({"unsent": [name]}))
    assert request().body().keys() - without.body().keys() == {name}
    assert without.key != request().key


def test_a_schema_is_left_out_where_it_is_refused() -> None:
    without = request(ApiCapabilities(unsent=("json_schema",)), json_schema=SCHEMA)
    assert "response_format" in request(json_schema=SCHEMA).body()
    assert without.body() == request().body()
    assert without.key == request().key != request(json_schema=SCHEMA).key


@pytest.mark.parametrize(
    ("path", "effort", "expected"),
    [
        ("reasoning_effort", "low", {"reasoning_effort": "low"}),
        ("reasoning.effort", "high", {"reasoning": {"effort": "high"}}),
        ("thinking.budget.kind", "auto", {"thinking": {"budget": {"kind": "auto"}}}),
        ("enable_thinking", "false", {"enable_thinking": False}),
    ],
)
def test_effort_stands_where_the_provider_has_it(path: str, effort: str, expected: dict[str, Any]) -> None:
    asked = request(ApiCapabilities(effort_path=path, reasoning_effort=effort))
    assert asked.body() == request().body() | expected
    assert asked.key != request().key
    assert request(ApiCapabilities(effort_path=path)).body() == request().body()


def test_an_extra_is_merged_into_the_body() -> None:
    extra = {"top_k": 1, "reasoning": {"exclude": False}, "temperature": 1.0}
    asked = request(ApiCapabilities(effort_path="reasoning.effort", reasoning_effort="low", extra=json.dumps(extra)))
    merged = {"top_k": 1, "reasoning": {"effort": "low", "exclude": False}, "temperature": 1.0}
    assert asked.body() == request().body() | merged
    spaced = ApiCapabilities(effort_path="reasoning.effort", reasoning_effort="low", extra=json.dumps(extra, indent=2))
    assert asked.key == request(spaced).key != request().key


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"extra": "{"}, "extra is no JSON object: '{'"),
        ({"extra": "[1]"}, "extra is no JSON object"),
        ({"extra": '{"stream": true, "messages": []}'}, "extra has messages, stream, which every call sets itself"),
        ({"effort_path": "messages.effort"}, "effort_path begins with messages"),
        ({"effort_path": "temperature"}, "effort_path begins with temperature"),
        ({"effort_path": "a..b"}, "effort_path"),
        ({"unsent": ["max_tokens"]}, "unsent"),
        ({"token_limit": "limit"}, "token_limit"),
    ],
)
def test_capabilities_that_cannot_be_meant_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("[", r"\[")):
        ApiCapabilities.model_validate(fields)


def test_an_entry_of_version_0_1_is_read_without_its_http2() -> None:
    stored = {"name": "m", "base_url": "http://localhost/v1", "http2": False}
    assert ModelEntry.model_validate(stored) == ModelEntry(name="m", base_url="http://localhost/v1")
    assert stored["http2"] is False
    with pytest.raises(ValidationError, match="http2 was removed, since it was slower"):
        ModelEntry.model_validate({**stored, "http2": True})
