"""The result of a gate: conditions on the differences between two runs."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document

GateVerdict = Literal["failed", "undecided", "passed"]
"""failed: the whole interval meets the condition; passed: none of it does; undecided: a part, or there is none; worst first."""


class GateCheck(Frozen):
    """A condition, applied to one difference of a system."""

    condition: str = Field(description="as it was given")
    model: str = Field(description="its name in the run that is checked")
    setting: str = Field(description="how it was asked there")
    score: str = Field(description="id of the score; of a dimension `DATASET: DIMENSION`")
    difference: float | None = Field(description="after - before, over the items of both runs; null = there are none")
    ci_low: float | None = Field(description="lower end of its 95 % interval; null = too few items")
    ci_high: float | None = Field(description="upper end of its 95 % interval; null = too few items")
    n_items: int = Field(description="items of both runs")
    verdict: GateVerdict
    reason: str = Field(description="why it is undecided; empty = it is decided")


class GateResult(Document):
    """A run, checked against another by conditions."""

    run: str = Field(description="name of the run that is checked")
    against: str = Field(description="name of the run that it is compared with")
    benchmark: str = Field(description="id of its blueprint")
    verdict: GateVerdict = Field(description="the worst of all checks")
    warnings: tuple[str, ...] = Field(description="why scores cannot simply be compared; empty = they can")
    checks: tuple[GateCheck, ...] = Field(description="by model, setting and condition")
