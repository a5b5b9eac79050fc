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
    identity: str = Field(default="", description="identity of its endpoint, in the epoch that was asked")
    epoch: int = Field(default=1, ge=1, description="1 + the number of times it was found changed and asked again")
    pairs: int = Field(default=0, ge=0, description="calls at temperature 0 that were answered twice in one night")
    calls: int = Field(default=0, ge=0, description="different calls among these; they take turns")
    noise: int = Field(default=0, ge=0, description="pairs where one reply equals the stored one and the other does not")
    others: tuple[str, ...] = Field(default=(), description="keys of calls whose last two replies agree, but differ from it")
    usual: float = Field(default=0, ge=0, le=1, description="share of calls with accepted differences")
    last: str = Field(default="", description="key of the call that was asked last")
    names: tuple[str, ...] = Field(default=(), description="names that the server used for the model")
    served: tuple[str, ...] = Field(default=(), description="names it has used since, not accepted yet")


class CanaryFinding(Frozen):
    """Whether a model is still the one that gave the journaled replies."""

    model: str
    identity: str
    asked: int = Field(default=0, description="calls that were answered")
    compared: int = Field(default=0, description="stored replies at temperature 0 whose call was answered twice")
    differing: int = Field(default=0, description="of these, replies where both answers agree, but not with the stored one")
    noise: int = Field(default=0, description="of these, replies where only one answer differs")
    unsteady: int = Field(default=0, description="of these, replies where both answers differ, also from each other")
    record: CanaryRecord = Field(default=CanaryRecord(), description="all counts so far, including this run's")
    evidence: float = Field(default=1, description="how many times likelier these counts are if the model changed")
    changed: bool = Field(default=False, description="the evidence is decisive, or the server uses a new name for the model")
    epoch: int = Field(default=1, description="epoch that the run uses")
    anew: bool = Field(default=False, description="the epoch begins with this run")
    example: tuple[str, str] | None = Field(default=None, description="a stored reply, and the reply of today")
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
        record, odds = self.record, f"{self.evidence:.1f} times likelier if the model changed, decided at {DECIDED:.0f}"
        parts = (
            f"{self.differing} of {self.compared} replies differ from the journal, own noise {self.noise} of {self.compared}",
            f"{self.unsteady} more change each time" if self.unsteady else "",
            f"so far {len(record.others)} of {record.calls}, own noise {record.noise} of {record.pairs}",
            f"it is now served as {', '.join(record.served)}, was {', '.join(record.names)}" if record.served else "",
            "the model changed under the same name" if self.changed else odds if self.drifting else "",
        )
        return "; ".join(filter(None, parts))

    @property
    def message(self) -> str:
        """Return what was found, with the evidence, in words."""
        about = f"canary of {self.model} at {self.identity}: "
        if not self.asked:
            return f"{about}no result: {self.error or 'the journal has no reply from it'}"
        example = "for example {!r} is now {!r}".format(*self.example) if self.example else ""
        kept = "scores rest on the journal; --set ask_changed=true asks it again once decided, moodflow models accept ends this"
        step = kept if self.drifting else f"it is asked again, epoch {self.epoch}" if self.anew else ""
        seen = self.difference or f"no change in {self.compared} replies at temperature 0"
        return about + "; ".join(filter(None, (seen, example, step, self.error)))
