"""The report stage's request."""

from pydantic import Field

from schemas.base import Frozen
from schemas.canary import CanaryFinding
from schemas.lineage import CallCounts, Missing
from schemas.plan import Plan
from schemas.usage import Usage


class ReportRequest(Frozen):
    """A plan whose scores are in the lake, and what only the run itself knows."""

    plan: Plan
    run: str = Field(description="name of the run, beginning with its start time")
    started_at: str = Field(description="ISO 8601, UTC")
    calls: CallCounts = CallCounts()
    missing: tuple[Missing, ...] = ()
    usage: tuple[Usage, ...] = Field(default=(), description="measured by the infer stage; empty if it had nothing to ask")
    canaries: tuple[CanaryFinding, ...] = ()

    @property
    def title(self) -> str:
        """How the run is named in the Prefect UI."""
        return self.plan.title
