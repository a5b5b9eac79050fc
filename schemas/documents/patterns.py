"""What recurs among the rows of a run: unread replies, failed calls, items that all fail, choices that follow the order."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import SystemName
from schemas.documents.rows import FacetCount, RowId
from schemas.vocabulary import Failure


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
    failure: Failure | None = Field(description="how the calls failed; null = a judge's, of which only the message is kept")
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


class FlippedItem(Frozen):
    """What a system chose of an item, once per order of its options."""

    item_id: str
    repetitions: tuple[int, ...]
    letters: tuple[str | None, ...] = Field(description="as shown; null = the reply was not read")
    options: tuple[int | None, ...] = Field(description="index of each in the item")


class OrderFlips(SystemName):
    """Items of a dataset whose order of options flips the answer of a system."""

    dataset: str
    items: int = Field(description="read in two orders of their options or more")
    flipped: tuple[FlippedItem, ...] = Field(description="of which more than one option was chosen")
