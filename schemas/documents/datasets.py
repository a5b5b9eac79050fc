"""Datasets of the catalogue: which there are, what their entries say, what is in their files; and role cards built for one."""

from typing import Any, Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document
from schemas.documents.run import Cost
from schemas.lineage import CallCounts, PartitionRef
from schemas.tables.role_cards import CardStep
from schemas.usage import Usage


class DatasetRow(Frozen):
    """A dataset of the catalogue, and whether its files are here."""

    id: str
    title: str = Field(description="name in reports")
    languages: tuple[str, ...]
    licence: str = Field(description="of its texts")
    ready: bool
    needs: tuple[str, ...] = Field(description="what keeps it from being ready without a download; empty = ready")
    source: str | None = Field(description="repositories of its files, or `bundled`; null = not ready")


class DatasetList(Document):
    """Every dataset of the catalogue."""

    datasets: tuple[DatasetRow, ...]


class DatasetEntry(Document):
    """What the catalogue says of a dataset."""

    id: str
    title: str = Field(description="name in reports")
    used_here: str = Field(description="repositories of the files that are used here, or `bundled`")
    files: tuple[str, ...] = Field(description="each with where it comes from and what pins it")
    other_sources: tuple[str, ...] = Field(description="files of the sources that are not used here")
    record_format: str
    required: tuple[str, ...] = Field(description="fields that each record has; empty = the adapter knows them")
    example: dict[str, Any] = Field(description="what files hold, in words of ours, by path, and their rows; empty = none")
    own_folder: str | None = Field(
        description="command that reads the files from a folder of the user's, whatever they hold; null = they are ours"
    )
    question_types: tuple[str, ...]
    languages: tuple[str, ...]
    licence: str = Field(description="of its texts")
    redistributable: bool = Field(description="whether its texts may stand in a report that is passed on")
    canary: str | None = Field(description="string by which training sets can be cleaned of the data; null = none")
    paper: str
    expected_rows: int | None = Field(description="rows of all files at the pinned revision; null = not stated")
    evaluation_version: str = Field(description="raised when an item means something else")
    ambiguous: tuple[str, ...] = Field(description="items whose own labels contradict each other")
    differences: tuple[str, ...] = Field(description="where we differ from the paper or its code, and why")


class DatasetContent(Frozen):
    """Counts over the items made of a dataset's records; null = nothing could be read."""

    items_read: int | None = None
    good: int | None = Field(default=None, description="items that break no rule")
    rejected: dict[str, int] | None = Field(default=None, description="items by the rule they break; one may break several")
    languages: dict[str, int] | None = Field(default=None, description="good items by language")
    question_types: dict[str, int] | None = Field(default=None, description="good items by question type")
    gold: dict[str, int] | None = Field(default=None, description="right options by the letter they are shown with")
    duplicates: int | None = Field(default=None, description="items that ask what an earlier one asks")
    contradictions: int | None = Field(default=None, description="those of the duplicates with other gold")


class ReachableScores(Frozen):
    """Scores on 0-100 of imagined models, as the blueprint weighs the dataset's metrics."""

    ceiling: float | None = Field(
        default=None,
        description="of a model that knows the gold; null where only a judge decides or several answers count together",
    )
    constant: dict[str, float] = Field(default={}, description="of always answering with a letter; empty = none is asked for")


class RatingsContent(Frozen):
    """Counts over the ratings by people of a dataset."""

    good: int = Field(description="rows that break no rule")
    given: int = Field(description="ratings in them; other rows say that none was given")
    refused: dict[str, int] = Field(description="rows by the first rule they break")
    raters: dict[str, int] = Field(description="raters by kind; without names the most of a unit")
    units: int = Field(description="items, replies or dialogues that were rated")
    dimensions: tuple[str, ...]
    texts: int = Field(description="units with their text, which a judge can be asked about")


class DatasetCheck(DatasetContent, ReachableScores):
    """What is in the files of a dataset, and which scores it allows.

    It is ready if its files are here and are the pinned ones, every record was read, and no item breaks a rule but those that the
    entry states.
    """

    id: str
    title: str = Field(description="name in reports")
    ready: bool
    needs: tuple[str, ...] = Field(description="what is missing or wrong; empty = ready")
    sources: tuple[str, ...] = Field(description="repository and revision of its files")
    pinned: bool = Field(description="the content of every file is pinned by a hash")
    licence: str = Field(description="of its texts")
    redistributable: bool
    rows_read: int | None = Field(default=None, description="records of all files; null = they could not be read")
    ambiguous: tuple[str, ...] = Field(description="items whose own labels contradict each other")
    ratings: RatingsContent | None = Field(default=None, description="null = it has items, or could not be read")


class DatasetChecks(Document):
    """Datasets whose files were read."""

    ready: int = Field(description="datasets that are ready")
    total: int
    datasets: tuple[DatasetCheck, ...]


class FunnelStep(Frozen):
    """A step, and what became of the cards that entered it."""

    step: CardStep
    entered: int = Field(description="cards that came in")
    kept: int = Field(description="cards that go on")
    dropped: dict[str, int] = Field(description="cards by the reason why they are left out")
    failed: int = Field(description="cards whose call failed, or on which people have not said enough")


class PrintedFunnelStep(Frozen):
    """A count that the paper prints of its own cards, and the same count of these."""

    language: str = Field(description="of its texts")
    stage: str
    step: CardStep = Field(description="that keeps these cards")
    quality: str | None = Field(description="null = of any")
    cards: int = Field(description="of the paper")
    note: str | None = Field(description="what is wrong with the printed count; null = nothing")
    here: int | None = Field(description="of these cards; null = they came in after this step")


class CardAgreement(Frozen):
    """How far two annotators agree."""

    of: Literal["category", "grade"]
    cards: int
    alike: int = Field(description="cards of which both say the same")
    alpha: float | None = Field(description="Krippendorff's alpha of categories; null = undefined")


class BuiltCards(Document):
    """Role cards that were built or annotated."""

    funnel: tuple[FunnelStep, ...]
    paper: tuple[PrintedFunnelStep, ...] = Field(
        description="funnel of the pipeline's paper beside this one; empty = none is printed"
    )
    grades: dict[str, int] = Field(description="cards by grade")
    agreement: tuple[CardAgreement, ...]
    failed: dict[str, str] = Field(description="by card why it failed; of people unannotated, by fewer than two, or undecided")
    files: tuple[str, ...]
    partitions: tuple[PartitionRef, ...]
    calls: CallCounts
    usage: tuple[Usage, ...]
    cost: Cost
