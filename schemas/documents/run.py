"""Tokens and cost of a run."""

from pydantic import Field

from schemas.base import Frozen
from schemas.usage import Amounts, ModelUsage


class Cost(Frozen):
    """Tokens and cost of a run."""

    currency: str | None = Field(description="null = no price table was named")
    models: tuple[ModelUsage, ...]
    total: Amounts
    unpriced: tuple[str, ...] = Field(description="models whose price is not known")
    notes: tuple[str, ...] = Field(description="what has to be known about the numbers")
