"""The documents of runs: one run, the list of them, and what commands about one write."""

from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, JsonValue, computed_field
from pydantic.dataclasses import dataclass

from schemas.base import Frozen, omittable
from schemas.canary import CanaryFinding
from schemas.certificates import CoveredDataset
from schemas.changes import Regression, RunState
from schemas.documents.document import Document, SystemName
from schemas.documents.leaderboard import DimensionScore, SystemRow
from schemas.documents.run_list import RUN_NUMBER
from schemas.documents.run_scores import AbilityScore, DatasetHeadlines, LetterShare, SettingGain, UnreadReplies, WeakTask
from schemas.lineage import CallCounts, Missing, PartitionRef
from schemas.metrics import Metric
from schemas.tables.columns import row_model
from schemas.tables.comparisons import Agreements
from schemas.usage import Amounts, ModelUsage, Usage

MOST_FAULTY = 0.2
"""Share beyond which an instrument failed: the score then says more about it than about the model."""


@dataclass(frozen=True)
class InstrumentCount:
    """How much of what an instrument did for a system, in these datasets, is of no use."""

    model: str
    setting: str
    instrument: Annotated[
        str,
        Field(description="simulated person, judge, a role that judges parts of an item, or reader, which reads replies"),
    ]
    name: Annotated[
        str, Field(description="of its model; of the reader, of the gate, whose replies are counted apart; empty = none")
    ]
    datasets: tuple[str, ...]
    faulty: int
    total: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def failed(self) -> bool:
        """Whether nothing that rests on it stands."""
        return self.faulty > MOST_FAULTY * self.total

    @computed_field  # type: ignore[prop-decorator]
    @property
    def words(self) -> str:
        """What it failed to do, how often and where."""
        where = " and ".join(self.datasets) if len(self.datasets) < 3 else f"{len(self.datasets)} datasets"  # noqa: PLR2004
        n = f"{self.faulty:,} of {self.total:,}"
        if self.instrument == "simulated person":
            return f"the simulated person fell out of its part in {n} dialogues of {where}"
        if self.instrument == "reader":
            return f"{n} replies of the model in {self.name or where} cannot be read"
        what = "ratings" if self.instrument == "judge" else "replies"
        return f"{n} {what} of {self.instrument} {self.name} in {where} cannot be read"


@dataclass(frozen=True)
class MeanLength:
    """Mean length of the items of a dataset."""

    dataset: str
    items: int
    characters: Annotated[float, Field(description="of context and question")]
    tokens: Annotated[float | None, Field(description="of the context; null = none was built")]
    of_paper: Annotated[int | None, Field(description="tokens by the paper, counted by another tokenizer; null = it says none")]


class ScoreOverDialogues(SystemName):
    """The total of a model and setting over some of its dialogues, on 0-100."""

    total: float | None
    ci_low: float | None = Field(description="95 % interval")
    ci_high: float | None = Field(description="upper end of that interval")
    n_scored: int
    datasets_scored: int = Field(description="datasets with a score")


class SimulationCheck(SystemName):
    """The persons that a model talked with in a setting. A dialogue is tainted by a fault that counts."""

    dialogues: int
    tainted: int
    share: float = Field(description="of the dialogues that are tainted")
    kinds: dict[str, int] = Field(description="dialogues with such a fault")
    severities: dict[str, int] = Field(description="dialogues with such a fault")
    refused: int = Field(description="faults that a judge named and that do not count")
    unreviewed: int | None = Field(description="dialogues without a review that can be read; null = none was asked for")
    all: ScoreOverDialogues
    untainted: ScoreOverDialogues | None = Field(
        description="the same without the items, in that repetition, of tainted dialogues; null = none is left"
    )
    criteria: dict[str, dict[str, float | None]] = Field(
        description="mean ratings of the persons from 0 to 10, by dataset; null = none can be read"
    )


class RawScore(Frozen):
    """A score of a metric in its own unit."""

    model: str = Field(description="its name")
    dataset: str = Field(description="its id")
    method: str = Field(description="as the blueprint names it")
    metric: Metric = Field(description="what is measured")
    setting: str = Field(description="how it was asked")
    value: float | None = Field(description="null = nothing was scored")
    ci_low: float | None = Field(description="95 % interval")
    ci_high: float | None = Field(description="upper end of that interval")
    standard_error: float | None = Field(description="of the value; null = fewer than two clusters, or not known")
    constant: float | None = Field(description="what the best constant answer earns; null = none is asked for")
    constant_answer: str | None = Field(description="that answer, as the letter shown there")
    n_scored: int
    n_unparsed: int = Field(description="of the scored, replies that cannot be read and count as wrong")
    n_total: int = Field(description="items asked")
    n_clusters: int | None = Field(description="that the interval rests on; null = nothing was scored")
    design_effect: float | None = Field(description="of a mean; null = single items, no interval")


if TYPE_CHECKING:
    Agreement = Frozen
else:
    Agreement = row_model(Agreements)


class PeopleCount(SystemName):
    """The people who rated answers of a model to a dataset."""

    dataset: str = Field(description="its id")
    rubric: str = Field(description="its id")
    raters: tuple[str, ...] = Field(description="by name")
    n_answers: int = Field(description="that somebody rated")
    n_total: int = Field(description="items asked")


class FailedCalls(Frozen):
    """Calls of a model that failed in the same way."""

    model: str = Field(description="its name")
    what: str = Field(description="kind of failure, in words")
    calls: int = Field(description="that failed so")
    next_step: str
    error: str | None = Field(description="the first one's, in the words of the server; null = it said nothing")


class Cost(Frozen):
    """Tokens and cost of a run."""

    currency: str | None = Field(description="null = no price table was named")
    models: tuple[ModelUsage, ...]
    total: Amounts
    unpriced: tuple[str, ...] = Field(description="models whose price is not known")
    notes: tuple[str, ...] = Field(description="what has to be known about the numbers")


class SystemRegression(Regression):
    """A way in which a model and setting regressed against the run before."""

    model: str = Field(description="its name")
    setting: str = Field(description="how it was asked")
    previous: str | None = Field(description="the run compared with")


class RefusedReply(Frozen):
    """A row of a file of replies that is not used."""

    line: int = Field(description="of a CSV the header is 1, of other files the first row")
    rule: str = Field(description="the first that it breaks")


class RepliesRead(Frozen):
    """What was taken from a file of replies; `placed` and `refused` are all rows that were read."""

    file: str
    sha256: str = Field(description="of the file; the identity of its models is file: and this")
    read: int = Field(description="rows of the file")
    placed: int = Field(description="rows that answer a call of the plan")
    refused: int
    rules: dict[str, int] = Field(description="refused rows by the rule they break")
    rows: tuple[RefusedReply, ...] = Field(description="each refused row")


class RunDocument(Document):
    """A run. Further keys are the sections of benchmarks, each a list of rows."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, tuple[dict[str, JsonValue], ...]]

    run: str = Field(description="its name")
    number: int | None = RUN_NUMBER
    benchmark: str = Field(description="id of its blueprint")
    manifest: str = Field(description="path of the file")
    models: tuple[SystemRow, ...] = Field(description="by setting, ranked ones first")
    abilities: tuple[AbilityScore, ...] = Field(description="of each model in turn, in the order of the blueprint")
    weakest_tasks: tuple[WeakTask, ...] = Field(description="three of each model at most, the lowest first; none that has 100")
    gains: tuple[SettingGain, ...] = Field(description="of settings over `base`, of the total and by dataset")
    unread: tuple[UnreadReplies, ...] = Field(description="by model and setting")
    one_letter: tuple[LetterShare, ...] = Field(description="models that choose one letter, whatever is asked")
    instruments: tuple[InstrumentCount, ...]
    lengths: tuple[MeanLength, ...]
    simulation: tuple[SimulationCheck, ...] = Field(description="empty where no person is played")
    headlines: tuple[DatasetHeadlines, ...]
    raw_scores: tuple[RawScore, ...]
    dimension_scores: tuple[DimensionScore, ...]
    agreements: tuple[Agreement, ...] = Field(description="of judges, of people among each other, and of the judge beside them")
    people: tuple[PeopleCount, ...]
    judges: tuple[CoveredDataset, ...] = Field(
        description="whose ratings count, with the certificate that covers them; no people"
    )
    calls: CallCounts
    failures: tuple[FailedCalls, ...] = Field(description="the most frequent first")
    usage: tuple[Usage, ...]
    cost: Cost
    missing: tuple[Missing, ...]
    canaries: tuple[CanaryFinding, ...]
    report: str | None = Field(description="path of the page; null = none was written")
    state: RunState | None = Field(description="how it ended; null = it was compared with no run before")
    previous: str | None = Field(description="the run that it was compared with")
    replies: RepliesRead | None = omittable(description="of `run --replies`; absent = no file was read")
    regressions: tuple[SystemRegression, ...] | None

    @property
    def runs(self) -> "tuple[RunDocument, ...]":
        """The runs that a command made one after the other."""
        return (self,)


class StageDocument(Document):
    """What a stage wrote: partitions that are new, and those that were there."""

    stage: str = Field(description="build, infer or score")
    partitions: tuple[PartitionRef, ...]
    missing: tuple[Missing, ...]
    calls: CallCounts


class InferDocument(StageDocument):
    """What the stage wrote that asks models."""

    usage: tuple[Usage, ...]
    cost: Cost


class RewrittenReport(Document):
    """A report that was written again."""

    run: str = Field(description="its name")
    report: str
    markdown: str
    redacted: bool = Field(description="texts that must not be passed on are left out")
    written_by: str = Field(description="version of MoodFlow")
    run_written_by: str = Field(description="version of MoodFlow that made the run")
    sealed_again: tuple[str, ...] = Field(description="files that were not as sealed, and are sealed again")
    intact: bool = Field(description="false = the run's folder was changed since it was sealed, so it was not sealed again")


class ExportedRun(Document):
    """The files that a run was exported to."""

    run: str = Field(description="its name")
    folder: str
    files: tuple[str, ...]
