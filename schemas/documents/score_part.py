"""A score and what it is made of."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, computed_field
from pydantic.dataclasses import dataclass

from schemas.base import omittable
from schemas.metrics import Metric, Normalisation

Kind = Literal["total", "ability", "sub_ability", "level", "task", "dataset", "metric"]

SAME = 1e-9
"""Far above rounding, far below what one item can change."""


@dataclass(frozen=True, kw_only=True)
class MetricPart:
    """What only a metric has: its raw score with interval in its own unit, and how that was put on 0-100."""

    dataset: str
    method: str
    metric: Metric
    rubric: str | None
    profile: str
    raw: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    standard_error: float | None = None
    n_clusters: int | None = None
    design_effect: float | None = None
    n_unparsed: int = 0
    constant_answer: Annotated[str | None, Field(description="the best one; null = none is asked for, or not looked up")] = None
    normalisation: Normalisation
    formula: str


@dataclass(frozen=True)
class ScorePart:
    """A score on 0-100 and what it is made of."""

    kind: Kind
    id: str
    title: str
    score: Annotated[float | None, Field(description="the stored one; null = nothing was scored")]
    weight: float
    datasets_scored: int
    datasets_total: int
    n_scored: int
    n_total: int
    computed: Annotated[float | None, Field(description="the weighted mean of its parts; of a metric its normalised raw score")]
    parts: "tuple[ScorePart, ...]" = omittable(default=(), description="absent = it has none, or they are not shown")
    share: Annotated[
        float | None,
        Field(description="its weight divided by the weights of all its scored siblings; null = it counts for nothing"),
    ] = None
    contributes: Annotated[float | None, Field(description="its share times its score; null = it counts for nothing")] = None
    constant: Annotated[
        float | None,
        Field(description="its score if each dataset had the best constant answer; null = one has none, or not looked up"),
    ] = None
    measured: MetricPart | None = omittable()
    note: str | None = omittable()
    next: str | None = omittable(description="the command that goes into it; absent = there is none")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def adds_up(self) -> bool:
        """Whether the stored score is what its parts give."""
        if self.score is None or self.computed is None:
            return self.score is self.computed
        return abs(self.score - self.computed) <= SAME

    def walk(self) -> Iterator["ScorePart"]:
        """Yield this part and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()
