"""The roles of a plan: which models take part besides those under test, for all datasets or for single ones."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from schemas.addresses import hide_credentials
from schemas.base import Frozen
from schemas.chat import ModelEntry
from schemas.errors import UsageError

JUDGE, PANEL = "judge", "panel"
JUDGES: Mapping[str, str] = {
    JUDGE: "model that judges free-text answers",
    PANEL: "further judges, to see whether they agree with the judge",
}
"""Roles that rate answers, and what they are. Any other is a solver's; where none is named the tested model has it, or nobody."""

PEOPLE = "people"
"""The judge of ratings by people, each of whom is one of its repetitions; no model is called so."""


def differs_by_dataset(role: Any) -> bool:
    """Return whether a role is described by dataset, and not by its models alone."""
    return isinstance(role, Mapping) and not role.keys().isdisjoint(("default", "datasets"))


def by_dataset(role: Any) -> dict[str, Any]:
    """Return a role in the form of `RoleModels`, each of its models in a list; what else is wrong with it, the plan refuses."""
    mapping = role if differs_by_dataset(role) else {"default": role}
    datasets = _mapping(mapping.get("datasets"), "datasets of a role", "ID: MODEL")
    listed = {name: _listed(models) for name, models in datasets.items()}
    return {**mapping, "default": _listed(mapping.get("default")), "datasets": listed}


def gather_roles(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a plan with its roles as `by_dataset` returns them, without empty ones, which a form posts."""
    if "roles" not in plan:
        return dict(plan)
    roles = {name: by_dataset(role) for name, role in _mapping(plan["roles"], "roles", "NAME: MODEL").items()}
    return {**plan, "roles": {name: role for name, role in roles.items() if any(role.values())}}


def map_role(role: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a role, as `by_dataset` returns it, with every model's entry changed."""
    datasets = {name: [change(entry) for entry in models] for name, models in role["datasets"].items()}
    return {**role, "default": [change(entry) for entry in role["default"]], "datasets": datasets}


def _listed(models: Any) -> Any:
    return models if isinstance(models, list | tuple) else [models] if models else []


def _mapping(value: Any, what: str, expected: str) -> dict[str, object]:
    if value and not isinstance(value, Mapping):
        got = hide_credentials(str(value))[:200]
        step = "for example roles: {judge: {name: NAME, base_url: URL}}"
        raise UsageError(f"{what} are not a mapping", where="roles", expected=expected, got=got, next_step=step)
    return dict(value or {})


Written = ModelEntry | tuple[ModelEntry, ...] | None

Models = Annotated[tuple[ModelEntry, ...], BeforeValidator(_listed, json_schema_input_type=Written)]


class RoleModels(Frozen):
    """The models of a role."""

    default: Models = Field(default=(), description="the role's model (for the panel, its models); none = the model under test")
    datasets: dict[str, Models] = Field(default_factory=dict, description="by dataset, where it differs")

    def map_entries(self, change: Callable[[ModelEntry], ModelEntry]) -> Self:
        """Return the same role with every model's entry changed."""
        return self.model_validate(map_role(dict(self), change))


WrittenRole = Annotated[RoleModels, BeforeValidator(by_dataset, json_schema_input_type=RoleModels | Written)]
"""A role as a plan may write it: its models alone, or those by dataset."""
