"""The record of how far the numbers of a run may be set beside a paper's, computed from what was run."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen

Likeness = Literal["same", "close", "not comparable"]
"""`same`: asked and scored as the paper did. `close`: otherwise, in ways that move a number a little. `not comparable`: what the
numbers measure is not the same.
"""

LIKENESS: tuple[Likeness, ...] = ("same", "close", "not comparable")
"""From the best to the worst."""

Respect = (
    Literal["items", "setting", "coverage", "lost", "sample", "source", "language", "prompts", "rubric", "judge"]
    | Literal["temperature", "repetitions", "orders", "profile", "differences", "weight", "instrument"]
)
"""In which respect something was asked or scored otherwise than in a paper."""

Shares = dict[str, float]
"""Share of the datasets by language: `en`, `zh`, or `en+zh` for those in both."""


class Departure(Frozen):
    """One way in which a dataset, or all of a run, was asked or scored otherwise."""

    respect: Respect
    likeness: Likeness = Field(description="what it leaves of the comparison")
    text: str


class DatasetLikeness(Frozen):
    """How far one dataset is that of the paper; `differences` are its own, those of the whole run left out."""

    dataset: str
    verdict: Likeness
    differences: tuple[Departure, ...]


class Position(Frozen):
    """Above how many of the ranked published models a total is: itself, and the ends of its 95 % interval."""

    above: int = Field(ge=0)
    above_low: int = Field(ge=0)
    above_high: int = Field(ge=0)
    models: int = Field(ge=1)

    @property
    def words(self) -> str:
        """Return the position for readers."""
        ends = f"{self.above_low} to {self.above_high} at the ends of its interval"
        return f"above {self.above} of the {self.models} ranked published models ({ends})"


class Comparability(Frozen):
    """How far one model's numbers, in one setting, may be set beside a paper's."""

    model: str
    setting: str
    paper: str
    verdict: Likeness = Field(description="of the total")
    reasons: tuple[Departure, ...] = Field(description="of the total; those of its datasets counted")
    abilities: dict[str, Likeness]
    datasets: tuple[DatasetLikeness, ...]
    position: Position | None = Field(description="null = the total may not be ranked against published models")
    languages: dict[str, Shares] = Field(description="of `run`, `paper`, `gate`, `gate of paper`, as far as they are known")
