"""What a paper with a table of models says, one YAML file each, and how far the numbers of a run may be set beside it."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Frozen
from schemas.metrics import NoNormalisation, Normalisation
from schemas.vocabulary import Profile

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
    likeness: Likeness = Field(description="what it means for the comparison")
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
    position: Position | None = Field(description="null = the total must not be ranked against published models")
    languages: dict[str, Shares] = Field(description="of `run`, `paper`, `gate`, `gate of paper`, as far as known")


RELEASED = "_released"
"""Ends the name of a dataset that is asked from the paper's own file."""


class PrintedColumn(Frozen):
    """A column of a printed table, by its name there."""

    kind: Literal["number", "whole", "text", "yes_no"] = "number"
    low: float | None = Field(default=None, description="smallest number; null = 0 for a number, no limit for a whole number")
    high: float | None = Field(default=None, description="largest number; null = 100 for a number, no limit for a whole number")
    values: tuple[str, ...] = Field(default=(), description="all allowed texts; none = any")
    optional: bool = Field(default=False, description="whether a row may omit it")
    about: str | None = Field(default=None, description="what it holds; a column `note` is ours")


class AbilityColumns(Frozen):
    """How a main ability on 0-100 is made of columns; a name alone stands for that column."""

    mean: tuple[str, ...] = Field(min_length=1, description="columns whose mean it is")
    normalisation: Normalisation = Field(default=NoNormalisation(), description="how the mean is put on 0-100; no grades")
    where: dict[str, str] = Field(default_factory=dict, description="columns and their values in the rows that have it")

    @model_validator(mode="before")
    @classmethod
    def _one_column(cls, value: Any) -> Any:
        return {"mean": (value,)} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_no_grade(self) -> Self:
        if self.normalisation.type == "grade":
            raise ValueError(f"the mean of {', '.join(self.mean)} is a number and no grade; give it another normalisation")
        return self


class ModelTable(Frozen):
    """A table of models as printed, each with a score for the main abilities, in a CSV file beside the paper's."""

    file: str
    key: tuple[str, ...] = Field(description="columns that identify a row")
    columns: dict[str, PrintedColumn]
    name: str = Field(description="its number in the paper, such as Table 2")
    abilities: dict[str, AbilityColumns]
    total: str | None = Field(default=None, description="column of the total; null = not printed")
    methods: dict[str, str] = Field(
        default_factory=dict, description="setting of each value of `method`; none = all are `setting`"
    )
    setting: str = "base"
    beside: tuple[str, ...] = Field(default=(), description="columns that rows keep; by their `language` they are ranked")
    about: dict[str, str] = Field(default_factory=dict, description="columns that describe models, by meaning")

    @model_validator(mode="after")
    def _columns_are_there(self) -> Self:
        of_abilities = (name for ability in self.abilities.values() for name in (*ability.mean, *ability.where))
        used = {"model", *self.key, *self.beside, *self.about.values(), *of_abilities}
        used |= {name for name in (self.total, "method" if self.methods else None) if name}
        if missing := sorted(used - self.columns.keys()):
            raise ValueError(f"the table has no column {missing[0]}")
        return self


class ShownTable(Frozen):
    """A table that a leaderboard with the paper's models shows as printed."""

    file: str
    title: str
    note: str


class Paper(Frozen):
    """A paper with a table of models. Null = not known of it."""

    title: str
    folder: Path = Field(description="where its file and those of its tables are")
    models: ModelTable
    shown: tuple[ShownTable, ...] = ()
    places: str | None = Field(default=None, description="CSV of where its released code puts each dataset, if that differs")
    blueprints: frozenset[str] = Field(description="those that restate its benchmark")
    rebuilt: frozenset[str] = Field(default=frozenset(), description="their datasets whose items are made again from the sources")
    sample: int = Field(description="items it asks of a dataset")
    samples: dict[str, int] = Field(default_factory=dict, description="by dataset, if different")
    judge: str | None = None
    temperature: float | None = None
    repetitions: int | None = None
    solvers: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="options that its items are asked with, by setting"
    )
    profile: Profile | None = Field(default=None, description="how its replies were scored, if by a profile of MoodFlow")
    languages: Shares | None = None
    gate_languages: Shares | None = None
    lengths: dict[str, int] = Field(default_factory=dict, description="mean tokens by dataset")
    design: tuple[int, int, int] | None = Field(
        default=None, description="tasks of an ability, datasets of a task, methods of one"
    )

    def items(self, dataset: str) -> int:
        """Return how many items of a dataset it asks, if there are so many."""
        return self.samples.get(dataset.removesuffix(RELEASED), self.sample)
