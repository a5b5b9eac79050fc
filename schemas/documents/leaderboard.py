"""Systems ranked together, each a model in one setting, and the models of a group side by side. Scores are on 0-100."""

from typing import Literal

from pydantic import ConfigDict, Field

from schemas.base import Frozen, omittable
from schemas.documents.document import Document, SystemName
from schemas.model_description import ModelDescription
from schemas.paper import Comparability

Verdict = Literal["scored", "vetoed", "undecided", "too little scored", "unreadable", "unscored"]
"""`scored`: a total that stands. `vetoed`: 0 by the gate. `undecided`: a total whose veto is open, since too little of the gate
was scored. The others have no total: too few items or datasets, or not every main ability, are scored; replies or ratings cannot
be read; or nothing is scored.
"""

WITH_TOTAL: tuple[Verdict, ...] = ("scored", "vetoed", "undecided")


class JudgedTotal(SystemName):
    """The total of a model in one setting, with what may be said of it. Scores are on 0-100; null = missing."""

    total: float | None = Field(description="0 if vetoed; null if the verdict is one without a total")
    total_before_veto: float | None = Field(description="the mean of the main abilities but the gate, of what was scored")
    ci_low: float | None = Field(description="95 % interval of total_before_veto; null = none was computed")
    ci_high: float | None = Field(description="upper end of that interval")
    gate_score: float | None = Field(description="of the main ability that can veto; null = no gate, or nothing of it was scored")
    gate_ci_low: float | None = Field(description="95 % interval of gate_score")
    gate_ci_high: float | None
    gate_coverage: float | None = Field(description="share of the gate's datasets that have a score")
    gate_item_coverage: float | None = Field(description="share of their items that have a score")
    vetoed: bool | None = Field(description="null = too little of the gate was scored to decide")
    veto_reason: str | None = Field(description="in words; null = not vetoed")
    rank: int | None = Field(description="within its setting and group; null = not ranked")
    coverage: float = Field(description="share of the benchmark's datasets that have a score")
    item_coverage: float | None = Field(description="share of the items asked that have a score; null = none was asked")
    datasets_scored: int = Field(description="datasets with a score")
    datasets_total: int = Field(description="datasets of the blueprint")
    n_scored: int = Field(description="items with a score, one asked several times being several")
    n_total: int = Field(description="items asked")
    verdict: Verdict
    why: str | None = Field(description="what the verdict rests on; null = the score alone")
    unranked: str | None = Field(description="why it has no rank; null = it has one")
    headline: str = Field(description="the sentence to be said first")

    @property
    def has_total(self) -> bool:
        """Whether there is a total, which may stand among published ones."""
        return self.verdict in WITH_TOTAL


class SystemRow(JudgedTotal):
    """A row of a leaderboard."""

    abilities: dict[str, float | None] = Field(description="score of each main ability by its id; null = nothing was scored")
    comparability: Comparability | None = Field(description="null = the benchmark is of no paper")
    about: ModelDescription | None = Field(default=None, description="null = nothing is said of the model")
    rank_low: int | None = Field(
        default=None, description="best rank that the data do not rule out; null = not ranked, or no test"
    )
    rank_high: int | None = Field(default=None, description="worst rank that they do not rule out, by paired tests after Holm")
    tied: tuple[str, ...] | None = Field(
        default=None, description="longest run of models, itself first, of whom no two differ significantly; null = none"
    )
    constant: float | None = Field(
        default=None,
        description="total before a veto of the best constant answer to each dataset; null = one has none, or not looked up",
    )
    certified: bool | None = Field(
        default=None, description="judges of its scores are certified to rank systems at least; null = no judge, or not looked up"
    )

    @property
    def rank_range(self) -> str:
        """Ranks that the data do not rule out, in words; empty = not known."""
        return ranks_said(self.rank_low, self.rank_high)

    def said(self, field: str | None) -> str | None:
        """Return what a field of the description says; null = nothing, or no field."""
        return self.about.words(field) if self.about and field else None


def ranks_said(low: int | None, high: int | None) -> str:
    """Return a range of ranks in words; empty = there is none."""
    return "" if low is None else f"{low}" if low == high else f"{low} to {high}"


class StoredRow(SystemRow):
    """A row of a leaderboard of several runs."""

    run: str = Field(description="its name")
    group: int = Field(description="number of the group that it is ranked in: runs asked and rated in the same way")
    fuller_run: str | None = Field(description="an earlier run of its group with more items scored")


class PublishedRow(SystemRow):
    """A row of a paper's table, with what else the paper states of the model."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | bool | int | float | None]

    run: None = Field(default=None, exclude=True)
    group: int | None = omittable(description="where languages are ranked apart")


class Group(Frozen):
    """Runs that asked the same items in the same way and were scored alike, so that their totals are ranked together."""

    number: int
    runs: tuple[str, ...]
    basis: dict[str, str] = Field(description="what sets it apart from the other groups, in words, by the plan's fields")

    @property
    def words(self) -> str:
        """What sets the group apart."""
        return ", ".join(f"{name} {value}" for name, value in self.basis.items())


class DimensionMean(Frozen):
    """The mean of the ratings of a dimension that count, in points of its scale."""

    judge: str
    scale_min: int = Field(description="lowest rating; of yes or no 0")
    scale_max: int = Field(description="highest rating; of yes or no 1")
    mean: float | None = Field(description="over items; null = no rating came")
    ci_low: float | None = Field(description="lower end of its 95 % interval, by clusters; null = fewer than two clusters")
    ci_high: float | None = Field(description="upper end of its 95 % interval, by clusters; null = fewer than two clusters")
    n_answers: int = Field(description="answers with a rating")
    n_total: int = Field(description="answers that the judge was asked about")
    n_clusters: int = Field(description="clusters of the items with a rating")


class DimensionScore(DimensionMean):
    """The same with what it is of."""

    model: str = Field(description="its name")
    dataset: str = Field(description="its id")
    setting: str = Field(description="how it was asked")
    rubric: str = Field(description="its id")
    dimension: str = Field(description="of the rubric")


class StoredDimensionScore(DimensionScore):
    """The same of one of several runs."""

    run: str = Field(description="its name")


class HelperRanks(Frozen):
    """How the order of models agrees between two groups that differ in one helper alone. Null = one order does not vary."""

    role: str
    groups: tuple[int, int]
    setting: str = Field(description="how it was asked")
    models: tuple[str, ...] = Field(description="with a total in both groups")
    spearman: float | None
    spearman_low: float | None = Field(description="lower end of its 95 % interval, by resampled models")
    spearman_high: float | None = Field(description="upper end of its 95 % interval, by resampled models")
    kendall_tau_b: float | None
    kendall_tau_b_low: float | None = Field(description="lower end of its 95 % interval, by resampled models")
    kendall_tau_b_high: float | None = Field(description="upper end of its 95 % interval, by resampled models")


class ModelScore(Frozen):
    """A model's score on a task."""

    model: str = Field(description="its name")
    score: float | None = Field(default=None, description="null = the model has none")
    mark: Literal["best", "second"] | None = None
    tied: bool | None = Field(default=None, description="it does not differ from the best; null = too few clusters to say")


class TaskAcross(Frozen):
    """A task over the models."""

    id: str
    title: str = Field(description="name in reports")
    scores: tuple[ModelScore, ...]
    quartiles: tuple[float, ...] = Field(description="lowest score, three quartiles, highest score")
    weakest_of: int = Field(description="models with the task among their five weakest")


class PairDifference(Frozen):
    """Total before the veto of the first model minus that of the second, over the items scored for both."""

    first: str
    second: str
    difference: float = Field(description="first - second, in points")
    ci_low: float | None = Field(description="lower end of its 95 % interval; null = no interval")
    ci_high: float | None = Field(description="upper end of its 95 % interval; null = no interval")
    n_items: int
    differs: bool = Field(description="the interval leaves out 0")


class VariedRanks(Frozen):
    """Ranks by other weights or another threshold."""

    title: str = Field(description="name in reports")
    ranks: tuple[int | None, ...] = Field(description="by model; null = not ranked")
    rank_correlation: float | None = Field(description="Spearman's rho with the usual ranks; null = undefined")
    moved: int = Field(description="models with another rank, one that is new or one less")


class AcrossModels(Frozen):
    """Models that are ranked together, in the leaderboard's order, which is that of every list by model."""

    group: int | None = Field(description="null = a paper's models")
    setting: str | None = Field(description="null = a paper's models, in any setting")
    models: tuple[str, ...]
    variations: tuple[VariedRanks, ...]
    tasks: tuple[TaskAcross, ...] = ()
    weakest: tuple[str, ...] = Field(default=(), description="titles of tasks among the five weakest of every model")
    pairs: tuple[PairDifference, ...] = ()
    told_apart: float | None = Field(
        default=None, description="share of pairs that differ, of those with an interval; null = no pair has one"
    )
    published_models: tuple[str, ...] = Field(default=(), description="models of full coverage that a paper lists too")
    published_correlation: float | None = Field(
        default=None, description="Spearman's rho of their totals and the published ones; null = undefined"
    )


class Chosen(Frozen):
    """Which rows of a leaderboard are shown, and how they are grouped, by what is said of their models."""

    where: str | None = Field(default=None, description="condition that all rows fulfil, ranked among themselves; null = none")
    unknown: int = Field(default=0, description="rows left out since it is not said whether they fulfil it")
    group_by: str | None = Field(default=None, description="field of the descriptions; null = none")


class RankedSystems(Document):
    """Systems of a benchmark, ranked; what is about runs is left out of a paper's table."""

    models: tuple[StoredRow | PublishedRow, ...]
    published: tuple[PublishedRow, ...] | None = omittable(description="a paper's models beside one's own")
    chosen: Chosen | None = omittable(description="absent = all rows, in no groups of what is said of their models")
    groups: tuple[Group, ...] | None = omittable()
    dimension_scores: tuple[StoredDimensionScore, ...] | None = omittable()
    helper_ranks: tuple[HelperRanks, ...] | None = omittable()
    across: tuple[AcrossModels, ...]
    html: str | None = omittable(description="file of the page; absent = none")
    csv: str | None = omittable(description="file of tables; absent = none")
    latex: str | None = omittable(description="file of tables; absent = none")
    site: str | None = omittable(description="folder of pages; absent = none")


class DrawnFigure(Document):
    """A figure that was written to a file."""

    of: str = Field(description="name of the run, or of the benchmark whose leaderboard it shows")
    name: str
    file: str
