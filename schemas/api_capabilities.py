"""Sampling parameters of a model, and how its API differs from the usual OpenAI chat API."""

from typing import Self

from pydantic import Field, JsonValue, model_validator

from schemas.base import Frozen, omittable
from schemas.json_yaml import read_json
from schemas.provider import TokenLimit, Unsent

OWN_FIELDS = frozenset({"model", "messages", "stream", "n"})
"""Fields of a body that no setting may replace: without them it would be another call, or an answer that is not read."""

SWITCH = {"true": True, "false": False}
"""Where reasoning is switched on and off instead of measured out, the body has a truth value."""

NOT_IN_EXTRA = OWN_FIELDS | {"prompt", "input", "models", "max_tokens", "max_completion_tokens"}
NOT_IN_EXTRA |= {"response_format", "logprobs", "top_logprobs"}
"""Those fields, other names of them, and what a call sets where it needs it."""


class Sampling(Frozen):
    """Parameters that change what a model answers."""

    temperature: float = Field(default=0.0, ge=0, le=2, description="0 = the likeliest token; higher = more varied")
    top_p: float = Field(default=1.0, gt=0, le=1, description="tokens are drawn from this share of the probability; 1 = all")
    max_tokens: int = Field(default=512, ge=1, description="longest reply, in the model's own tokens")
    seed: int | None = Field(default=None, description="seed of the server's random draws; null = not sent")


class ApiCapabilities(Frozen):
    """How a model's API differs from the usual OpenAI chat API."""

    token_limit: TokenLimit = Field(default="max_tokens", description="name of the parameter that limits the reply's length")
    unsent: tuple[Unsent, ...] = Field(default=(), description="parameters to leave out because the server refuses them")
    reasoning_effort: str | None = Field(
        default=None, min_length=1, description="how much to reason, in the provider's own words"
    )
    effort_path: str = Field(
        default="reasoning_effort", pattern=r"^\w+(\.\w+)*$", description="its path in the request body, such as reasoning.effort"
    )
    extra: str | None = Field(default=None, description="a JSON object merged into the body of every call")
    stream: bool = omittable(default=False, description="ask for replies as event streams")
    fold_system: bool = omittable(default=False, description="put the system message in front of the user's")

    @model_validator(mode="after")
    def _effort_has_a_place_of_its_own(self) -> Self:
        if (first := self.effort_path.split(".")[0]) in {*OWN_FIELDS, *Sampling.model_fields, "response_format"}:
            raise ValueError(f"effort_path must not begin with {first}: MoodFlow sets that field")
        return self

    @model_validator(mode="after")
    def _extra_is_an_object(self) -> Self:
        extra = {} if self.extra is None else _read_extra(self.extra)
        if taken := sorted(name for name in extra if name.strip().lower() in NOT_IN_EXTRA):
            raise ValueError(f"extra has {', '.join(taken)}, which MoodFlow sets itself")
        return self


def _read_extra(text: str) -> dict[str, JsonValue]:
    try:
        extra = read_json(text)
    except ValueError as error:
        raise ValueError(f"extra is not a JSON object: {text[:80]!r} ({error})") from error
    is_object = isinstance(extra, dict)
    if not is_object:
        raise ValueError(f"extra is not a JSON object: {text[:80]!r}")
    return dict(extra)


def merge_objects(body: dict[str, JsonValue], extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Merge two objects, and objects within them likewise; elsewhere `extra` wins."""
    inner: dict[str, JsonValue] = {
        name: merge_objects(usual, value)
        for name, value in extra.items()
        if isinstance(value, dict) and isinstance(usual := body.get(name), dict)
    }
    return body | extra | inner


DEFAULT_CAPABILITIES = ApiCapabilities()
