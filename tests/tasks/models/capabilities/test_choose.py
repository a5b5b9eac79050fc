"""Which dialect a call has: what is stated, then what was found, then what is known of the provider, then the usual."""

from typing import Any, get_args

import pytest

from schemas.api_capabilities import ApiCapabilities
from schemas.provider import CAPABILITIES, CapabilityFinding, ModelProbe, Quirks, TokenLimit, Verdict
from tasks.models.capabilities.choose import choose_capabilities, describe_capabilities, needs_probe

USUAL, OTHER = get_args(TokenLimit)
SPECIAL = Quirks(token_limit=OTHER, temperature="no", top_p="ignored", seed="some", reasoning_effort="reasoning.effort")


def found(**verdicts: Verdict) -> ModelProbe:
    """A probe with these verdicts; nothing is known of the rest."""
    findings = {name: CapabilityFinding(verdicts.get(name, "unknown"), "") for name in CAPABILITIES}
    return ModelProbe(1, "m", "http://one.example/v1", "", 1, 0.1, None, None, findings)


@pytest.mark.parametrize(
    ("stated", "quirks", "probe", "expected"),
    [
        (None, None, None, {}),
        (None, SPECIAL, None, {"token_limit": OTHER, "unsent": ("temperature",), "effort_path": "reasoning.effort"}),
        # What was found wins over what is known; where it found nothing, that counts.
        (None, SPECIAL, found(max_tokens="yes", temperature="yes"), {"effort_path": "reasoning.effort"}),
        (
            None,
            SPECIAL,
            found(seed="no"),
            {"token_limit": OTHER, "unsent": ("temperature", "seed"), "effort_path": "reasoning.effort"},
        ),
        (None, None, found(max_tokens="no", max_completion_tokens="yes"), {"token_limit": OTHER}),
        (None, None, found(temperature="no", json_schema="no", logprobs="no"), {"unsent": ("temperature", "json_schema")}),
        # What is stated wins, field by field.
        (ApiCapabilities(token_limit=USUAL, unsent=()), SPECIAL, found(seed="no"), {"effort_path": "reasoning.effort"}),
        (
            ApiCapabilities(reasoning_effort="low"),
            SPECIAL,
            None,
            {"token_limit": OTHER, "unsent": ("temperature",), "reasoning_effort": "low", "effort_path": "reasoning.effort"},
        ),
        (ApiCapabilities(extra="{}"), None, found(top_p="no"), {"unsent": ("top_p",), "extra": "{}"}),
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
        (ApiCapabilities(reasoning_effort="low"), True),
        (ApiCapabilities(token_limit=USUAL), True),
        (ApiCapabilities(token_limit=USUAL, unsent=()), False),
        (choose_capabilities(None, None, None), False),
    ],
)
def test_a_probe_is_needed_unless_all_it_could_find_is_stated(stated: ApiCapabilities | None, *, expected: bool) -> None:
    assert needs_probe(stated) is expected


def test_a_dialect_in_words() -> None:
    assert describe_capabilities(ApiCapabilities()) == "limit max_tokens"
    special = ApiCapabilities(token_limit=OTHER, unsent=("temperature", "seed"), reasoning_effort="low", extra='{"top_k": 1}')
    words = 'limit max_completion_tokens, without temperature, seed, reasoning_effort low, with {"top_k": 1}'
    assert describe_capabilities(special) == words
