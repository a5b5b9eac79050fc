"""An ablation: one or two factors of a plan that are varied, everything else being equal."""

from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Frozen
from schemas.plan import Plan, shown_names
from schemas.roles import RoleModels

FACTORS = ("reasoning_effort", "length", "depth", "chunk_tokens", "top_k", "ranking", "embedder", "preset")
"""What can be varied besides the model of a role."""


class Varied(Frozen):
    """A factor and its values, as they are given on the command line."""

    factor: str = Field(description="what is varied: a factor, or a role by its name, whose values are names of models")
    values: tuple[str, ...] = Field(min_length=1, description="its values, as on the command line")


class AblationRequest(Frozen):
    """A plan and what is varied in it."""

    name: str = Field(min_length=1, description="name of the ablation, such as `retrieval`")
    plan: Plan = Field(description="everything that is not varied")
    varied: tuple[Varied, ...] = Field(min_length=1, max_length=2, description="one factor or two; every combination is run")

    @property
    def title(self) -> str:
        """Return the name of the run in the Prefect UI."""
        models = shown_names(model.name for model in self.plan.models)
        return f"{self.name}, {Path(self.plan.benchmark).stem}: {models}"


def number_of(value: str) -> float | None:
    """Return a factor's value as a number, null if it is none."""
    try:
        return float(value)
    except ValueError:
        return None


def vary(plan: Plan, factor: str, value: str) -> dict[str, Any]:
    """Return the fields of a plan whose factor has this value, as JSON; the plan's own checks are still to be made.

    Args:
        plan: everything else.
        factor: what is varied.
        value: as given on the command line.
    """
    # What was not set stays so: API capabilities that are set win over what a probe finds.
    fields = plan.model_dump(mode="json", exclude_unset=True)
    if factor == "reasoning_effort":
        for entry in fields["models"]:
            entry["dialect"] = {**(entry.get("dialect") or {}), "reasoning_effort": value}
    elif factor in {"length", "depth"}:
        fields["contexts"] = {**fields.get("contexts", {}), f"{factor}s": [value]}
    elif factor in FACTORS:
        fields["retrieval"] = {**fields.get("retrieval", {}), factor: value}
    else:
        named = plan.roles.get(factor, RoleModels(default=plan.models[:1]))
        role = named.map_entries(lambda entry: entry.model_copy(update={"name": value}))
        fields["roles"] = {**fields.get("roles", {}), factor: role.model_dump(mode="json", exclude_unset=True)}
    return fields
