"""The bases of configuration objects, frozen and without unknown keys, and of what flows pass on; fields that may be left out."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Immutable typed model; a misspelt key is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Undivided(BaseModel):
    """Immutable parameter of flows that each is one of its kind, and is given on as it is.

    Prefect looks for results of tasks in every field of a parameter, and asks for its schema, which only a form would show: of a
    plan with its blueprint and datasets, that took a quarter of a small run.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Yield nothing of what is in it."""
        return iter(())

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: Any) -> dict[str, Any]:
        """Return that it is an object."""
        return {"type": "object"}


def omittable(default: Any = None, **rules: Any) -> Any:
    """Return a field that is left out of the JSON while it has its default; `rules` are arguments of pydantic's Field."""
    return Field(default=default, exclude_if=lambda value: value == default, **rules)
