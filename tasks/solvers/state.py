"""What a solver works with and what it yields: the item asked, models in their roles, options, calls, further rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.base import Frozen
from schemas.chat import Chat, ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.context import Chunk, Context, RetrievalOptions, Retriever
from schemas.errors import UsageError
from schemas.item import Item
from schemas.usage import TESTED, Role
from schemas.vocabulary import RetrievalStage, TooLong
from tasks.solvers.prompts import OwnPrompts, PromptFolder

CONTEXT = "context"
"""Corpus of the chunks of an item's own context."""


class Call(NamedTuple):
    """One call and what became of it.

    `role`: who was asked, `tested` is the model under test. `step`: what for. `left_out_characters` of the item's context were
    not sent, 0 = it was sent whole.
    """

    request: ChatRequest
    reply: ChatReply
    role: Role = TESTED
    step: str = "answer"
    left_out_characters: int = 0


@dataclass(frozen=True)
class AskedItem:
    """An item as a solver gets it.

    `context`: what is known of a context that was built for it. `chunks` are those of `item.context`, or of a context in
    segments the item's options; empty where the setting does not retrieve, or searches what the model writes.
    """

    item_id: str
    item: Item
    context: Context | None = None
    chunks: tuple[Chunk, ...] = ()

    @property
    def built_context(self) -> Context:
        """What is known of its context, which was built."""
        if self.context is None:
            raise AssertionError(f"item {self.item_id} has no context that was built for it")
        return self.context

    def require_context(self, setting: str, question_type: str, kind: str) -> str:
        """Return its context, which a setting asks about; raise UsageError if it is none of that kind, such as `role card`."""
        item = self.item
        if item.question_type == question_type and item.context:
            return item.context
        raise UsageError(
            f"an item has no {kind}",
            where=f"--settings {setting}, item {self.item_id}",
            expected=f"question_type {question_type}, the {kind} as its context",
            got=item.question_type if item.context else f"{item.question_type} without context",
            next_step=f"use datasets with a {kind}, or another setting for these",
        )


@dataclass(frozen=True)
class RoleModel:
    """A model in a role, with its client."""

    entry: ModelEntry
    chat: Chat


class NoOptions(Frozen):
    """The parameters of a solver that has none of its own."""


OptionsT = TypeVar("OptionsT", bound=Frozen)
NO_OPTIONS: Any = NoOptions()
"""A default, which the type checker takes for any type of options."""


@dataclass(frozen=True)
class SolverOptions(Generic[OptionsT]):
    """A setting and its parameters; `own` are those of the type that its solver states."""

    setting: str
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    length_demand: bool = True
    too_long: TooLong = "missing"
    """What becomes of items longer than the model's context."""

    own: OptionsT = NO_OPTIONS
    prompts: OwnPrompts = field(default_factory=dict)
    """Those of the blueprint, in place of ours."""


PlainOptions = SolverOptions[NoOptions]
"""Of a setting without parameters of its own."""


class Chunking(NamedTuple):
    """How contexts are split; `chunk_tokens` null = they come in segments, each of which is a chunk."""

    chunk_tokens: int | None
    overlap_tokens: int
    legacy_bos: bool = False


@dataclass(frozen=True)
class SolverCode:
    """Code and texts that a solver's calls rest on: enters the keys of what it yields.

    Attributes:
        version: bumped when the same calls are recorded otherwise.
        prompts: their texts, by hash; null = it takes them from the items.
        versions: what else has a version of its own, by its name in a key's settings.
    """

    version: str
    prompts: type[PromptFolder] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def settings(self, own: OwnPrompts) -> dict[str, str]:
        """Return what of it changes the calls; `own`: prompts of the blueprint."""
        return {**({"prompts_sha256": self.prompts.load(own).sha256} if self.prompts else {}), **self.versions}


@dataclass(frozen=True)
class SolverPlan:
    """How a solver asks one dataset, as far as it is known before.

    Attributes:
        code: that its calls rest on.
        settings: what else changes them, besides models, repetitions and truncation.
        chunking: how contexts are split for it; null = they are not.
        yields: layers it writes besides responses and answers: `retrievals`, `chunks` of what a model wrote.
    """

    code: SolverCode
    settings: Mapping[str, Any] = field(default_factory=dict)
    chunking: Chunking | None = None
    yields: frozenset[str] = frozenset()


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


class DialogueTurn(NamedTuple):
    """What one party of a dialogue said, and in which call; a line and the reply to it share their number `turn`, from 1."""

    speaker: str
    text: str
    turn: int
    call: Call

    @classmethod
    def of(cls, call: Call, turn: int) -> "DialogueTurn":
        """Take the reply to an answered call for what the one who was asked says."""
        return cls(call.role, call.reply.text or "", turn, call)


@dataclass(frozen=True)
class Answer:
    """What is read, judged and scored of an item: a text, or the turns of a dialogue; neither where a call failed.

    Attributes:
        part: which of several answers of the item; empty where it has one.
        text: what answers.restate_answers takes from the replies to `rests_on`, by which it is verified; null = there is none.
        turns: of a dialogue, in order; each says what the reply to its call does.
        failed_role: whose call failed, so that there is no answer; null = no call did.
        rests_on: the calls it was taken from, or the one that failed.
    """

    rests_on: tuple[Call, ...]
    part: str = ""
    text: str | None = None
    turns: tuple[DialogueTurn, ...] = ()
    failed_role: Role | None = None


@dataclass(frozen=True)
class SolverOutput:
    """What became of one item.

    Attributes:
        calls: every call in order, whoever was asked; a call that failed ends what rests on it.
        answers: one, or one per part.
        retrieved: chunks that were ranked.
        written: chunks of what the model wrote itself.
    """

    calls: tuple[Call, ...]
    answers: tuple[Answer, ...]
    retrieved: tuple[RetrievedChunk, ...] = ()
    written: tuple[Pool, ...] = ()


def state_answer(calls: Sequence[Call], part: str = "") -> tuple[Answer, ...]:
    """State an answer that is the reply to the last call, if none failed."""
    if failed := first_failed(calls):
        return (Answer((failed,), part, failed_role=failed.role),)
    return (Answer((calls[-1],), part, text=calls[-1].reply.text),)


def says_something(text: str) -> bool:
    """Return whether a text has at least one letter, digit or Chinese character."""
    return any(character.isalnum() for character in text)


def first_failed(calls: Sequence[Call]) -> Call | None:
    """Return the first call that failed; null if all were answered."""
    return next((call for call in calls if call.reply.failure is not None), None)


@dataclass(frozen=True)
class SolverResources:
    """What solvers work with: models by role, `tested` and the helpers of the setting, and what splits and ranks texts."""

    roles: Mapping[Role, RoleModel]
    retriever: Retriever | None = None
    """Null where no setting of the run retrieves."""

    def sampled(self, role: Role, **changed: Any) -> "SolverResources":
        """Return the same with other sampling parameters of a role's model."""
        entry = self.roles[role].entry
        entry = entry.model_copy(update={"sampling": entry.sampling.model_copy(update=changed)})
        return replace(self, roles={**self.roles, role: replace(self.roles[role], entry=entry)})

    async def ask(
        self,
        role: Role,
        step: str,
        messages: Sequence[ChatMessage],
        limit: int | None = None,
        repetition: int = 0,
        **more: Any,
    ) -> Call:
        """Ask the model of a role; `step` says what for, and `more` are fields of the request that most calls leave out.

        `limit` is the longest reply of the embedded model, which rambles on. Any other may reason first: its entry limits it.
        `repetition` is the number of the call among equal ones; of helpers 0, so that what they say is asked for once.
        """
        entry, sampling = self.roles[role].entry, self.roles[role].entry.sampling
        if entry.base_url is None and limit is not None:
            sampling = sampling.model_copy(update={"max_tokens": min(limit, sampling.max_tokens)})
        request = ChatRequest(
            model=entry.name,
            identity=entry.identity,
            messages=tuple(messages),
            sampling=sampling,
            repetition=repetition,
            capabilities=entry.dialect or DEFAULT_CAPABILITIES,
            **more,
        )
        return Call(request, await self.roles[role].chat(request), role, step)
