"""Facts about providers of models, known before the first call; findings of a probe; prices of tokens, written by the user."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from schemas.base import Frozen
from schemas.vocabulary import PaidAs

TokenLimit = Literal["max_tokens", "max_completion_tokens"]
"""Name of the parameter that limits the length of a reply."""

Support = Literal["yes", "no", "ignored", "some", "unknown"]
"""What becomes of a parameter: `no` refused, `ignored` accepted without effect, `some` depends on the model."""

ReasoningPlace = Literal["reasoning_content", "reasoning", "content_part", "think"]
"""Where a reply keeps its reasoning: in a field of its own, in a part of a list of contents, or between marks in the text."""

Pattern = Annotated[str, Field(min_length=1, description="model name as a shell pattern, such as o3*")]


class Quirks(Frozen):
    """How an endpoint differs from others that speak the OpenAI chat API."""

    token_limit: TokenLimit = "max_tokens"  # noqa: S105  a parameter's name
    temperature: Support = Field(default="unknown", description="whether it can be set; benchmarks need 0")
    top_p: Support = "unknown"
    seed: Support = "unknown"
    logprobs: Support = Field(default="unknown", description="logprobs and top_logprobs")
    json_schema: Support = Field(default="unknown", description="response_format of type json_schema")
    stream_options: Support = "unknown"
    reasoning_in: tuple[ReasoningPlace, ...] = Field(default=(), description="places seen, the usual one first; empty = none")
    reasoning_effort: str | None = Field(default=None, description="path of the parameter in the body; null = none or unknown")
    rate_limit_headers: tuple[str, ...] = Field(default=(), description="names of response headers; empty = none known")


class ModelQuirks(Quirks):
    """What is different for some models of a provider; what is not set is as for the others."""

    match: tuple[Pattern, ...] = Field(min_length=1)


class StatementSource(Frozen):
    """Where a statement was looked up."""

    url: str = Field(pattern="^https://")
    verified: date | Literal["undated"] = Field(description="date of the document as it states it")


class Provider(Frozen):
    """One provider, or one kind of local server.

    What is stated is in `sources`, except the fields that `not_verified` names: those are common knowledge that no document at
    hand confirms. What is not known is `unknown`, and found out by a probe.
    """

    id: str = Field(pattern="^[a-z][a-z0-9_]*$")
    title: str = Field(min_length=1)
    base_url: str = Field(pattern="^https?://[^@]*[^/]$", description="what /chat/completions is appended to")
    api_key_env: str | None = Field(
        pattern="^[A-Z][A-Z0-9_]*$", description="usual environment variable of the key; null = no key"
    )
    names: tuple[Pattern, ...] = Field(default=(), description="well-known names of its models; empty = any")
    quirks: Quirks = Quirks()
    models: tuple[ModelQuirks, ...] = Field(default=(), description="the first that matches a model counts")
    sources: tuple[StatementSource, ...] = ()
    not_verified: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verified(self) -> str:
        """Newest date among the sources."""
        dates = [source.verified for source in self.sources if isinstance(source.verified, date)]
        return str(max(dates)) if dates else "undated" if self.sources else "not verified"

    def quirks_of(self, model: str) -> Quirks:
        """Return the quirks of one model: those of the provider, and what the first matching entry of `models` says otherwise."""
        special = next((entry for entry in self.models if any(fnmatchcase(model, pattern) for pattern in entry.match)), None)
        changes = special.model_dump(exclude={"match"}, exclude_unset=True) if special else {}
        return self.quirks.model_copy(update=changes)


Verdict = Literal["yes", "no", "unknown"]
Capability = Literal[
    "answers",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "json_schema",
    "logprobs",
    "usage",
    "finish_reason",
    "same_model",
    "reasoning",
    "system_role",
    "whole_reply",
    "stream",
    "stream_options",
]
Unsent = Literal["temperature", "top_p", "seed", "json_schema", "stream_options"]
"""What a call can do without: sampling parameters, token counts of a stream, and the schema of a judge's reply, whose form its
prompt states too."""

CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
UNSENT: tuple[Unsent, ...] = get_args(Unsent)


@dataclass(frozen=True)
class CapabilityFinding:
    """Whether an endpoint has a capability, and what shows it; the evidence holds no key."""

    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class ModelProbe:
    """What a model was found to accept and return. Field `findings` has every capability."""

    version: int
    model: str
    server: str
    """URL without credentials; empty for the embedded server."""
    probed_at: str
    calls: int
    latency_s: float | None
    """Of the call that was answered."""
    echoed_model: str | None
    reasoning_in: ReasoningPlace | None
    findings: Mapping[Capability, CapabilityFinding]
    long_prompt: CapabilityFinding | None = None
    """Whether all of one is read, as `models check` finds out; null = not tried."""

    @property
    def answers(self) -> bool:
        """Whether the model answered at all."""
        return self.findings["answers"].verdict == "yes"

    @property
    def token_limit(self) -> TokenLimit | None:
        """The limit of the reply's length that was accepted; null if none was."""
        limits: tuple[TokenLimit, ...] = get_args(TokenLimit)
        return next((name for name in limits if self.findings[name].verdict == "yes"), None)

    @property
    def unsent(self) -> tuple[Unsent, ...]:
        """What calls have to leave out, since it is refused; a schema also where it has no effect."""
        return tuple(name for name in UNSENT if self.findings[name].verdict == "no")


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
    batch_factor: float | None = Field(default=None, ge=0, description="price of a batch, as a share of the live one")
    batch_input_per_million: float | None = Field(default=None, ge=0, description="prompt tokens in a batch")
    batch_output_per_million: float | None = Field(default=None, ge=0, description="completion tokens in a batch")

    @model_validator(mode="after")
    def _states_the_price_of_batches_once(self) -> Self:
        has_input, has_output = (price is not None for price in (self.batch_input_per_million, self.batch_output_per_million))
        if has_input != has_output or (has_input and self.batch_factor is not None):
            raise ValueError("give batch_factor, or batch_input_per_million and batch_output_per_million")
        return self

    def of(self, paid_as: PaidAs) -> Rate | None:
        """Return what calls cost that are paid in this way; null = not known, as always of replies by a file."""
        if paid_as == "live":
            return self
        prices = (self.batch_input_per_million, self.batch_output_per_million)
        if self.batch_factor is not None:
            prices = (self.batch_factor * self.input_per_million, self.batch_factor * self.output_per_million)
        if paid_as == "file" or prices[0] is None or prices[1] is None:
            return None
        return Rate(input_per_million=prices[0], output_per_million=prices[1])

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
