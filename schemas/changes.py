"""Changes between a run and the one before it, and which of them are regressions."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen

RunState = Literal["Completed", "UpToDate", "Drifting", "BudgetSpent", "Regressed", "Failed"]
"""How a run ended. `UpToDate`: no call was sent and every partition is one of the previous run's. `Drifting`: a canary found
differences beyond the server's own noise that nobody accepted. `BudgetSpent`: the budget left calls unsent. `Regressed`: a score
fell by more than its interval, the veto was newly triggered, or coverage dropped. `Failed`: calls failed, and none was answered,
in this run or earlier."""

UNSUCCESSFUL: frozenset[RunState] = frozenset({"Regressed", "Failed"})
"""States that are not shown in green."""

NOT_COMPARABLE = "no earlier run can be compared"
"""Beginning of the reason why a run was not watched, although there are earlier ones."""

TOTAL = "total"
"""What a change is of, where it is not of an ability. It is the total before the veto; the veto is a finding of its own."""


class ScoreDifference(Frozen):
    """One score of a model and setting in the previous run and in this one, over the items scored in both.

    Scores are null where the two runs cannot be compared, `note` then says why; the interval is null where there is none.
    """

    what: str = Field(description="`total`, name of a main ability, or `DATASET: DIMENSION` of what a judge rated")
    scale: tuple[int, int] = Field(default=(0, 100), description="lowest and highest possible value")
    rubric: str | None = Field(default=None, description="rubric of a dimension; null = total or ability")
    better: Literal["high", "low"] = Field(default="high", description="which end of the scale is the good one")
    before: float | None = None
    after: float | None = None
    change: float | None = Field(default=None, description="after - before")
    ci_low: float | None = Field(default=None, description="95 % interval of the change")
    ci_high: float | None = None
    allowed: float | None = Field(
        default=None, ge=0, description="distance from before to the worse limit of its own 95 % interval"
    )
    n_items: int = Field(default=0, ge=0, description="items scored in both runs")
    note: str | None = None

    @property
    def label(self) -> str:
        """Return the name of the score for readers; of a dimension with its scale."""
        mark = ", lower is better" if self.better == "low" else ""
        return self.what if self.rubric is None else f"{self.what.replace('_', ' ')} ({self.scale[0]} to {self.scale[1]}{mark})"


class Regression(Frozen):
    """One way in which a model and setting regressed."""

    what: str = Field(description="name of a score, or `veto`, `coverage` or `item coverage`")
    before: float | bool | None
    after: float | bool | None
    allowed: float | None = Field(default=None, description="largest fall that is not a regression; null = none")
    message: str


class SystemChanges(Frozen):
    """What became of one model and setting since the newest earlier run that can be compared."""

    model: str
    setting: str
    previous: str | None = Field(default=None, description="the run compared with; null = there is none")
    reason: str | None = Field(default=None, description="why there is none")
    changes: tuple[ScoreDifference, ...] = ()
    findings: tuple[Regression, ...] = ()
    remarks: tuple[str, ...] = Field(default=(), description="changes that are not regressions, such as a lifted veto")


class RunChanges(Frozen):
    """What changed since earlier runs, of every model and setting of a run. In the lake: `runs/<run>/changes.json`."""

    run: str
    benchmark: str
    state: RunState
    previous: str | None = Field(default=None, description="newest run that any model and setting was compared with")
    reason: str | None = Field(default=None, description="why there is none")
    units: tuple[SystemChanges, ...] = ()
    remarks: tuple[str, ...] = Field(default=(), description="other findings, such as runs that cannot be read")
    canary_calls: int = Field(default=0, ge=0, description="answered calls whose reply is also in the journal")
    differences: tuple[str, ...] = Field(default=(), description="differences from the journal that canaries found, by model")

    @property
    def unwatched(self) -> bool:
        """Whether there are earlier runs, and none that can be compared."""
        return self.previous is None and bool(self.reason and self.reason.startswith(NOT_COMPARABLE))

    @property
    def regressed(self) -> tuple[SystemChanges, ...]:
        """Models and settings with a finding."""
        return tuple(system for system in self.units if system.findings)
