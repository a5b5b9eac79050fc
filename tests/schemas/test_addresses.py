"""Addresses in messages hide what may be a secret; headers and query of every call are named, bounded and without secrets."""

from typing import Any

import pytest

from flows.runtime.endpoints import way_to
from schemas.addresses import hide_credentials, read_pairs
from schemas.chat import ModelEntry
from schemas.errors import UsageError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("NAME=https://me:pass word@host/v1", "NAME=https://...@host/v1"),
        ("https://host/v1?key=secret#x", "https://host/v1?..."),
        ("name@https://a:b@c/v1?k", "...@https://...@c/v1?..."),
        ("me:secret@host and more", "...@host and more"),
        ("a provider @ home?", "a provider @ home?"),
    ],
)
def test_what_may_be_a_secret_is_hidden(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown


def entry(**fields: Any) -> ModelEntry:
    return ModelEntry(name="m", base_url="https://a.example/openai/deployments/d", **fields)


@pytest.mark.parametrize(
    "written",
    [{"api-key": "A_KEY", "X-Team": "TEAM"}, ["api-key=A_KEY", "X-Team=TEAM"], [{"api-key": "A_KEY", "X-Team": "TEAM"}]],
)
def test_headers_are_written_as_pairs_or_mapping(written: Any) -> None:
    model = entry(headers_env=written)
    assert read_pairs(model.headers_env) == {"api-key": "A_KEY", "X-Team": "TEAM"}
    assert ModelEntry.model_validate_json(model.model_dump_json()) == model
    assert hash(model) == hash(ModelEntry.model_validate(model.model_dump()))


def test_variables_are_listed_once_and_change_no_call() -> None:
    model = entry(api_key_env="A_KEY", headers_env={"X-Key": "A_KEY"}, query_env={"code": "CODE"}, query={"v": "2024-10-21"})
    assert model.key_variables == ("A_KEY", "CODE")
    assert (model.meaning, model.identity) == (entry().meaning, entry().identity)
    assert not {"headers_env", "query_env", "query"} & entry().model_dump().keys()


@pytest.mark.parametrize(
    "fields",
    [
        {"headers_env": {"Host": "A"}},
        {"headers_env": {"content-length": "A"}},
        {"headers_env": {"Transfer-Encoding": "A"}},
        {"headers_env": {"Proxy-Authorization": "A"}},
        {"headers_env": {"X Team": "A"}},
        {"headers_env": {"api-key": "sk-secret-1"}},
        {"headers_env": {"api-key": "A", "API-Key": "B"}},
        {"headers_env": {"Authorization": "A"}, "api_key_env": "B"},
        {"headers_env": "sk-secret-1"},
        {"query_env": {"code": "sk-secret-1"}},
        {"query": {"api-key": "secret"}},
        {"query": {"v": "sk secret"}},
        {"query": {"v": "secret" * 20}},
        {"query": {"v": "1"}, "query_env": {"v": "A"}},
        {"query": {"v&code": "1"}},
    ],
)
def test_forbidden_header_is_refused_unprinted(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="headers_env, query_env or query is invalid") as caught:
        entry(**fields)
    assert "secret-" not in str(caught.value)


@pytest.mark.parametrize("fields", [{"headers_env": {"Authorization": "A"}}, {"headers_env": None}, {"query": ["v=2024-10-21"]}])
def test_what_may_be_sent_is_taken(fields: dict[str, Any]) -> None:
    assert entry(**fields).name == "m"


def test_other_headers_or_queries_share_no_endpoint() -> None:
    given: tuple[dict[str, Any], ...] = ({"headers_env": ["x=Y"]}, {"query_env": ["x=Y"]}, {"query": ["x=Y"]}, {})
    assert len({way_to(entry(**fields)) for fields in given}) == len(given)
