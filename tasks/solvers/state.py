"""What a solver works with and what it yields: the item asked, models in their roles, options, calls, further rows."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from schemas.chat import Chat, ModelEntry
from schemas.context import Context
from schemas.item import Item
from schemas.retrieval import Chunk, RetrievalOptions, Retriever
from schemas.usage import Role
from schemas.vocabulary import RetrievalStage, Setting, TooLong
from tasks.solvers.base import Transcript

CONTEXT = "context"
"""Corpus of the chunks of an item's own context."""


@dataclass(frozen=True)
class AskedItem:
    """An item as a solver gets it.

    `context`: what is known of a context that was built for it; null = nothing was. `chunks` are those of `item.context`; of an
    `odd_one_out` item its options, one each, numbered in order. Empty where the setting does not retrieve, or the corpus is what
    the model writes.
    """

    item_id: str
    item: Item
    context: Context | None = None
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
    too_long: TooLong = "missing"
    """What becomes of items longer than the model's context."""


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
    """What became of one item; `written` are the chunks of what the model wrote itself.

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
    retriever: Retriever | None = None
    """Null where no setting of the run retrieves."""


Solve = Callable[[AskedItem, SolverOptions, SolverResources, int], Awaitable[SolverOutput]]
"""Ask one item: from the item, the options, the models and the number of its calls among equal ones."""
