"""Roles of a plan in every form in which they are written, and what a past run's manifest says of them."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from schemas.errors import UsageError
from schemas.plan import Plan
from tests.tasks.reporting.example_run import manifest

JUDGE, SECOND, SAGE, OTHER = ({"name": name, "base_url": f"http://{name}/v1"} for name in ("j", "second", "s", "t"))


def plan(**roles: Any) -> Plan:
    return Plan.model_validate({"benchmark": "b", "models": [{"name": "m", "base_url": "http://m/v1"}], **roles})


def names(found: Plan, dataset: str) -> dict[str, list[str]]:
    return {role: [entry.name for entry in found.role_models(role, dataset)] for role in found.roles}


@pytest.mark.parametrize(
    "written",
    [
        {"judge": JUDGE, "panel": [SECOND, SAGE], "sage": [SAGE]},
        {"judge": {"default": JUDGE}, "panel": {"default": [SECOND, SAGE]}, "sage": SAGE, "critic": {"default": None}},
    ],
    ids=["models alone", "by dataset"],
)
def test_every_form_of_role_is_same_plan(written: dict[str, Any]) -> None:
    found = plan(roles=written)
    assert names(found, "any") == {"judge": ["j"], "panel": ["second", "s"], "sage": ["s"]}
    assert Plan.model_validate(found.model_dump(mode="json")) == found
    assert [entry.name for entry in found.entries] == ["m", "j", "second", "s"]
    # A server of Prefect checks parameters by the form before a run begins.
    form = Draft202012Validator(Plan.model_json_schema())
    assert form.is_valid({"benchmark": "b", "models": [JUDGE], "roles": written})


EMPTY: tuple[Any, ...] = (
    None,
    {},
    "",
    [],
    {"default": []},
    {"default": None, "datasets": {}},
    {"default": {}, "datasets": ""},
    {"datasets": None},
)
"""What forms post for a role that nobody filled in."""


@pytest.mark.parametrize("empty", EMPTY)
def test_a_role_that_is_empty_is_not_named(empty: Any) -> None:
    posted = {"judge": empty, "panel": empty, "sage": empty, "critic": empty}
    assert plan(roles={**posted, "judge": JUDGE}) == plan(roles={"judge": JUDGE})
    assert plan(roles=posted) == plan(roles=None) == plan(roles="") == plan()


def test_role_may_change_by_dataset_or_vanish() -> None:
    found = plan(roles={"sage": {"default": SAGE, "datasets": {"d": OTHER, "own": None}}, "judge": {"datasets": {"d": JUDGE}}})
    assert names(found, "d") == {"sage": ["t"], "judge": ["j"]}
    assert names(found, "own") == {"sage": [], "judge": []}
    assert names(found, "any") == {"sage": ["s"], "judge": []}
    assert [found.role_model("sage", name) for name in ("own", "any")] == [None, found.named("sage")[0]]
    assert [entry.name for entry in found.named("sage")] == ["s", "t"]
    changed = found.map_entries(lambda entry: entry.model_copy(update={"concurrency": 3}))
    assert {entry.concurrency for entry in changed.entries} == {3}


def test_panel_without_judge_of_dataset_rates_nothing() -> None:
    found = plan(roles={"judge": {"datasets": {"d": JUDGE}}, "panel": [SECOND, JUDGE]})
    assert [[entry.name for entry in found.judges(name)] for name in ("d", "e")] == [["j", "second"], []]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"roles": [JUDGE]}, "roles are not a mapping"),
        ({"roles": {"sage": {"default": SAGE, "datasets": ["d"]}}}, "datasets of a role are not a mapping"),
        ({"roles": {"sage": [SAGE, OTHER]}}, "role sage takes one model; only the panel takes several"),
        ({"roles": {"sage": {"datasets": {"d": [SAGE, OTHER]}}}}, "role sage takes one model; only the panel takes several"),
        ({"roles": {"sage": {"default": SAGE, "dataset": {"d": OTHER}}}}, "roles.sage.dataset\n  Extra inputs are not permitted"),
        ({"judge": JUDGE}, "judge\n  Extra inputs are not permitted"),
    ],
)
def test_a_role_that_cannot_be_meant_is_refused(written: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, ValidationError)) as caught:
        plan(**written)
    assert message in str(caught.value)


def test_a_manifest_names_who_has_a_role() -> None:
    judge, panel = {"default": [JUDGE], "datasets": {"d": [OTHER], "e": [JUDGE]}}, {"default": [SECOND, SAGE], "datasets": {}}
    run = manifest(plan={"benchmark": "b", "models": [], "roles": {"judge": judge, "panel": panel}})
    assert run.models_in("panel") == [SECOND, SAGE]
    assert (run.names_in("judge"), run.names_in("sage")) == (["j", "t"], [])
    assert [run.role_models("judge", name) for name in ("d", "f")] == [[OTHER], [JUDGE]]
    assert run.role_models("sage", "d") == []
