"""What no run of a lake needs."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document


class UnusedFile(Frozen):
    """A file of the lake that no run needs."""

    path: str = Field(description="in the lake")
    bytes: int


class UnusedPartition(UnusedFile):
    """A partition that no run lists."""

    layer: str


class UnusedFiles(Document):
    """What can go from a lake, or went."""

    lake: str
    runs: int = Field(description="runs of the lake, which keep what they list")
    older_than_hours: float = Field(description="age below which a file stays")
    partitions: tuple[UnusedPartition, ...]
    temporary: tuple[UnusedFile, ...] = Field(description="files that killed writers left")
    folders: tuple[str, ...] = Field(description="empty folders")
    bytes: int = Field(description="of all these files")
    younger: int = Field(description="further files that no run lists: they are too young, or the lake is in use")
    in_use: bool = Field(description="a run or another gc is going on in the lake: nothing is removed")
    removed: bool
