"""Providers that are known by name, what works with a model, and how far models agree with people as judges."""

from pydantic import Field

from schemas.api_capabilities import ApiCapabilities
from schemas.base import Frozen
from schemas.canary import CanaryRecord
from schemas.documents.document import Document
from schemas.provider import Capability, CapabilityFinding, ModelQuirks, Quirks, ReasoningPlace, TokenLimit, Unsent, Verdict


class ProviderRow(Frozen):
    """A provider, or a kind of local server."""

    id: str
    title: str = Field(description="name in reports")
    base_url: str
    api_key_env: str | None = Field(description="environment variable of its key; null = it needs no key")
    key_is_set: bool | None = Field(description="whether that variable is set; null = it needs no key")
    names: tuple[str, ...] = Field(description="patterns of what its models are called; empty = anything")
    quirks: Quirks
    models: tuple[ModelQuirks, ...] = Field(description="what is different for some models; the first match counts")
    sources: tuple[str, ...] = Field(description="addresses of the documents that state this")
    verified: str = Field(description="date of the newest of these documents, `undated` or `not verified`")
    not_verified: tuple[str, ...] = Field(description="fields that no document at hand confirms")
    notes: tuple[str, ...]


class CheckedModel(Frozen):
    """What was found out about a model."""

    model: str = Field(description="its name")
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
    evidence: str = Field(description="what shows it, without a key")
    documented: str | None = Field(description="what the provider's documents say; null = they are not known, or say nothing")


class ModelCheck(CheckedModel, Document):
    """What works with a model."""

    answers: bool = Field(description="whether it answered at all")
    remembered: bool = Field(description="from an earlier check: no call was sent")
    file: str | None = Field(description="that keeps what was found; null = nothing is kept")
    calls: int = Field(description="that it took to find this out")
    echoed_model: str | None = Field(description="by which name the server calls the model; null = by none")
    capabilities: dict[Capability, CheckedCapability]
    long_prompt: CapabilityFinding | None = Field(description="whether all of one is read; null = not tried")


class AcceptedFindings(Document):
    """What canaries found of a model, which is taken for usual from now on."""

    accepted: tuple[CanaryRecord, ...]


class RatingSheet(Document):
    """A sheet on which people rate answers of a run."""

    run: str = Field(description="its name")
    answers: int
    files: tuple[str, ...]


class RefusedRating(Frozen):
    """A row of a filled sheet that is of no use, or is not there."""

    file: str
    line: int = Field(description="of the table, the header being 1; of a row that is not there, of the sheet as it was written")
    rule: str = Field(description="that it breaks")


class ImportedRatings(Document):
    """Ratings by people that came in: read = taken + empty + refused without the rows that are not there."""

    run: str = Field(description="its name")
    read: int = Field(description="rows of the sheets")
    empty: int = Field(description="rows without a rating, which is missing")
    taken: int = Field(description="ratings that are stored now")
    refused: tuple[RefusedRating, ...]
    scored_run: str | None = Field(default=None, description="run with scores of all ratings by now; null = none was taken")


RatedByPeople = RatingSheet | ImportedRatings
"""What is printed where people rate."""
