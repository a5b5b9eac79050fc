"""What a factor's value does to a plan."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.ablation import FACTORS, number_of, vary
from schemas.chat import ModelEntry
from schemas.plan import Plan

ENTRY = ModelEntry(name="m", base_url="http://localhost/v1")
PLAN = Plan(benchmark="longemotion-mini", models=(ENTRY,))


def varied(factor: str, value: str, plan: Plan = PLAN) -> dict[str, Any]:
    """Fields that differ from the plan's."""
    after, before = Plan.model_validate(vary(plan, factor, value)).model_dump(), plan.model_dump()
    return {name: value for name, value in after.items() if value != before[name]}


@pytest.mark.parametrize(
    ("factor", "value", "part", "name", "expected"),
    [
        ("length", "2000", "contexts", "lengths", (2000,)),
        ("depth", "12.5", "contexts", "depths", (12.5,)),
        ("chunk_tokens", "256", "retrieval", "chunk_tokens", 256),
        ("top_k", "8", "retrieval", "top_k", 8),
        ("ranking", "fused", "retrieval", "ranking", "fused"),
        ("embedder", "minilm", "retrieval", "embedder", "minilm"),
        ("preset", "code_2026_01", "retrieval", "preset", "code_2026_01"),
    ],
)
def test_a_factor_changes_its_field_alone(factor: str, value: str, part: str, name: str, expected: object) -> None:
    before = PLAN.model_dump()[part]
    assert varied(factor, value) == {part: {**before, name: expected}}


def test_another_sage_is_where_the_plans_is_or_where_the_model_is() -> None:
    assert varied("sage", "s") == {"roles": {"sage": {"default": ({**ENTRY.model_dump(), "name": "s"},), "datasets": {}}}}
    elsewhere = {"name": "a", "base_url": "http://elsewhere/v1"}
    roles = {"judge": elsewhere, "sage": {"default": elsewhere, "datasets": {"d": {"name": "c", "base_url": "http://d/v1"}}}}
    changed = Plan.model_validate(vary(Plan.model_validate({**PLAN.model_dump(), "roles": roles}), "sage", "b"))
    named = [(entry.name, entry.base_url) for entry in changed.named()]
    assert named == [("a", "http://elsewhere/v1"), ("b", "http://elsewhere/v1"), ("b", "http://d/v1")]


def test_reasoning_effort_is_that_of_every_model_under_test() -> None:
    two = PLAN.model_copy(update={"models": (ENTRY, ENTRY.model_copy(update={"name": "n"}))})
    changed = varied("reasoning_effort", "low", two)
    assert [entry["dialect"]["reasoning_effort"] for entry in changed["models"]] == ["low", "low"]
    assert changed.keys() == {"models"}


@pytest.mark.parametrize(("factor", "value"), [("top_k", "many"), ("length", "0"), ("depth", "101"), ("ranking", "best")])
def test_a_value_that_cannot_be_is_refused(factor: str, value: str) -> None:
    with pytest.raises(ValidationError):
        varied(factor, value)


def test_every_factor_can_be_varied() -> None:
    values = {"length": "9", "depth": "9", "chunk_tokens": "99", "top_k": "9", "ranking": "bm25", "preset": "code_2026_01"}
    assert all(varied(factor, values.get(factor, "x")) for factor in FACTORS)


def test_numbers_of_values() -> None:
    assert [number_of(value) for value in ("8", "12.5", "low")] == [8.0, 12.5, None]
