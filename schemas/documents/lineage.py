"""The lineage graph: source files, partitions, runs and their reports, and what each is computed from."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from schemas.base import Frozen
from schemas.documents.document import Document

NodeKind = Literal["source", "partition", "run", "report"]
NodeState = Literal["present", "gone", "damaged", "recorded"]
"""`recorded`: a source file, of which a lake keeps the hash and not the file."""


class SourceName(Frozen):
    """Where a source file comes from, as far as it is known."""

    repository: str | None = Field(default=None, description="host/owner/name; null = no public one")
    revision: str | None = None
    path: str | None = Field(default=None, description="inside the repository or the package, or the name of a user's own file")
    member: str | None = Field(default=None, description="path inside the archive that `path` is")
    note: str | None = Field(default=None, description="what has to be known about the name")


class LineageNode(Frozen):
    """One file, or one run."""

    id: str
    kind: NodeKind
    layer: str | None = None
    place: tuple[tuple[str, str], ...] = ()
    path: str | None = Field(default=None, description="relative to the lake; of a source file inside its repository")
    rows: int | None = None
    content_sha256: str | None = Field(
        default=None, description="of a partition its rows without measured columns, of any other file its bytes"
    )
    fingerprint: str | None = None
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    package_version: str | None = None
    git_commit: str | None = None
    state: NodeState = "present"
    complete: bool = Field(default=True, description="false if failed calls left rows to be asked again")
    rejected_of: str | None = Field(default=None, description="id of the partition whose broken rows these are")
    source: SourceName | None = None


class LineageEdge(Frozen):
    """What `target` is computed from."""

    model_config = ConfigDict(serialize_by_alias=True)

    source: str = Field(serialization_alias="from")
    target: str = Field(serialization_alias="to")


class LineageGraph(Document):
    """Everything behind one run or file, itself included."""

    root: str = Field(description="id of the node that was asked for")
    runs: tuple[str, ...] = Field(default=(), description="runs whose manifests name the file")
    nodes: tuple[LineageNode, ...]
    edges: tuple[LineageEdge, ...]
