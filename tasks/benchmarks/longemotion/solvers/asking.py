"""One item as it is asked: its state, the chunks that are retrieved for it, the messages that ask it.

The text comes first and what differs between settings after it: prompts that begin alike share what a server has in its cache.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from schemas.chat import ChatMessage
from schemas.context import Chunk, Retriever
from schemas.item import Item
from schemas.usage import TESTED
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES, ChunkCounts, Family, Parameters
from tasks.benchmarks.longemotion.solvers.prompts import ContextTemplate, LongEmotionPrompts, RetrievingTemplate
from tasks.solvers.state import AskedItem, Call, PlainOptions, RetrievedChunk, SolverResources


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


def say(system: str, *blocks: str) -> tuple[ChatMessage, ...]:
    """Return a system message and a user message; a blank line stands between its blocks."""
    return (ChatMessage(role="system", content=system), ChatMessage(role="user", content="\n\n".join(blocks)))


async def call_tested(state: SolverState, messages: Sequence[ChatMessage], step: str = "answer") -> Call:
    """Ask the model under test; `step` says what for."""
    return await state.resources.ask(TESTED, step, messages, state.limit, state.repetition)


def build_messages(state: SolverState, retrieved: Sequence[Retrieved] = ()) -> tuple[ChatMessage, ...]:
    """Return the messages that ask an item."""
    blocks = {"mc": _dialogue_blocks, "ed": _segment_blocks}.get(state.family, _context_blocks)(state, retrieved)
    template: RetrievingTemplate = getattr(state.prompts, state.family).template(state.language)
    if state.options.setting != "search_o1" or not state.parameters.retrieves:
        return say(template.system, *blocks)
    how_to_search = state.prompts.search.template(state.language).system
    searches = how_to_search.format(searches=state.options.retrieval.most_searches)
    return say(f"{template.system}\n\n{searches}", *blocks)


def number_texts(texts: Sequence[str]) -> str:
    """Return texts with their numbers, the first being 1; a blank line stands between them."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))


def show_segment(index: int, text: str, note: str | None = None) -> str:
    """Return a segment as one line of JSON."""
    fields = {"index": index, "context": text, **({} if note is None else {"note": note})}
    return json.dumps(fields, ensure_ascii=False)


def show_retrieved(state: SolverState, template: RetrievingTemplate, retrieved: Sequence[Retrieved]) -> list[str]:
    """Return the block of all pieces, grouped under their headings; none if there are no pieces."""
    groups = [
        (f"## {group.heading}\n" if group.heading else "") + number_texts([piece.text for piece in group.pieces])
        for group in retrieved
        if group.pieces
    ]
    form = template.excerpts if state.options.setting == "retrieve_only" else template.retrieved
    return [form.format(pieces="\n\n".join(groups))] if groups else []


def _context_blocks(state: SolverState, retrieved: Sequence[Retrieved]) -> list[str]:
    template: ContextTemplate = getattr(state.prompts, state.family).template(state.language)
    item = state.item
    # Of choices, which are comma-joined as published, the template of EC alone has a field.
    question = template.question.format(question=item.question, options=", ".join(item.options or ()))
    whole = [] if state.options.setting == "retrieve_only" else [template.context.format(context=item.context or "")]
    return [*whole, *show_retrieved(state, template, retrieved), question, template.instruction]


def _segment_blocks(state: SolverState, retrieved: Sequence[Retrieved]) -> list[str]:
    template = state.prompts.ed.template(state.language)
    segments = state.item.options or ()
    pieces = [piece for group in retrieved for piece in group.pieces]
    segment_lines = "\n".join(show_segment(piece.chunk.number, piece.chunk.text, piece.note) for piece in pieces)
    rest = [template.question.format(question=state.item.question), template.instruction]
    if state.options.setting == "retrieve_only":
        return [template.excerpts.format(count=len(segments), shown=len(pieces), pieces=segment_lines), *rest]
    lines = "\n".join(show_segment(index, text) for index, text in enumerate(segments))
    excerpts = [template.retrieved.format(pieces=segment_lines)] if pieces else []
    return [template.segments.format(count=len(segments), segments=lines), *excerpts, *rest]


def _dialogue_blocks(state: SolverState, retrieved: Sequence[Retrieved]) -> list[str]:
    template = state.prompts.mc.template(state.language)
    history, messages = state.item.context, state.item.question
    if not state.retrieves_first:
        dialogue = f"{history}\n{messages}" if history else messages
        return [template.dialogue.format(dialogue=dialogue), template.instruction]
    with_history = history and state.options.setting != "retrieve_only"
    return [
        *([template.history.format(history=history)] if with_history else []),
        *show_retrieved(state, template, retrieved),
        *(template.knowledge.format(knowledge=group.knowledge) for group in retrieved if group.knowledge),
        template.last_messages.format(messages=messages),
        template.instruction,
    ]
