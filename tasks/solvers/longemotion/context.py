"""What a solver of long items is given, and what it gives back."""

from dataclasses import dataclass, field

from schemas.chat import Chat, ModelEntry
from schemas.context import Context
from schemas.item import Item
from schemas.retrieval import Chunk, RetrievalOptions, Retriever
from schemas.vocabulary import RetrievalStage, Setting
from tasks.solvers.base import Transcript

CONTEXT = "context"
"""Corpus of the chunks of an item's own context."""


@dataclass(frozen=True)
class LongItem:
    """An item with its long context.

    `chunks` are those of `item.context`; of an `odd_one_out` item its options, one each, numbered in order. Empty where the
    setting does not retrieve, or the corpus is what the model writes.
    """

    item_id: str
    item: Item
    context: Context
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True)
class RoleModel:
    """A model in a role, with its client."""

    entry: ModelEntry
    chat: Chat


@dataclass(frozen=True)
class ModelRoles:
    """Who plays: the model under test (CoEM-Core), the one that enriches (CoEM-Sage), the one that criticises (Self-RAG)."""

    core: RoleModel
    sage: RoleModel
    critic: RoleModel


@dataclass(frozen=True)
class SolverOptions:
    """A setting and its parameters."""

    setting: Setting
    options: RetrievalOptions = field(default_factory=RetrievalOptions)
    length_demand: bool = True


@dataclass(frozen=True)
class RetrievedChunk:
    """A ranked chunk: a row of `retrievals` without what all rows of the item share."""

    query_number: int
    stage: RetrievalStage
    rank: int
    chunk: int
    kept: bool
    corpus: str = CONTEXT
    query: str | None = None
    dense: float | None = None
    bm25: float | None = None
    fused: float | None = None
    enriched: str | None = None
    helper: str | None = None
    helper_call_key: str | None = None


@dataclass(frozen=True)
class WrittenChunks:
    """Chunks of what the model wrote itself, by name of the corpus."""

    corpus: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class SolverOutput:
    """What became of one long item.

    `transcript` holds the calls of the model under test; the last reply is the answer (of emotion expression all are). A call of
    Sage or critic that failed is its last call instead, since nothing can be asked then. A call that failed ends it.
    """

    transcript: Transcript
    retrieved: tuple[RetrievedChunk, ...] = ()
    written: tuple[WrittenChunks, ...] = field(default=())


@dataclass(frozen=True)
class SolverResources:
    """What solvers work with besides the models."""

    cast: ModelRoles
    retriever: Retriever
