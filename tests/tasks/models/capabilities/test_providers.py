"""The providers that ship, and finding them by name."""

from typing import Any, get_args

import httpx
import pytest

from schemas.api_capabilities import ApiCapabilities
from schemas.chat import ModelEntry
from schemas.errors import UsageError
from schemas.provider import CAPABILITIES, CapabilityFinding, ModelProbe, Provider, Quirks, TokenLimit, Verdict
from tasks.models.capabilities.providers import (
    choose_capabilities,
    describe_capabilities,
    entry_for,
    find_provider,
    load_providers,
    needs_probe,
    provider_at,
)
from tests.rows import each_row

LOCAL = {"vllm", "sglang", "llama_cpp", "ollama"}
ENTRY = {"id": "a", "title": "A", "base_url": "https://a.example/v1", "api_key_env": None}


@each_row("provider", load_providers())
def test_a_provider_is_a_model_entry_away(provider: Provider) -> None:
    entry = ModelEntry(**entry_for(provider, "some-model"))
    assert (entry.name, entry.base_url, entry.identity) == ("some-model", provider.base_url, provider.base_url)
    assert (entry.api_key_env is None) == (provider.id in LOCAL)
    url = httpx.URL(provider.base_url)
    assert (url.scheme == "http") == (url.host == "localhost") == (provider.id in LOCAL)


@each_row("provider", load_providers())
def test_every_statement_has_source_or_says_none(provider: Provider) -> None:
    assert provider.sources
    stated = {name for name, value in provider.quirks.model_dump().items() if value not in ("unknown", (), None)}
    assert set(provider.not_verified) <= stated | {"base_url", "api_key_env"}


@pytest.mark.parametrize(
    ("provider", "model", "token_limit", "temperature"),
    [
        ("openai", "o3-mini", "max_completion_tokens", "no"),
        ("openai", "gpt-5-chat-latest", "max_completion_tokens", "yes"),
        ("deepseek", "deepseek-reasoner", "max_tokens", "ignored"),
        ("vllm", "Qwen/Qwen3-8B", "max_tokens", "yes"),
    ],
)
def test_quirks_of_a_model(provider: str, model: str, token_limit: str, temperature: str) -> None:
    quirks = find_provider(provider).quirks_of(model)
    assert (quirks.token_limit, quirks.temperature) == (token_limit, temperature)


@pytest.mark.parametrize(
    ("base_url", "provider"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.moonshot.ai/v1/", "moonshot_intl"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://localhost:1234/v1", None),
        (None, None),
    ],
)
def test_a_provider_is_found_by_its_address(base_url: str | None, provider: str | None) -> None:
    found = provider_at(base_url)
    assert (found and found.id) == provider


@pytest.mark.parametrize(
    ("name", "next_step"),
    [
        ("opena", "did you mean openai"),
        ("llama.cpp", "did you mean llama_cpp"),
        ("xyzzy", "give its server with --base-url"),
    ],
)
def test_an_unknown_name_raises_and_suggests_the_nearest(name: str, next_step: str) -> None:
    with pytest.raises(UsageError, match=f"there is no provider {name}") as raised:
        find_provider(name)
    assert str(raised.value.next_step).startswith(next_step)
    assert "deepseek" in str(raised.value.expected)


def test_a_provider_is_verified_by_its_newest_source() -> None:
    dates = ["undated", "2025-12-01", "2026-01-02"]
    sources = [{"url": "https://a.example/doc", "verified": when} for when in dates]
    providers = [Provider.model_validate({**ENTRY, "sources": some}) for some in (sources, sources[:1], [])]
    assert [provider.verified for provider in providers] == ["2026-01-02", "undated", "not verified"]


USUAL, OTHER = get_args(TokenLimit)
SPECIAL = Quirks(token_limit=OTHER, temperature="no", top_p="ignored", seed="some", reasoning_effort="reasoning.effort")
OF_SPECIAL = {"token_limit": OTHER, "unsent": ("temperature",), "effort_path": "reasoning.effort"}


def found(**verdicts: Verdict) -> ModelProbe:
    """A probe with these verdicts; nothing is known of the rest."""
    findings = {name: CapabilityFinding(verdicts.get(name, "unknown"), "") for name in CAPABILITIES}
    return ModelProbe(1, "m", "http://one.example/v1", "", 1, 0.1, None, None, findings)


@each_row(
    ("stated", "quirks", "probe", "expected"),
    [
        (None, SPECIAL, None, OF_SPECIAL),
        # What was found wins over what is known; where it found nothing, that counts.
        (None, SPECIAL, found(max_tokens="yes", temperature="yes"), {"effort_path": "reasoning.effort"}),
        (None, None, found(max_tokens="no", max_completion_tokens="yes"), {"token_limit": OTHER}),
        (None, None, found(temperature="no", json_schema="no", logprobs="no"), {"unsent": ("temperature", "json_schema")}),
        # What is stated wins, field by field.
        (ApiCapabilities(token_limit=USUAL, unsent=()), SPECIAL, found(seed="no"), {"effort_path": "reasoning.effort"}),
        (ApiCapabilities(reasoning_effort="low"), SPECIAL, None, {**OF_SPECIAL, "reasoning_effort": "low"}),
        (ApiCapabilities(effort_path="effort"), SPECIAL, found(max_tokens="yes", temperature="yes"), {"effort_path": "effort"}),
    ],
)
def test_the_first_that_knows_decides(
    stated: ApiCapabilities | None, quirks: Quirks | None, probe: ModelProbe | None, expected: dict[str, Any]
) -> None:
    chosen = choose_capabilities(stated, quirks, probe)
    assert chosen == ApiCapabilities.model_validate(expected)
    assert choose_capabilities(chosen, SPECIAL, found(temperature="no")) == chosen


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (None, True),
        (ApiCapabilities(token_limit=USUAL), True),
        (ApiCapabilities(token_limit=USUAL, unsent=()), False),
        (choose_capabilities(None, None, None), False),
    ],
)
def test_probe_is_needed_unless_all_stated(stated: ApiCapabilities | None, *, expected: bool) -> None:
    assert needs_probe(stated) is expected


def test_a_dialect_in_words() -> None:
    assert describe_capabilities(ApiCapabilities()) == "limit max_tokens"
    special = ApiCapabilities(token_limit=OTHER, unsent=("temperature", "seed"), reasoning_effort="low", extra='{"top_k": 1}')
    words = 'limit max_completion_tokens, without temperature, seed, reasoning_effort low, with {"top_k": 1}'
    assert describe_capabilities(special) == words
