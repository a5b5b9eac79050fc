"""Runs of a benchmark side by side: two compared, by a gate too, and several that one command made. Scores are on 0-100.

Before and after are the earlier and the later run.
"""

from typing import Literal

from pydantic import Field, JsonValue

from schemas.base import Frozen
from schemas.documents.answered_item import AnsweredItem
from schemas.documents.batches import WaitingRun
from schemas.documents.document import Document, SystemName
from schemas.documents.leaderboard import DimensionMean, JudgedTotal
from schemas.documents.plan import RunForecast
from schemas.documents.run import InferDocument, RunDocument

ScoreKind = Literal["total", "ability", "dataset"]


class RunDifference(Frozen):
    """A thing that differs between two runs besides their scores."""

    what: str = Field(description="place in the plan, the blueprint, the versions or the datasets")
    before: JsonValue
    after: JsonValue


class StoredScore(Frozen):
    """A score as each run has it, over all of its own items."""

    kind: ScoreKind
    id: str
    before: float | None = Field(description="null = it has none")
    after: float | None = Field(description="null = it has none")
    difference: float | None = Field(description="after - before; null = one of them has none")


class CommonScore(Frozen):
    """A score over the items that both runs scored; of a total it is that before the veto."""

    kind: ScoreKind
    id: str
    before: float
    after: float
    difference: float = Field(description="after - before")
    ci_low: float | None = Field(description="lower end of its 95 % interval; null = too few clusters, or a grade")
    ci_high: float | None = Field(description="upper end of its 95 % interval; null as ci_low")
    n_items: int = Field(description="items scored in both runs")
    answer: Literal["different", "equivalent", "both", "undecided"] = Field(
        description="different = the interval leaves out 0; equivalent = smaller than the margin; both = they differ by less"
    )
    margin: float = Field(description="difference that would matter, in points, chosen before")
    p_value: float | None = Field(description="of no difference; null as ci_low")
    p_equivalent: float | None = Field(description="of a difference of the margin or more; null as ci_low")
    smallest_detectable: float | None = Field(description="difference that 80 of 100 such runs would find; null as ci_low")


class DimensionChange(Frozen):
    """Means of a rated dimension as each run has them, over all answers rated there, in points of its scale."""

    dataset: str = Field(description="its id")
    rubric: str = Field(description="its id")
    dimension: str = Field(description="of the rubric")
    better: Literal["high", "low"] = Field(default="high", description="which end of the scale is the good one")
    before: DimensionMean | None = Field(description="null = not rated there")
    after: DimensionMean | None = Field(description="null = not rated there")
    difference: float | None = Field(description="after - before; null = a mean is missing, or the scales differ")
    common_difference: float | None = Field(default=None, description="over the items rated in both; null = there are none")
    ci_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = too few clusters")
    ci_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = too few clusters")
    n_items: int = Field(default=0, description="items rated in both runs")


class Flips(Frozen):
    """Items of a metric whose value differs between two runs."""

    dataset: str = Field(description="its id")
    method: str = Field(description="as the blueprint names it")
    metric: str = Field(description="what is measured")
    binary: bool = Field(description="values are right or wrong; else they are shares")
    n_items: int = Field(description="items scored in both runs")
    fell: tuple[str, ...] = Field(description="ids of items that turned from right to wrong, or earn a smaller share")
    rose: tuple[str, ...] = Field(description="ids of items that turned from wrong to right, or earn a larger share")


class FlippedItem(Frozen):
    """An item that fell or rose, with what each run has of it."""

    direction: Literal["fell", "rose"] = Field(description="from right to wrong, or from wrong to right")
    dataset: str = Field(description="its id")
    item_id: str = Field(description="id in its dataset")
    method: str = Field(description="as the blueprint names it")
    metric: str = Field(description="what is measured")
    before: tuple[AnsweredItem, ...] = Field(description="one per repetition")
    after: tuple[AnsweredItem, ...] = Field(description="one per repetition")


class ItemCounts(Frozen):
    """Items of a dataset in two runs, by id."""

    dataset: str = Field(description="its id")
    common: int = Field(description="items of both runs")
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    changed: tuple[str, ...] = Field(description="in both runs, and not the same question")


class SystemComparison(Frozen):
    """A system of each of two runs, compared."""

    before: JudgedTotal
    after: JudgedTotal
    unchanged: bool = Field(description="every reply of both runs is scored the same, so that no difference needs an interval")
    common: tuple[CommonScore, ...]
    stored: tuple[StoredScore, ...]
    dimension_scores: tuple[DimensionChange, ...]
    flips: tuple[Flips, ...]
    flipped: tuple[FlippedItem, ...]
    items: tuple[ItemCounts, ...]


class RunComparison(Document):
    """Two runs of a benchmark, compared."""

    before: str = Field(description="name of the earlier run")
    after: str = Field(description="name of the later run")
    benchmark: str = Field(description="id of its blueprint")
    warnings: tuple[str, ...] = Field(description="why scores cannot simply be compared; empty = they can")
    differences: tuple[RunDifference, ...]
    models: tuple[SystemComparison, ...]
    only_before: tuple[SystemName, ...]
    only_after: tuple[SystemName, ...]


GateVerdict = Literal["failed", "undecided", "passed"]
"""failed: the whole interval meets the condition; passed: none of it does; undecided: a part, or there is none; worst first."""


class GateCheck(Frozen):
    """A condition, applied to one difference of a system."""

    condition: str = Field(description="as it was given")
    model: str = Field(description="its name in the run that is checked")
    setting: str = Field(description="how it was asked there")
    score: str = Field(description="id of the score; of a dimension `DATASET: DIMENSION`")
    difference: float | None = Field(description="after - before, over the items of both runs; null = there are none")
    ci_low: float | None = Field(description="lower end of its 95 % interval; null = too few clusters")
    ci_high: float | None = Field(description="upper end of its 95 % interval; null = too few clusters")
    n_items: int = Field(description="items of both runs")
    verdict: GateVerdict
    reason: str = Field(description="why it is undecided; empty = it is decided")


class GateResult(Document):
    """A run, checked against another by conditions."""

    run: str = Field(description="name of the run that is checked")
    against: str = Field(description="name of the run that it is compared with")
    benchmark: str = Field(description="id of its blueprint")
    verdict: GateVerdict = Field(description="the worst of all checks")
    compared: int = Field(description="models and settings of the run that are compared, of `systems`")
    systems: int = Field(description="models and settings of the run")
    remarks: tuple[str, ...] = Field(description="which of them are not compared, are vetoed or have no total")
    warnings: tuple[str, ...] = Field(description="why scores cannot simply be compared; empty = they can")
    checks: tuple[GateCheck, ...] = Field(description="by model, setting and condition")


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


AnyRun = VariedRuns | SeveralRuns | RunDocument | RunForecast | WaitingRun
AnyInference = InferDocument | RunForecast | WaitingRun


class PairFiles(Document):
    """Pairs of dialogues for a judge."""

    pairs: int = Field(description="each in both orders")
    files: tuple[str, ...] = Field(description="the items, and the blueprint that asks them")


class PersonStrength(Frozen):
    """How human a simulated person is: its strength in the model of Bradley and Terry."""

    person: str = Field(description="name of its model")
    strength: float | None = Field(description="all together 1; the chance to win is the share in both; null = undefined")
    ci_low: float | None = Field(description="95 % interval over cards")
    ci_high: float | None = Field(description="upper end of that interval")


class PersonVotes(Document):
    """Votes on which of two simulated persons is more human."""

    votes: int = Field(description="by all raters")
    cards: int = Field(description="that were voted on")
    raters: tuple[str, ...]
    both_orders: int = Field(description="pairs of a model on which a rater voted in both orders")
    turned: float | None = Field(description="share of these on which the vote turned with the order; null = there is none")
    undefined_because: str | None = Field(description="why no strengths fit; null = they do")
    undefined_draws: int = Field(description="resamples of cards without strengths, which intervals leave out")
    persons: tuple[PersonStrength, ...]
