"""Findings of the verification of a run."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document

DifferenceKind = Literal["file", "code", "catalogue", "blueprint", "content"]


class Difference(Frozen):
    """One thing that is not as it was when the run was made."""

    kind: DifferenceKind
    where: str = Field(description="path in the lake, layer, dataset or place in the blueprint")
    expected: str | None = Field(default=None, description="as the run has it")
    got: str | None = Field(default=None, description="as it is now; null = gone")
    message: str


class CheckedFiles(Frozen):
    """Files of a run whose bytes were hashed."""

    checked: int = Field(ge=0)
    differ: tuple[str, ...] = Field(description="paths in the lake of those that are changed or gone")


class CheckedLayer(Frozen):
    """What became of a layer."""

    layer: str
    partitions: int = Field(ge=1)
    rows: int = Field(ge=0)
    recomputed: bool = Field(description="every partition of it was computed again, as is never true of items and replies")
    differs: int = Field(ge=0, description="partitions whose content came out differently")


class ScoreChange(Frozen):
    """A score that the present blueprint or code gives another value, on 0-100; null = missing."""

    model: str
    setting: str
    name: str = Field(description="total, total_before_veto, or a main ability")
    before: float | None
    after: float | None


class Verification(Document):
    """A run, verified or not."""

    run: str
    verified: bool
    files: CheckedFiles
    layers: tuple[CheckedLayer, ...]
    differences: tuple[Difference, ...] = Field(description="the first comes first: files, code, catalogue, blueprint, content")
    would_differ: tuple[ScoreChange, ...] = Field(description="what the present blueprint or code makes of the stored replies")
    notes: tuple[str, ...] = Field(description="what could not be checked, and what is no difference but good to know")
