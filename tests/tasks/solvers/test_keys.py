"""What a partition of responses is made of."""

from typing import Any, get_args

import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ChatMessage, ChatRequest, ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.provider import TokenLimit
from tasks.solvers.option_order import Epochs
from tasks.solvers.run import responses_key

ITEMS = PartitionRef(
    layer="items", place=(("dataset", "d"),), fingerprint="1" * 64, path="items/d", rows=1, content_sha256="2" * 64
)
ENTRY = ModelEntry(name="m", base_url="http://localhost/v1")


def key(epochs: Epochs | None = None, **changed: Any) -> PartitionKey:
    entry = ModelEntry.model_validate(ENTRY.model_dump() | changed)
    return responses_key(ITEMS, entry, "base", "3" * 64, epochs or Epochs())


@pytest.mark.parametrize(
    "changed",
    [
        {"identity": "elsewhere"},
        {"sampling": Sampling(seed=1)},
        {"token_probabilities": True},
        {"dialect": ApiCapabilities(unsent=("temperature",))},
        {"dialect": ApiCapabilities(reasoning_effort="low")},
        {"dialect": ApiCapabilities(extra='{"enable_thinking": true}')},
    ],
    ids=str,
)
def test_what_changes_the_replies_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint != key().fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"concurrency": 1},
        {"timeout_s": 1.0},
        {"api_key_env": "KEY"},
        {"dialect": ApiCapabilities()},
        {"dialect": ApiCapabilities(token_limit=get_args(TokenLimit)[1])},
        {"dialect": ApiCapabilities(effort_path="reasoning.effort")},
        # The seed was not sent anyway, and no call of this stage has a schema.
        {"dialect": ApiCapabilities(unsent=("seed", "json_schema"))},
    ],
    ids=str,
)
def test_transport_and_names_do_not(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint == key().fingerprint


@pytest.mark.parametrize("epochs", [Epochs(permute=2), Epochs(permute=2, seed=1), Epochs(repeat=2)])
def test_how_often_an_item_is_asked_changes_the_key(epochs: Epochs) -> None:
    others = [key(), *(key(other) for other in (Epochs(permute=3), Epochs(permute=2, repeat=2)))]
    assert key(epochs).fingerprint not in {other.fingerprint for other in others}


def test_the_seed_counts_only_where_it_draws_an_order() -> None:
    assert key(Epochs(seed=1)).fingerprint == key().fingerprint


def test_what_is_not_sent_does_not_count_whatever_it_is() -> None:
    unsent = ApiCapabilities(unsent=("temperature",))
    assert key(dialect=unsent).settings["sampling"] == {"temperature": None, "top_p": 1.0, "max_tokens": 512, "seed": None}
    warm = key(dialect=unsent, sampling=Sampling(temperature=1.0))
    assert warm.fingerprint == key(dialect=unsent).fingerprint


@pytest.mark.parametrize("other", ['{"a":1,"b":{}}', '{"b": {}, "a": 1}'])
def test_an_extra_counts_as_an_object_and_not_as_a_text(other: str) -> None:
    assert (
        key(dialect=ApiCapabilities(extra=other)).fingerprint
        == key(dialect=ApiCapabilities(extra='{"a": 1, "b": {}}')).fingerprint
    )


def test_token_probabilities_are_named_only_where_they_are_wanted() -> None:
    assert "token_probabilities" not in key().settings
    assert key(token_probabilities=True).settings["token_probabilities"] is True


def test_a_call_that_asks_for_log_probabilities_is_another_call() -> None:
    def request(top_logprobs: int | None) -> ChatRequest:
        return ChatRequest("m", "here", (ChatMessage(role="user", content="?"),), Sampling(), top_logprobs=top_logprobs)

    assert request(20).key != request(None).key
    assert request(None).body().keys() == {"model", "messages", "temperature", "top_p", "max_tokens"}
    assert request(20).body() == request(None).body() | {"logprobs": True, "top_logprobs": 20}
