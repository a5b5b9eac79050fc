"""The documents of commands that make one run or several, or forecast one."""

from pydantic import Field

from schemas.documents.comparison import RunComparison
from schemas.documents.forecast import RunForecast
from schemas.documents.run import InferDocument, RunDocument


class SeveralRuns(RunDocument):
    """The first of several runs, and the others."""

    more: tuple[RunDocument, ...]

    @property
    def runs(self) -> tuple[RunDocument, ...]:
        """The runs that a command made one after the other."""
        return (self, *self.more)


class VariedRuns(SeveralRuns):
    """The runs of the variants of a plan."""

    variants: dict[str, str] = Field(description="run of each, by what is set for it")
    comparisons: tuple[RunComparison, ...] = Field(description="of each later run with the first")


AnyRun = VariedRuns | SeveralRuns | RunDocument | RunForecast
AnyInference = InferDocument | RunForecast
