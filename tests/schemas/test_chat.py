"""The body and the key of a call, in the usual way and as a model wants it otherwise."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import EMBEDDED_IDENTITY, ChatMessage, ChatRequest, ModelEntry
from schemas.errors import UsageError
from schemas.provider import TokenLimit, Unsent

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


@pytest.mark.parametrize("extra", [None, '{"zone": {"messages": "é"}}'])
def test_a_body_is_encoded_as_it_is_sent(extra: str | None) -> None:
    said = (ChatMessage(role="system", content='"é"\n'), ChatMessage(role="user", content="[]"))
    asked = request(ApiCapabilities(extra=extra), messages=said)
    assert asked.body_json == json.dumps(asked.body(), ensure_ascii=False, sort_keys=True)


@pytest.mark.parametrize("numbers", [(1, 1.0), (1.0, 1), (0.0, -0.0)])
def test_equal_numbers_keep_their_sent_form(numbers: tuple[float, float]) -> None:
    # As `SolverResources.sampled` takes them from a solver, unchecked.
    for number in numbers:
        asked = request(sampling=Sampling().model_copy(update={"temperature": number}), model=f"a model asked at {numbers}")
        assert f'"temperature": {number},' in asked.body_json


def test_renamed_limit_is_same_call() -> None:
    other = request(ApiCapabilities(token_limit=OTHER))
    assert other.body().keys() ^ request().body().keys() == {USUAL, OTHER}
    assert other.body()[OTHER] == 512
    assert other.key == request(ApiCapabilities(token_limit=USUAL)).key == request().key


@pytest.mark.parametrize(
    ("unsent", "added"),
    [(("stream_options",), {"stream": True}), ((), {"stream": True, "stream_options": {"include_usage": True}})],
)
@pytest.mark.parametrize("limit", [USUAL, OTHER])
def test_streamed_reply_is_asked_for_by_same_call(unsent: tuple[Unsent, ...], added: dict[str, Any], limit: TokenLimit) -> None:
    capabilities = ApiCapabilities(stream=True, unsent=unsent, token_limit=limit)
    streamed = request(capabilities)
    assert json.loads(streamed.sent_json) == streamed.body() | added
    assert streamed.key == request().key
    # What the journal and files of requests keep says nothing of how the reply comes.
    assert json.loads(streamed.body_json).keys() == streamed.body().keys()
    entry = ModelEntry(name="m", base_url="http://a/v1")
    assert entry.model_copy(update={"dialect": capabilities}).meaning == entry.meaning


TALK = (("system", "Be kind."), ("user", "I am sad."), ("assistant", "Why?"), ("user", "My cat."), ("user", "It died."))


def test_without_system_role_its_words_are_users() -> None:
    talk = tuple(ChatMessage.model_validate({"role": role, "content": text}) for role, text in TALK)
    folded, plain = ApiCapabilities(fold_system=True), request(messages=talk)
    assert request(folded, messages=talk).body()["messages"] == [
        {"role": "user", "content": "Be kind.\n\nI am sad."},
        {"role": "assistant", "content": "Why?"},
        {"role": "user", "content": "My cat.\n\nIt died."},
    ]
    assert json.loads(request(folded, messages=talk).messages_json) == request(folded, messages=talk).body()["messages"]
    assert request(folded, messages=talk).key != plain.key
    # Nothing to fold: the same words are sent, which is the same call.
    assert request(folded).key == request().key
    entry = ModelEntry(name="m", base_url="http://a/v1")
    assert entry.model_copy(update={"dialect": folded}).meaning == entry.meaning | {"fold_system": True}
    assert ApiCapabilities().model_dump().keys() == {"token_limit", "unsent", "reasoning_effort", "effort_path", "extra"}


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
def test_refused_parameter_makes_another_call(name: str) -> None:
    without = request(ApiCapabilities.model_validate({"unsent": [name]}))
    assert request().body().keys() - without.body().keys() == {name}
    assert without.key != request().key


def test_schema_is_left_out_where_it_is_refused() -> None:
    without = request(ApiCapabilities(unsent=("json_schema",)), json_schema=SCHEMA)
    assert "response_format" in request(json_schema=SCHEMA).body()
    assert without.body() == request().body()
    assert without.key == request().key != request(json_schema=SCHEMA).key


@pytest.mark.parametrize(
    ("path", "effort", "expected"),
    [
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
        ({"extra": "{"}, "extra is not a JSON object: '{'"),
        ({"extra": "[1]"}, "extra is not a JSON object"),
        ({"extra": '{"stream": true, "messages": []}'}, "extra has messages, stream, which MoodFlow sets itself"),
        ({"extra": '{"top_k": 1, "Model": "m", "models": ["n"]}'}, "extra has Model, models, which MoodFlow sets itself"),
        ({"extra": '{"max_completion_tokens": 5, "prompt": ""}'}, "extra has max_completion_tokens, prompt, which"),
        ({"extra": '{"response_format": {"type": "text"}}'}, "extra has response_format, which MoodFlow sets itself"),
        ({"effort_path": "messages.effort"}, "effort_path must not begin with messages"),
        ({"effort_path": "temperature"}, "effort_path must not begin with temperature"),
        ({"effort_path": "a..b"}, "effort_path"),
    ],
)
def test_capabilities_that_cannot_be_meant_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("[", r"\[")):
        ApiCapabilities.model_validate(fields)


ASKED = (ChatMessage(role="user", content="Is the glass half full?"),)
IN_CHINESE = (ChatMessage(role="system", content="你是一位咨询师。"), *ASKED)
DRAWN = Sampling(temperature=0.7, top_p=0.9, max_tokens=64, seed=3)
NEW_NAMES = ApiCapabilities(unsent=("temperature",), reasoning_effort="low", token_limit="max_completion_tokens")  # noqa: S106

KEYS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "936fbb98687176b160109277dd1a72c151af5eb1aae11d71f57932d911f21746"),
    ({"repetition": 2}, "75e90f614b5120a1f5e6fd9c2437ed916628f9f16224dbf88794a219f3b486c0"),
    (
        {"model": "org/m", "identity": "embedded", "messages": IN_CHINESE, "sampling": DRAWN},
        "ad3c8a22e056c7c81570a7d30e25f7d7797a891b015bdeb14082f70f101f6d37",
    ),
    ({"top_logprobs": 20}, "3498181f149a1c9384abfd7b6c6959123d057ce6ca4527caba3735753e63633a"),
    ({"json_schema": '{"type": "object"}'}, "dec554e30274a50d2e099aa4f4f2b778cd58d41bc85b2292f72b54eb1c639fdb"),
    ({"capabilities": NEW_NAMES}, "57ca156c1e2e5aa3d4e96feb94868bc264f89cda94124f8a04c4373770091c66"),
    ({"capabilities": ApiCapabilities(extra='{"top_k": 5}')}, "d9c15d14ed6c1f8d5e3c6c44e1858dc66a272846c3297fb99868617c3c633d02"),
)
"""They stay as they are: what was paid for is found again."""


@pytest.mark.parametrize(("asked", "key"), KEYS)
def test_keys_of_the_journal_stay(asked: dict[str, Any], key: str) -> None:
    usual: dict[str, Any] = {"model": "m", "identity": "http://localhost:8000/v1", "messages": ASKED, "sampling": Sampling()}
    assert ChatRequest(**(usual | asked)).key == key


URL = "http://a/v1"


@pytest.mark.parametrize("written", [{}, {"identity": ""}, {"identity": None}, {"identity": URL}])
def test_an_identity_that_is_derived_is_no_parameter(written: dict[str, Any]) -> None:
    entry = ModelEntry.model_validate({"name": "m", "base_url": URL, **written})
    assert entry.identity == URL
    assert entry.model_dump(exclude_unset=True) == {"name": "m", "base_url": URL}
    assert entry.model_dump()["identity"] == URL  # what manifests and fingerprints hold
    entry.require_own_identity()


def test_an_identity_that_is_named_stays() -> None:
    entry = ModelEntry(name="m", base_url=URL, identity="m of May")
    assert entry.model_dump(exclude_unset=True)["identity"] == "m of May"
    entry.require_own_identity()
    ModelEntry(name="m", base_url=f"{URL}/", identity=URL).require_own_identity()


@pytest.mark.parametrize(
    ("base_url", "identity"),
    [("http://b/v1", URL), ("http://b/v1", EMBEDDED_IDENTITY), (None, URL), (None, "embedded/other@0")],
    ids=["another server", "embedded before", "embedded now", "other weights"],
)
def test_identity_of_another_server_is_refused_in_parameters(base_url: str | None, identity: str) -> None:
    entry = ModelEntry(name="smollm2", base_url=base_url, identity=identity)
    with pytest.raises(UsageError, match="the identity of model smollm2 is another server") as caught:
        entry.require_own_identity()
    assert caught.value.got == identity
