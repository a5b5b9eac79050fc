"""State of a solver: item, options, models in their roles, queries, pools of chunks, what was retrieved, output."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from schemas.chat import Chat, ModelEntry
from schemas.context import Context
from schemas.item import Item
from schemas.retrieval import Chunk, RetrievalOptions, Retriever
from schemas.usage import Role
from schemas.vocabulary import Language, RetrievalStage, Setting
from tasks.solvers.base import Call, Transcript
from tasks.solvers.longemotion.parameters import FAMILIES, ChunkCounts, Family, Parameters
from tasks.solvers.longemotion.prompts import LongPrompts

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


ModelRoles = Mapping[Role, RoleModel]
"""The models by role: `tested` is the one under test (CoEM-Core), `sage` enriches (CoEM-Sage), `critic` reads (Self-RAG)."""


@dataclass(frozen=True)
class SolverOptions:
    """A setting and its parameters."""

    setting: Setting
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
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


class Pool(NamedTuple):
    """The chunks of a corpus."""

    chunks: tuple[Chunk, ...]
    corpus: str = CONTEXT


@dataclass(frozen=True)
class SolverOutput:
    """What became of one long item; `written` are the chunks of what the model wrote itself.

    `transcript` holds the calls of the model under test; the last reply is the answer (of emotion expression all are). A call of
    Sage or critic that failed is its last call instead, since nothing can be asked then. A call that failed ends it.
    """

    transcript: Transcript
    retrieved: tuple[RetrievedChunk, ...] = ()
    written: tuple[Pool, ...] = ()


@dataclass(frozen=True)
class SolverResources:
    """What solvers work with: models by role, and what splits and ranks texts."""

    roles: ModelRoles
    retriever: Retriever


@dataclass(frozen=True)
class SolverState:
    """One item, asked once."""

    long_item: LongItem
    options: SolverOptions
    resources: SolverResources
    repetition: int
    parameters: Parameters
    prompts: LongPrompts

    @property
    def item(self) -> Item:
        """The item itself."""
        return self.long_item.item

    @property
    def language(self) -> Language:
        """Of item and prompts."""
        return self.item.language

    @cached_property
    def family(self) -> Family:
        """The task without its variant."""
        return FAMILIES[self.long_item.context.long_task]

    @property
    def retrieves_first(self) -> bool:
        """Whether chunks are retrieved before the model is asked; in Search-o1 it looks for them itself."""
        return self.parameters.retrieves and self.options.setting != "search_o1"

    @property
    def limit(self) -> int:
        """Longest reply of the embedded model, in its tokens."""
        limit: int = getattr(self.prompts, self.family).max_tokens
        # A turn that may search may as well be the answer.
        return max(limit, self.prompts.search.max_tokens) if self.options.setting == "search_o1" else limit


class Query(NamedTuple):
    """What ranks chunks, and how many are wanted; `text` is null where they are ranked against each other.

    `aspect` is the heading of what is found, where there are several queries.
    """

    number: int
    text: str | None
    counts: ChunkCounts
    aspect: str | None = None


class HelperNote(NamedTuple):
    """What a helper wrote about a chunk, and in which call."""

    text: str
    helper: str
    call_key: str

    @classmethod
    def of(cls, call: Call) -> "HelperNote":
        """Take the note from a helper's reply."""
        return cls((call.reply.text or "").strip(), call.request.model, call.request.key)


class Piece(NamedTuple):
    """A chunk as it stands in the prompt: `text`, or for emotion detection its segment and `note`."""

    chunk: Chunk
    text: str
    note: str | None = None


@dataclass(frozen=True)
class Retrieved:
    """What one query brought; after a helper's failed call, what there was until then."""

    pieces: tuple[Piece, ...] = ()
    rows: tuple[RetrievedChunk, ...] = ()
    heading: str | None = None
    knowledge: str | None = None
    failed: Call | None = None


Retrieve = Callable[[SolverState, Pool, Query], Awaitable[Retrieved]]
