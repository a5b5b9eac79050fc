"""The row of a system: what is said of the total of a model in one setting, wherever it is said."""

from typing import Literal

from pydantic import ConfigDict, Field

from schemas.base import Frozen
from schemas.comparability import Comparability

Verdict = Literal["scored", "vetoed", "undecided", "too little scored", "instrument failed", "unscored"]
"""`scored`: a total that stands. `vetoed`: 0 by the gate. `undecided`: a total whose veto is open, since too little of the gate
was scored. The others have no total: fewer than half of the datasets are scored, an instrument failed, or nothing is scored.
"""


class JudgedTotal(Frozen):
    """The total of a model in one setting, with what may be said of it. Scores are on 0-100; null = missing."""

    model: str
    setting: str
    total: float | None = Field(description="0 if vetoed; null if the verdict is one without a total")
    total_before_veto: float | None = Field(description="the mean of the main abilities but the gate, of what was scored")
    ci_low: float | None = Field(description="95 % interval of total_before_veto; null = none was computed")
    ci_high: float | None
    gate_score: float | None = Field(description="of the main ability that can veto; null = no gate, or nothing of it was scored")
    gate_ci_low: float | None = Field(description="95 % interval of gate_score")
    gate_ci_high: float | None
    gate_coverage: float | None = Field(description="share of the gate's datasets that have a score")
    gate_item_coverage: float | None = Field(description="share of their items that have a score")
    vetoed: bool | None = Field(description="null = too little of the gate was scored to decide")
    veto_reason: str | None
    rank: int | None = Field(description="within its setting and group; null = not ranked")
    coverage: float = Field(description="share of the benchmark's datasets that have a score")
    item_coverage: float | None = Field(description="share of the items asked that have a score; null = none was asked")
    datasets_scored: int
    datasets_total: int
    n_scored: int = Field(description="items with a score, one asked several times being several")
    n_total: int = Field(description="items asked")
    verdict: Verdict
    why: str | None = Field(description="what the verdict rests on; null = the score alone")
    headline: str = Field(description="the sentence to be said first")


class SystemRow(JudgedTotal):
    """A row of a leaderboard."""

    abilities: dict[str, float | None] = Field(description="score of each main ability by its id; null = nothing was scored")
    comparability: Comparability | None = Field(description="null = the benchmark is of no paper")


class StoredRow(SystemRow):
    """A row of a leaderboard of several runs."""

    run: str
    group: int = Field(description="number of the group that it is ranked in: runs asked and rated in the same way")
    fuller_run: str | None = Field(description="an earlier run of its group with more items scored")


class PublishedRow(SystemRow):
    """A row of a paper's table, with what else the paper states of the model."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | float | None]

    run: None = Field(default=None, exclude=True)
    group: int | None = Field(
        default=None, exclude_if=lambda group: group is None, description="where languages are ranked apart"
    )
