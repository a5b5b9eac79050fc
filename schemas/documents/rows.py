"""The rows of a run that fulfil a filter, a page at a time, and what recurs among all of them.

A row is an item, asked once of one model in one setting. What recurs: unread replies, failed calls, items that all fail, choices
that follow the order of options.
"""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document, SystemName
from schemas.vocabulary import Failure, Language

RowStatus = Literal["right", "partial", "wrong", "unread", "call failed", "judge failed", "not counted"]
"""`right`: earned the most that each of its metrics gives. `wrong`: the least. `partial`: between, or its metrics are about all
items. `unread`: the reply cannot be read, which counts as wrong. `call failed`, `judge failed`: has no score by a metric.
`not counted`: by none."""

RowOrder = Literal["place", "score", "length", "rating"]
"""`place`: dataset, model, setting, item, repetition. `length`: of the reply. `rating`: the mean of its judges."""


class RowId(Frozen):
    """What names a row in its run."""

    dataset: str
    item_id: str
    model: str
    setting: str
    repetition: int = Field(ge=0)


class RowFilter(Frozen):
    """Which rows are asked for, in which order. A null narrows nothing."""

    dataset: str | None = None
    ability: str | None = Field(default=None, description="at any level, as in the blueprint")
    task: str | None = None
    model: str | None = None
    setting: str | None = None
    status: RowStatus | None = None
    gate: bool = Field(default=False, description="only datasets of the ability that can veto")
    language: Language | None = Field(default=None, description="of the item")
    group: str | None = Field(default=None, description="NAME=VALUE of a group column, `subset` among them")
    shortest: int | None = Field(default=None, ge=0, description="characters of the reply")
    longest: int | None = Field(default=None, ge=0, description="characters of the reply")
    changed_since: str | None = Field(
        default=None, description="run in which the same row has another status or score, or which lacks it"
    )
    judges_disagree: bool = Field(default=False, description="two ratings in a dimension differ by a quarter of its scale")
    tainted: bool = Field(default=False, description="a person whom a model plays has a fault that counts")
    text: str | None = Field(default=None, max_length=200, description="in question, context, options, reply; any case")
    order: RowOrder = "place"
    descending: bool = False
    after: str | None = Field(default=None, pattern="^[0-9]{1,9}$", description="`next` of the page before")


class RowEntry(RowId):
    """A row as a list shows it. Texts are shortened."""

    status: RowStatus
    score: float | None = Field(description="mean over its metrics, each on 0-100 by its normalisation; null = missing")
    rating: float | None = Field(description="mean of its ratings, each on 0-100 of its scale; null = none")
    faults: int | None = Field(description="of persons whom a model plays, those that count; null = none")
    reply_characters: int | None = Field(description="null = no reply came")
    language: Language
    question: str
    reply: str | None
    read_as: str | None
    gold: str | None
    withheld: str | None = Field(description="licence for which texts are left out; null = they are shown")


class FacetCount(Frozen):
    """How many of the rows that fulfil the filter have a value."""

    facet: str = Field(description="field of the filter")
    value: str
    rows: int


class RowsPage(Document):
    """A page of rows of a run."""

    rows: tuple[RowEntry, ...]
    matches: int | None = Field(description="rows that fulfil the filter; null = not counted, since texts were searched")
    total: int = Field(description="rows of the run")
    counts: tuple[FacetCount, ...] = Field(
        description="of dataset, model, setting, status, language; without the search of texts"
    )
    next: str | None = Field(description="`after` of the next page; null = this is the last")


class RowExample(RowId):
    """A row, with the beginning of its reply."""

    reply: str | None = Field(description="null = no reply came, or its licence forbids to show it")


class RowGroup(Frozen):
    """Rows that have something in common."""

    rows: int
    counts: tuple[FacetCount, ...] = Field(description="of dataset, model and setting, the most frequent first")
    examples: tuple[RowExample, ...]


class UnreadGroup(RowGroup):
    """Replies of the models under test that cannot be read, of one shape."""

    shape: str = Field(description="in words")


class FailedGroup(RowGroup):
    """Failed calls of one server message; `rows` counts calls."""

    message: str = Field(description="as the server says it, with one sign for each number, id and address")
    role: str = Field(description="who was asked")
    asked_model: str
    failure: Failure | None = Field(description="how the calls failed; null = a judge's, or its reply cannot be read")
    http_status: int | None = Field(description="null = no answer came, or it was not kept")


class HardItem(RowId):
    """An item that all systems with a score of it fail, two at least, by the row of one of them."""

    systems: int = Field(description="with a score; each earned the least, or was not read")
    unread: int = Field(description="of these, that were not read in any repetition")
    gold: str | None = Field(description="null = no option is right, or its licence forbids to show it")
    wrong: str | None = Field(description="what most systems answered instead; null = none was read, or as `gold`")
    wrong_systems: int = Field(description="that answered it")

    @property
    def gold_in_doubt(self) -> bool:
        """Whether more than half of the systems, two at least, gave the same wrong answer."""
        return self.wrong is not None and self.wrong_systems > max(1, self.systems / 2)


class FlippedChoice(Frozen):
    """What a system chose of an item, once per order of its options."""

    item_id: str
    repetitions: tuple[int, ...]
    letters: tuple[str | None, ...] = Field(description="as shown; null = the reply was not read")
    options: tuple[int | None, ...] = Field(description="index of each in the item")


class OrderFlips(SystemName):
    """Items of a dataset whose order of options flips the answer of a system."""

    dataset: str
    items: int = Field(description="read in two orders of their options or more")
    flipped: tuple[FlippedChoice, ...] = Field(description="of which more than one option was chosen")
