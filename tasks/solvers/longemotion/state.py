"""What the solvers of all settings pass on: an item and how to ask it, queries, pools of chunks, what was gathered."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from schemas.item import Item
from schemas.retrieval import Chunk
from schemas.vocabulary import Language
from tasks.solvers.base import Call
from tasks.solvers.longemotion.context import CONTEXT, LongItem, RetrievedChunk, SolverOptions, SolverResources
from tasks.solvers.longemotion.parameters import ChunkCounts, Family, Parameters, task_family
from tasks.solvers.longemotion.prompts import LongPrompts


@dataclass(frozen=True)
class SolverState:
    """One item, asked once."""

    long_item: LongItem
    how: SolverOptions
    hands: SolverResources
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
        return task_family(self.long_item.context.long_task)

    @property
    def gathers(self) -> bool:
        """Whether chunks are gathered before the model is asked; in Search-o1 it looks for them itself."""
        return self.parameters.retrieves and self.how.setting != "search_o1"

    @property
    def limit(self) -> int:
        """Longest reply of the embedded model, in its tokens."""
        limit: int = getattr(self.prompts, self.family).max_tokens
        # A turn that may search may as well be the answer.
        return max(limit, self.prompts.search.max_tokens) if self.how.setting == "search_o1" else limit


class Query(NamedTuple):
    """What ranks chunks, and how many are wanted; `text` is null where they are ranked against each other.

    `aspect` is the heading of what is found, where there are several queries.
    """

    number: int
    text: str | None
    counts: ChunkCounts
    aspect: str | None = None


class Pool(NamedTuple):
    """The chunks of a corpus."""

    chunks: tuple[Chunk, ...]
    corpus: str = CONTEXT


class HelperNote(NamedTuple):
    """What a helper wrote about a chunk, and in which call."""

    text: str
    helper: str
    call_key: str


class Piece(NamedTuple):
    """A chunk as it stands in the prompt: `text`, or for emotion detection its segment and `note`."""

    chunk: Chunk
    text: str
    note: str | None = None


@dataclass(frozen=True)
class Gathered:
    """What one query brought; after a helper's failed call, what there was until then."""

    pieces: tuple[Piece, ...] = ()
    rows: tuple[RetrievedChunk, ...] = ()
    heading: str | None = None
    knowledge: str | None = None
    failed: Call | None = None


Gather = Callable[[SolverState, Pool, Query], Awaitable[Gathered]]
