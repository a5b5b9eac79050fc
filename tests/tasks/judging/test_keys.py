"""What a partition of judgements is made of."""

from typing import Any, get_args

import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ModelEntry
from schemas.lineage import PartitionRef
from schemas.provider import TokenLimit
from tasks.judging.agreement import agreements_key
from tasks.judging.executor import judgements_key

RESPONSES = PartitionRef(
    layer="responses", place=(("dataset", "d"),), fingerprint="1" * 64, path="responses/d", rows=1, content_sha256="2" * 64
)


def fingerprint(**changed: Any) -> str:
    judge = ModelEntry(name="j", base_url="http://localhost/v1", **changed)
    return judgements_key(RESPONSES, judge, "summary", "3" * 64).fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"identity": "elsewhere"},
        {"sampling": Sampling(seed=1)},
        {"dialect": ApiCapabilities(unsent=("temperature",))},
        {"dialect": ApiCapabilities(unsent=("json_schema",))},
        {"dialect": ApiCapabilities(reasoning_effort="low")},
    ],
    ids=str,
)
def test_what_changes_the_ratings_changes_the_key(changed: dict[str, Any]) -> None:
    assert fingerprint(**changed) != fingerprint()


@pytest.mark.parametrize(
    "changed",
    [{"concurrency": 1}, {"dialect": ApiCapabilities()}, {"dialect": ApiCapabilities(token_limit=get_args(TokenLimit)[1])}],
    ids=str,
)
def test_transport_and_names_do_not(changed: dict[str, Any]) -> None:
    assert fingerprint(**changed) == fingerprint()


def repeated(*repetitions: int) -> str:
    judge = ModelEntry(name="j", base_url="http://localhost/v1")
    return judgements_key(RESPONSES, judge, "summary", "3" * 64, *repetitions).fingerprint


def test_repetitions_count_only_if_there_are_several() -> None:
    assert repeated(1) == repeated()
    assert len({repeated(), repeated(2), repeated(3)}) == 3


def test_agreements_follow_every_rating_in_any_order() -> None:
    ratings = [RESPONSES.model_copy(update={"fingerprint": digit * 64}) for digit in "456"]
    keys = [agreements_key("b", [RESPONSES, *chosen]).fingerprint for chosen in (ratings, ratings[::-1], ratings[:2])]
    assert keys[0] == keys[1] != keys[2]
    assert agreements_key("other", [RESPONSES, *ratings]).place == (("benchmark", "other"),)
