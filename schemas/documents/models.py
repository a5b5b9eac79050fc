"""Providers that are known by name, and what works with a model."""

from pydantic import Field

from schemas.api_capabilities import ApiCapabilities
from schemas.base import Frozen
from schemas.canary import CanaryRecord
from schemas.documents.document import Document
from schemas.provider import Capability, CapabilityFinding, ModelQuirks, Quirks, ReasoningPlace, TokenLimit, Unsent, Verdict


class ProviderRow(Frozen):
    """A provider, or a kind of local server."""

    id: str
    title: str
    base_url: str
    api_key_env: str | None = Field(description="environment variable of its key; null = it needs no key")
    key_is_set: bool | None = Field(description="whether that variable is set; null = it needs no key")
    quirks: Quirks
    models: tuple[ModelQuirks, ...] = Field(description="what is different for some models; the first match counts")
    sources: tuple[str, ...] = Field(description="addresses of the documents that state this")
    verified: str = Field(description="date of the newest of these documents, `undated` or `not verified`")
    not_verified: tuple[str, ...] = Field(description="fields that no document at hand confirms")
    notes: tuple[str, ...]


class CheckedModel(Frozen):
    """What was found out about a model."""

    model: str
    server: str = Field(description="URL without credentials; empty for the embedded server")
    probed_at: str = Field(description="time, ISO 8601")
    latency_s: float | None = Field(description="seconds, of the call that was answered; null = none was")
    token_limit: TokenLimit | None = Field(description="parameter that limits a reply; null = none was accepted")
    unsent: tuple[Unsent, ...] = Field(description="what calls have to leave out, since it is refused")
    reasoning_in: ReasoningPlace | None = Field(description="where replies keep their reasoning; null = none was seen")
    dialect: ApiCapabilities = Field(description="how a run would call it, if its entry says nothing else")


class ModelList(Document):
    """Providers known by name, and the models that were checked."""

    providers: tuple[ProviderRow, ...]
    checked: tuple[CheckedModel, ...]


class CheckedCapability(Frozen):
    """Whether a model has a capability, and what shows it."""

    verdict: Verdict
    evidence: str
    documented: str | None = Field(description="what the provider's documents say; null = they are not known, or say nothing")


class ModelCheck(CheckedModel, Document):
    """What works with a model."""

    answers: bool
    remembered: bool = Field(description="from an earlier check: no call was sent")
    file: str | None = Field(description="that keeps what was found; null = nothing is kept")
    calls: int = Field(description="that it took to find this out")
    echoed_model: str | None = Field(description="by which name the server calls the model; null = by none")
    capabilities: dict[Capability, CheckedCapability]
    long_prompt: CapabilityFinding | None = Field(description="whether all of one is read; null = not tried")


class AcceptedFindings(Document):
    """What canaries found of a model, which is taken for usual from now on."""

    accepted: tuple[CanaryRecord, ...]
