"""The documents about calls that a provider answers as a batch."""

from typing import Literal

from pydantic import Field

from schemas.documents.document import Document
from schemas.lineage import CallCounts

BatchState = Literal["planned", "uploaded", "submitting", "submitted", "collected", "failed", "given_up"]
ENDED: tuple[BatchState, ...] = ("collected", "failed", "given_up")
"""States of jobs that hold no call."""


class BatchJob(Document):
    """Calls that were given to a provider together."""

    job: str = Field(description="its name: SHA-256 of the endpoint's identity, the keys of its calls and the attempt")
    provider: str = Field(description="whose limits hold, an entry of data/batch_apis.yaml")
    identity: str = Field(description="of the endpoint, as the journal has it")
    model: str = Field(description="that is asked")
    remote_id: str | None = Field(description="the provider's name for it; null = it is not known to have one")
    state: BatchState = Field(description="the last step that is done")
    status: str | None = Field(description="in the words of the provider, when it was last asked; null = it was not asked")
    counts: dict[str, int | None] = Field(description="of the provider, when it was last asked; null = it did not say")
    errors: tuple[str, ...] = Field(description="why the provider refused the whole job")
    created: str = Field(description="ISO 8601, UTC")
    window_ends: str | None = Field(description="when the provider gives up what it has not answered; null = not said")
    calls: int
    open: int = Field(description="calls that wait for a reply; no run sends them")
    answered: int = Field(description="calls whose reply is in the journal")
    free: int = Field(description="calls without a reply, which the next run may send")
    failed: int = Field(description="of the free calls, those that failed for good; the next run tells them before it asks again")


class BatchList(Document):
    """The batches of a lake."""

    jobs: tuple[BatchJob, ...] = Field(description="oldest first")


class BatchNews(BatchList):
    """What was done about batches."""

    answered: int = Field(default=0, description="replies that came into the journal")
    failed: int = Field(default=0, description="calls that failed for good")
    freed: int = Field(default=0, description="calls that are still to be asked")
    rules: dict[str, int] = Field(default_factory=dict, description="lines that were refused, by the rule that they break")
    notes: tuple[str, ...] = Field(default=(), description="what was found, in words")


class WaitingRun(BatchList):
    """A run that ended before scoring, because batches or another machine have calls of it."""

    calls: CallCounts
    jobs: tuple[BatchJob, ...] = Field(description="that hold calls")
    files: tuple[str, ...] = Field(default=(), description="request files that were written for another machine")
