"""What is known of a plan with helpers before anything is asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flows.planning.resolve import resolve
from schemas.errors import UsageError
from schemas.plan import Plan

SERVER, ELSEWHERE = "http://localhost:9/v1", "http://localhost:8/v1"


def player(name: str, base_url: str = SERVER, **more: Any) -> dict[str, Any]:
    return {"name": name, "base_url": base_url, **more}


def plan(lake: Path, **more: Any) -> Plan:
    fields: Mapping[str, Any] = {"benchmark": "longemotion-mini", "models": [player("core")], "lake": lake, **more}
    return Plan.model_validate(fields)


@pytest.mark.parametrize(
    "other", [player("j", ELSEWHERE), player("j", sampling={"temperature": 1}), player("j", concurrency=2), player("j")]
)
def test_judges_and_models_of_one_name_are_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="two judges have the same name, j") as caught:
        resolve(plan(tmp_path, roles={"judge": player("j"), "panel": [player("p"), other]}))
    assert caught.value.next_step is not None
    with pytest.raises(UsageError, match="two models have the same name, j"):
        resolve(plan(tmp_path, models=[player("j"), other]))


@pytest.mark.parametrize("other", ["caf\u00e9 ", "cafe\u0301", "caf\u00e9\u200b"])
def test_names_that_look_the_same_are_refused(tmp_path: Path, other: str) -> None:
    with pytest.raises(UsageError, match="two models have names that look the same, café, ") as caught:
        resolve(plan(tmp_path, models=[player("caf\u00e9"), player(other)]))
    assert ascii(other) in str(caught.value.got)


def test_a_panel_needs_a_judge(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is a panel but no judge"):
        resolve(plan(tmp_path, roles={"panel": [player("p")]}))


def test_a_model_may_sit_on_the_panel(tmp_path: Path) -> None:
    found = resolve(plan(tmp_path, roles={"judge": player("j"), "panel": [player("core")]}))
    assert [entry.name for entry in found.plan.judges("long_mini_qa")] == ["j", "core"]


def test_a_plan_says_which_embedding_model_auto_is(tmp_path: Path) -> None:
    judge = player("j")
    retrieving = resolve(plan(tmp_path, roles={"judge": judge}, settings=["base", "rag"])).plan.retrieval
    assert retrieving.embedder in {"minilm", "BAAI/bge-m3"}
    for not_embedding in ({"settings": ["base"]}, {"settings": ["rag"], "retrieval": {"ranking": "bm25"}}):
        assert resolve(plan(tmp_path, roles={"judge": judge}, **not_embedding)).plan.retrieval.embedder == "auto"


def test_a_plans_sample_wins_over_the_blueprints(tmp_path: Path) -> None:
    def sizes(**more: Any) -> tuple[int | None, dict[str, int]]:
        asked = ("longemotion_ee", "longemotion_ed")
        resolved = resolve(plan(tmp_path, benchmark="longemotion", datasets=asked, roles={"judge": player("j")}, **more))
        return resolved.plan.sample, {selected.spec.id: resolved.sample(selected) for selected in resolved.selected}

    assert sizes() == (None, {"longemotion_ed": 300, "longemotion_ee": 428})
    assert sizes(sample=7) == (7, {"longemotion_ed": 7, "longemotion_ee": 7})
    # Where all datasets have one size, the manifest names it, as runs before did.
    assert resolve(plan(tmp_path, roles={"judge": player("j")})).plan.sample == 300
