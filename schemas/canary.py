"""What became of asking journaled calls anew, and what is remembered of it."""

from pydantic import Field

from schemas.base import Frozen

SCHEDULED_CANARY = 8
"""Calls per model that a run of a deployment asks anew, each of them twice."""

DECIDED = 100.0
"""Evidence from which on a model is said to have changed: one that did not reaches it in one case of a hundred at most."""


class CanaryRecord(Frozen):
    """What canaries counted of a model since its epoch began, or since somebody accepted what they had found."""

    model: str = ""
    identity: str = Field(default="", description="of its endpoint, in the epoch that was asked")
    epoch: int = Field(default=1, ge=1, description="times it was found changed and asked anew, plus one")
    pairs: int = Field(default=0, ge=0, description="calls at temperature 0 that were answered twice in one night")
    calls: int = Field(default=0, ge=0, description="of these, different ones; they are asked in turn")
    noise: int = Field(default=0, ge=0, description="pairs of which one reply was the journaled one, and the other was not")
    others: tuple[str, ...] = Field(default=(), description="keys of calls whose last pair was alike, but not as journaled")
    usual: float = Field(default=0, ge=0, le=1, description="share of calls that somebody accepted as such others")
    last: str = Field(default="", description="key of the call whose turn it was last")
    names: tuple[str, ...] = Field(default=(), description="by which the server called the model")
    served: tuple[str, ...] = Field(default=(), description="by which it calls the model since, and nobody accepted")


class CanaryFinding(Frozen):
    """Whether a model is still the one that gave the journaled replies."""

    model: str
    identity: str
    asked: int = Field(default=0, description="calls that were answered")
    compared: int = Field(default=0, description="journaled replies at temperature 0 whose call was answered twice")
    differing: int = Field(default=0, description="of these, replies that both answers contradict alike")
    noise: int = Field(default=0, description="of these, replies that one answer contradicts, and the other does not")
    unsteady: int = Field(default=0, description="of these, replies that both answers contradict, each in its way")
    record: CanaryRecord = Field(default=CanaryRecord(), description="all that was counted, this time included")
    evidence: float = Field(default=1, description="how many times likelier these counts are of a changed model")
    changed: bool = Field(default=False, description="the evidence is decisive, or the server calls the model by a new name")
    epoch: int = Field(default=1, description="under which the run asks it")
    anew: bool = Field(default=False, description="the epoch begins with this run")
    example: tuple[str, str] | None = Field(default=None, description="a reply as journaled, and as it is now")
    error: str | None = Field(default=None, description="why a call was not answered; null = all were")

    @property
    def drifting(self) -> bool:
        """Whether the model may be another one than the run's scores are of, and nobody accepted that."""
        return not self.anew and (self.changed or self.evidence > 1)

    @property
    def difference(self) -> str | None:
        """Return in words what is not as journaled, tonight or since somebody last accepted that; null = nothing."""
        if not (self.differing or self.noise or self.unsteady or self.drifting or self.anew):
            return None
        record, odds = self.record, f"{self.evidence:.1f} times likelier of a changed model, decided at {DECIDED:.0f}"
        parts = (
            f"{self.differing} of {self.compared} replies differ from the journal, own noise {self.noise} of {self.compared}",
            f"{self.unsteady} more are another each time" if self.unsteady else "",
            f"so far {len(record.others)} of {record.calls}, own noise {record.noise} of {record.pairs}",
            f"it is now served as {', '.join(record.served)}, was {', '.join(record.names)}" if record.served else "",
            "the model changed behind its name" if self.changed else odds if self.drifting else "",
        )
        return "; ".join(filter(None, parts))

    @property
    def message(self) -> str:
        """Return what was found, with the evidence, in words."""
        about = f"canary of {self.model} at {self.identity}: "
        if not self.asked:
            return f"{about}nothing can be said, {self.error or 'the journal has no reply of it'}"
        example = "for example {!r} is now {!r}".format(*self.example) if self.example else ""
        kept = "scores rest on the journal; --set ask_changed=true asks it anew once decided, moodflow models accept ends this"
        step = kept if self.drifting else f"it is asked anew, epoch {self.epoch}" if self.anew else ""
        seen = self.difference or f"no change in {self.compared} replies at temperature 0"
        return about + "; ".join(filter(None, (seen, example, step, self.error)))
