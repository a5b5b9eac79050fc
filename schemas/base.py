"""The base of every configuration object: frozen, and unknown keys are refused."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable typed model; a misspelt key is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
