"""The base of every configuration object: frozen, and unknown keys are refused; and fields that its JSON need not have."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Immutable typed model; a misspelt key is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def omittable(default: Any = None, **rules: Any) -> Any:
    """Return a field that is left out of the JSON while it has its default; `rules` are arguments of pydantic's Field."""
    return Field(default=default, exclude_if=lambda value: value == default, **rules)
