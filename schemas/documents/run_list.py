"""The runs of a lake."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.changes import RunState
from schemas.documents.document import Document, SystemName
from schemas.documents.leaderboard import Verdict

RUN_NUMBER = Field(description="by which commands take it, as #12; null = its folder was renamed")


class BestTotal(SystemName):
    """The highest total of a run, or what is said of the first model if none has a total."""

    total: float | None = Field(description="0 if vetoed; null if the verdict is one without a total")
    verdict: Verdict


class ListedRun(Frozen):
    """A run of the lake."""

    run: str = Field(description="its name")
    number: int | None = RUN_NUMBER
    benchmark: str = Field(description="id of its blueprint")
    models: tuple[str, ...] = Field(description="under test")
    started_at: str
    finished_at: str
    partitions: int
    missing: int = Field(description="datasets that yield no score, or not over all their rows")
    calls_sent: int
    best: BestTotal | None = Field(description="null = the scores of the run cannot be read")
    report: str | None = Field(description="path of the page; null = none was written")
    state: RunState | Literal["damaged"] | None = Field(description="how it ended; null = it was compared with no run before")


class RunList(Document):
    """The runs of a lake."""

    runs: tuple[ListedRun, ...] = Field(description="newest first")
