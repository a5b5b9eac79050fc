"""What became of asking journaled calls anew, and what is remembered of it."""

from pydantic import Field

from schemas.base import Frozen

SCHEDULED_CANARY = 8
"""Calls per model in runs of a deployment: four that differ are told from chance even the first time."""


class CanaryRecord(Frozen):
    """What a model did in the canaries of a lake that found it unchanged, since its present epoch began."""

    epoch: int = Field(default=1, ge=1, description="times it was found changed and asked anew, plus one")
    compared: int = Field(default=0, ge=0, description="replies at temperature 0 that were asked for anew")
    differing: int = Field(default=0, ge=0, description="of these, replies that were not the journaled ones")
    names: tuple[str, ...] = Field(default=(), description="by which the server called the model")


class CanaryFinding(Frozen):
    """Whether a model is still the one that gave the journaled replies."""

    model: str
    identity: str
    asked: int = Field(default=0, description="calls that were answered anew")
    compared: int = Field(default=0, description="of these, calls at temperature 0")
    differing: int = Field(default=0, description="of these, replies that were others than before, and the same when asked twice")
    unsteady: int = Field(default=0, description="replies that were others than before, and others again when asked at once")
    before: CanaryRecord = CanaryRecord()
    names_now: tuple[str, ...] = Field(default=(), description="by which the server calls the model now, and did not before")
    changed: bool = Field(default=False, description="more than this server did before")
    epoch: int = Field(default=1, description="under which the run asks it")
    example: tuple[str, str] | None = Field(default=None, description="a reply as journaled, and as it is now")
    error: str | None = Field(default=None, description="why a call was not answered; null = all were")

    @property
    def message(self) -> str:
        """Return what was found, with the evidence, in words."""
        about = f"canary of {self.model} at {self.identity}: "
        if not self.asked:
            return f"{about}nothing can be said, {self.error or 'the journal has no reply of it'}"
        seen = f"{self.differing} of {self.compared} replies at temperature 0 are not those in the journal"
        usual = f"before, {self.before.differing} of {self.before.compared} were not" if self.before.compared else ""
        unsteady = f"{self.unsteady} more changed again when asked twice" if self.unsteady else ""
        named = f"it is now served as {', '.join(self.names_now)}, was {', '.join(self.before.names)}" if self.names_now else ""
        shown = "for example {!r} is now {!r}".format(*self.example) if self.changed and self.example else ""
        anew = "its scores rest on earlier replies; --set ask_changed=true asks it anew" if self.changed else ""
        if self.changed and self.epoch > self.before.epoch:
            anew = f"it is asked anew, epoch {self.epoch}"
        verdict = "the model changed behind its name" if self.changed else "no change"
        return about + "; ".join(part for part in (verdict, seen, usual, unsteady, named, shown, anew, self.error) if part)
