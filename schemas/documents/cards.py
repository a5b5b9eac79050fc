"""Role cards that were built or annotated."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document
from schemas.documents.run import Cost
from schemas.lineage import CallCounts, PartitionRef
from schemas.tables.role_cards import CardStep
from schemas.usage import Usage


class FunnelStep(Frozen):
    """A step, and what became of the cards that entered it."""

    step: CardStep
    entered: int
    kept: int
    dropped: dict[str, int] = Field(description="cards by the reason why they are left out")
    failed: int = Field(description="cards whose call failed")


class CardAgreement(Frozen):
    """How far two annotators agree."""

    of: Literal["category", "grade"]
    cards: int
    alike: int = Field(description="cards of which both say the same")
    alpha: float | None = Field(description="Krippendorff's alpha of categories; null = undefined")


class BuiltCards(Document):
    """Role cards that were built or annotated."""

    funnel: tuple[FunnelStep, ...]
    grades: dict[str, int] = Field(description="cards by grade")
    agreement: tuple[CardAgreement, ...]
    files: tuple[str, ...]
    partitions: tuple[PartitionRef, ...]
    calls: CallCounts
    usage: tuple[Usage, ...]
    cost: Cost
