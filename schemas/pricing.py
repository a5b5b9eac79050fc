"""Price table of tokens, written by the user. None ships with MoodFlow, since prices change and cannot be verified here."""

from datetime import date
from fnmatch import fnmatchcase

from pydantic import Field

from schemas.base import Frozen
from schemas.provider import Pattern


class Rate(Frozen):
    """Price of a million tokens, sent and received."""

    input_per_million: float = Field(ge=0, description="prompt tokens")
    output_per_million: float = Field(ge=0, description="completion tokens, those of reasoning included")

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of tokens, in the currency of the table."""
        return (prompt_tokens * self.input_per_million + completion_tokens * self.output_per_million) / 1_000_000


FREE = Rate(input_per_million=0, output_per_million=0)
"""Rate of the embedded model: it runs on the user's own machine."""


class Price(Rate):
    """Price of some models, and where it was read when."""

    model: Pattern
    base_url: str | None = Field(default=None, min_length=1, description="beginning of the server's URL; null = any server")
    as_of: date = Field(description="day on which the source said so")
    source: str = Field(min_length=1, description="where the price was read")

    def is_of(self, model: str, base_url: str) -> bool:
        """Say whether it is the price of this model at this server."""
        # At a slash, or else port 80 would be the beginning of port 8000.
        served = self.base_url is None or f"{base_url.rstrip('/')}/".startswith(f"{self.base_url.rstrip('/')}/")
        return served and fnmatchcase(model, self.model)


class PriceTable(Frozen):
    """Prices in one currency; the first that fits a model counts."""

    currency: str = Field(pattern="^[A-Z]{3}$", description="ISO 4217 code, such as USD")
    prices: tuple[Price, ...]

    def find(self, model: str, base_url: str) -> Price | None:
        """Find the price of a model at a server, or null: not known, which is not the same as nothing."""
        return next((price for price in self.prices if price.is_of(model, base_url)), None)
