"""What a lake keeps: replies, what each file is computed from, whether a run comes out the same again, what no run needs."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from schemas.base import Frozen, omittable
from schemas.documents.document import Document, SystemName
from schemas.lineage import Missing


class UnusedFile(Frozen):
    """A file of the lake that no run needs."""

    path: str = Field(description="in the lake")
    bytes: int = Field(description="on the disk")


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


class ModelReplies(Frozen):
    """Replies of a model at an endpoint."""

    identity: str = Field(description="of the endpoint")
    model: str | None = Field(description="null = the calls name none")
    replies: int
    bytes: int = Field(description="of requests and replies")
    first: str = Field(description="time of the first reply, ISO 8601")
    last: str = Field(description="time of the last reply, ISO 8601")


class JournalSummary(Document):
    """The replies of a journal."""

    journal: str = Field(description="path of its file")
    file_bytes: int = Field(description="on the disk")
    replies: int
    models: tuple[ModelReplies, ...]


class JournalExport(Document):
    """Replies written to a Parquet file."""

    file: str
    replies: int
    file_bytes: int = Field(description="on the disk")


class RequestSet(Frozen):
    """Calls of one model written to a file for others to answer, and what identifies them when the replies come in."""

    file: str = Field(pattern=r"^[^/\\\x00]+$")
    identity: str = Field(description="of the endpoint")
    model: str = Field(description="its name")
    repetition: int = Field(description="0-based number of the time that it was asked")
    calls: int
    sha256: str = Field(description="of the file")


class WrittenRequests(Document):
    """The calls that a run would make now, written to a folder."""

    folder: str
    calls: int
    several_messages: int = Field(description="calls that are conversations of several messages")
    files: tuple[RequestSet, ...]
    not_known: tuple[str, ...] = Field(description="settings whose later calls depend on replies that are not there yet")
    missing: tuple[Missing, ...] = Field(description="datasets without items, or not all of them")


class JournalImport(Document):
    """Replies of a file, folder or other journal taken into a journal; `good` and `refused` are all that were read."""

    source: str
    journal: str
    read: int = Field(description="replies of the source")
    good: int = Field(description="keep all rules: they were added, were there already, or are second replies")
    added: int = Field(description="replies that the journal lacked")
    same: int = Field(description="were in the journal as they are")
    kept_ours: int = Field(description="another reply to a call that the journal has one to, which it keeps")
    refused: int = Field(description="break a rule; one that breaks several is counted once")
    rules: dict[str, int] = Field(description="replies by the rule they break")
    to_ask: int | None = omittable(
        description="calls of the request files that the journal has no reply to; only with --requests"
    )
    unknown_form: str | None = omittable(description="fields of the first line whose form is not known")


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
    kind: Literal["source", "partition", "run", "report"]
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


class ScoreChange(SystemName):
    """A score that the present blueprint or code gives another value, on 0-100; null = missing."""

    name: str = Field(description="total, total_before_veto, or a main ability")
    before: float | None
    after: float | None


class Verification(Document):
    """A run, verified or not."""

    run: str = Field(description="its name")
    verified: bool
    files: CheckedFiles
    layers: tuple[CheckedLayer, ...]
    differences: tuple[Difference, ...] = Field(description="the first comes first: files, code, catalogue, blueprint, content")
    would_differ: tuple[ScoreChange, ...] = Field(description="what the present blueprint or code makes of the stored replies")
    notes: tuple[str, ...] = Field(description="what could not be checked, and what is no difference but good to know")


class WrittenTemplate(Document):
    """The file of replies to fill in."""

    file: str
    rows: int = Field(description="one per call")
    missing: tuple[Missing, ...] = Field(description="datasets without rows, and why")


class ExportedResults(Document):
    """The results of runs in one file."""

    runs: tuple[str, ...]
    file: str
    rows: int
    without_value: int = Field(description="rows whose status says why")


class UnwrittenScore(Frozen):
    """A score that an export leaves out: it is missing, or the form has no place for it."""

    model: str = Field(description="its name")
    name: str = Field(description="dotted path in the benchmark's tree, setting last")


class WithheldTexts(Frozen):
    """A dataset whose licence does not allow its texts to be passed on."""

    dataset: str = Field(description="its id")
    licence: str
    lines: bool = Field(description="whether its samples were written with a notice for each text; false = none were")


class ExportedRecords(Document):
    """Results of runs as files that other tools read."""

    runs: tuple[str, ...] = Field(default=(), description="their names; none = a paper's table")
    folder: str
    files: tuple[str, ...] = Field(description="below the folder")
    samples: int = Field(default=0, description="lines, each an item and a metric")
    missing: tuple[UnwrittenScore, ...] = Field(default=(), description="scores that are not in these files")
    withheld: tuple[WithheldTexts, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence["ExportedRecords"], **about: Any) -> "ExportedRecords":
        """Return several exports as one; `about`: fields that are not theirs, the sum of the samples aside."""
        lists = {}
        for name in ("runs", "files", "missing", "withheld"):
            lists[name] = tuple(dict.fromkeys(chain.from_iterable(getattr(part, name) for part in parts)))
        return cls(**lists | about, samples=sum(part.samples for part in parts))


AnyExport = ExportedResults | ExportedRecords
