"""State of a solver: item, options, models in their roles, queries, pools of chunks, what was retrieved, output."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from schemas.item import Item
from schemas.retrieval import Chunk, Retriever
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES, ChunkCounts, Family, Parameters
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.solvers.base import Call
from tasks.solvers.state import AskedItem, PlainOptions, Pool, RetrievedChunk, SolverResources


@dataclass(frozen=True)
class SolverState:
    """One item, asked once."""

    asked_item: AskedItem
    options: PlainOptions
    resources: SolverResources
    repetition: int
    parameters: Parameters
    prompts: LongEmotionPrompts

    @property
    def item(self) -> Item:
        """The item itself."""
        return self.asked_item.item

    @property
    def language(self) -> Language:
        """Of item and prompts."""
        return self.item.language

    @cached_property
    def family(self) -> Family:
        """The task without its variant."""
        return FAMILIES[self.asked_item.built_context.task]

    @property
    def retriever(self) -> Retriever:
        """What splits and ranks texts."""
        if self.resources.retriever is None:
            raise AssertionError(f"setting {self.options.setting} retrieves, and the run opened no retriever")
        return self.resources.retriever

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

    With several queries `aspect` is the heading of what each finds.
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
    """What one query brought, and the helper's calls about it; after one that failed, what there was until then."""

    pieces: tuple[Piece, ...] = ()
    rows: tuple[RetrievedChunk, ...] = ()
    heading: str | None = None
    knowledge: str | None = None
    calls: tuple[Call, ...] = ()


Retrieve = Callable[[SolverState, Pool, Query], Awaitable[Retrieved]]
