"""The replies that a lake keeps: which they are, written to a file, asked of others, taken in."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document
from schemas.lineage import Missing


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
    file_bytes: int
    replies: int
    models: tuple[ModelReplies, ...]


class JournalExport(Document):
    """Replies written to a Parquet file."""

    file: str
    replies: int
    file_bytes: int


class RequestSet(Frozen):
    """Calls of one model written to a file for others to answer, and what identifies them when the replies come in."""

    file: str = Field(pattern=r"^[^/\\\x00]+$")
    identity: str = Field(description="of the endpoint")
    model: str
    repetition: int
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
    read: int
    good: int = Field(description="keep all rules: they were added, were there already, or are second replies")
    added: int
    same: int = Field(description="were in the journal as they are")
    kept_ours: int = Field(description="another reply to a call that the journal has one to, which it keeps")
    refused: int = Field(description="break a rule; one that breaks several is counted once")
    rules: dict[str, int] = Field(description="replies by the rule they break")
