from typing import Any

import pytest

from schemas.blueprint import MethodSpec, MetricSpec, NumericNormalisation
from schemas.lineage import PartitionRef
from tasks.metrics.item_scores import item_scores_key

RESPONSES = PartitionRef(
    layer="responses",
    place=(("dataset", "d"), ("model", "m"), ("setting", "base")),
    fingerprint="1" * 64,
    path="responses/d",
    rows=1,
    content_sha256="2" * 64,
)
METHOD = MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),))


def fingerprint(*methods: MethodSpec, judgements: tuple[PartitionRef, ...] = ()) -> str:
    return item_scores_key(RESPONSES, judgements, methods).fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "other"},
        {"profile": "reference"},
        {"judged": True, "rubric": "summary"},
        {"metrics": (MetricSpec(metric="macro_f1"),)},
        {"metrics": (MetricSpec(metric="recall_at_k", k=1),)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_changes_the_scores_changes_the_key(changed: dict[str, Any]) -> None:
    other = MethodSpec.model_validate(METHOD.model_dump() | changed)
    assert fingerprint(other) != fingerprint(METHOD)
    assert fingerprint(METHOD, other) != fingerprint(METHOD)


def test_cut_offs_and_parents_change_the_key() -> None:
    first, second = (MethodSpec(id="find", metrics=(MetricSpec(metric="recall_at_k", k=k),)) for k in (1, 5))
    assert fingerprint(first) != fingerprint(second)
    judgements = RESPONSES.model_copy(update={"layer": "judgements", "fingerprint": "3" * 64})
    assert fingerprint(METHOD, judgements=(judgements,)) != fingerprint(METHOD)


def test_weights_and_normalisation_do_not() -> None:
    spec = MetricSpec(metric="accuracy", weight=3, normalisation=NumericNormalisation(min=0, max=2))
    assert fingerprint(MethodSpec(id="choice", metrics=(spec,))) == fingerprint(METHOD)
