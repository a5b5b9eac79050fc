"""How the numbers of a run came about: the parts of a score, the items behind a dataset, one item whole, a subset of items."""

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from schemas.base import Frozen
from schemas.documents.answered_item import AnsweredItem, ItemExplanation
from schemas.documents.document import Document, SystemName
from schemas.documents.leaderboard import JudgedTotal
from schemas.documents.score_part import Kind, ScorePart
from schemas.lineage import Missing
from schemas.metrics import Metric
from schemas.paper import Likeness
from schemas.vocabulary import Profile

Tier = Literal["total", "ability", "task", "dataset", "item"]


@dataclass(frozen=True, kw_only=True)
class GatePart(ScorePart):
    """The main ability that can veto, which is in no total."""

    threshold: float


class ScoreLikeness(Frozen):
    """How far a score may be set beside a paper's."""

    paper: str = Field(description="its title")
    verdict: Likeness = Field(description="how like it is")
    reasons: tuple[str, ...] = Field(description="what differs")
    position: str | None = Field(description="among the published models; null = it may not be ranked, or is no total")


class SystemExplanation(SystemName):
    """How a score of a model in one setting came about."""

    part: ScorePart = Field(description="which of the item's answers; empty = it has one")
    instruments: tuple[str, ...] = Field(description="what they failed to do")
    comparability: ScoreLikeness | None = Field(description="null = no paper has such a score")


class TotalExplanation(SystemExplanation):
    """How a total came about."""

    total: JudgedTotal
    gate: GatePart | None = Field(description="null = the benchmark has none")


class PlaceAbove(Frozen):
    """A score that the explained one is part of."""

    kind: Kind
    id: str
    next: str = Field(description="the command that explains it")


class ScoreExplanation(Document):
    """How a total, or the score of an ability, task or dataset came about."""

    run: str = Field(description="its name")
    benchmark: str = Field(description="id of its blueprint")
    title: str = Field(description="name in reports")
    profile: Profile = Field(description="how replies were read")
    redacted: bool = Field(description="texts that must not be passed on are left out")
    level: Tier
    kind: Kind
    id: str
    above: tuple[PlaceAbove, ...] = Field(description="from the total down")
    models: tuple[TotalExplanation | SystemExplanation, ...]
    missing: tuple[Missing, ...]
    not_evaluated: tuple[str, ...] = Field(description="main abilities of the blueprint")
    adds_up: bool = Field(description="whether every stored score is what its parts give")
    next: str | None = Field(description="the command into the part that takes most; null = nothing has one of its own")


class LabelCount(Frozen):
    """A label of macro F1."""

    label: str = Field(description="of an option")
    hits: int = Field(description="answers that rightly give it")
    predicted: int = Field(description="answers that give it")
    gold: int = Field(description="items for which it is right")
    f1: float = Field(description="2 x hits / (predicted + gold)")


class GroupScore(SystemName):
    """A score of the items of a group, on 0-100."""

    dataset: str = Field(description="its id")
    method: str = Field(description="as the blueprint names it")
    measure: str = Field(description="a metric, or a dimension of the rubric")
    score: float | None
    ci_low: float | None = Field(description="95 % interval")
    ci_high: float | None = Field(description="upper end of that interval")
    n: int = Field(description="rows scored, an item asked several times being several")
    n_total: int = Field(description="items asked")
    group: str = Field(description="name of the group, such as gender")
    value: str = Field(description="value of the group in these items")


class MetricBreakdown(Frozen):
    """How a raw score follows from the items."""

    formula: str = Field(description="in words")
    counts: dict[str, int | float] = Field(description="what the formula is computed from")
    labels: tuple[LabelCount, ...] = Field(description="of macro F1")
    value: float | None = Field(description="null = nothing was scored")
    statuses: dict[str, int] = Field(description="rows, an item asked several times being several")


class MethodBreakdown(MetricBreakdown):
    """The same of a method, and the scores of the groups that the items are in."""

    method: str = Field(description="as the blueprint names it")
    metric: Metric = Field(description="what is measured")
    groups: tuple[GroupScore, ...]


class RowsExplanation(ScoreExplanation):
    """How the score of a dataset came about for one model and setting, and the rows behind it."""

    metrics: tuple[MethodBreakdown, ...]
    rows: tuple[AnsweredItem, ...]
    withheld: str | None = Field(description="licence for which texts are left out of a redacted run")
    notes: tuple[str, ...]


class SideScore(Frozen):
    """A score over the items of one side of a condition, on 0-100."""

    score: float | None = None
    ci_low: float | None = Field(default=None, description="95 % interval")
    ci_high: float | None = None
    n: int = Field(default=0, description="rows scored")
    suppressed: bool = Field(default=True, description="too few items or rows for a score")


class ScoreBySide(Frozen):
    """A score on both sides of a condition."""

    dataset: str = Field(description="empty = the total before the veto")
    method: str = Field(description="as the blueprint names it")
    measure: str
    subset: SideScore = SideScore()
    complement: SideScore = SideScore()


class SystemBySide(SystemName):
    """The scores of a model and setting on both sides of a condition."""

    scores: tuple[ScoreBySide, ...]


class ItemsBySide(Frozen):
    """Items by side."""

    subset: int = Field(description="part of the dataset that it is in")
    complement: int
    unknown: int = Field(description="items of which the condition is null")


class SubsetExplanation(Document):
    """Scores of the items that fulfil a condition, beside those of the others."""

    run: str = Field(description="its name")
    benchmark: str = Field(description="id of its blueprint")
    where: str
    columns: tuple[str, ...] = Field(description="that a condition may name")
    items: ItemsBySide
    models: tuple[SystemBySide, ...]
    note: str


Explanation = RowsExplanation | ScoreExplanation | ItemExplanation | SubsetExplanation
