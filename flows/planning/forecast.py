"""What a cell of long items would take, without asking: its solver plays the item through with replies that nobody wrote."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flows.planning.jobs import EvalJob, LongParts, helpers_of
from schemas.chat import ChatReply, ChatRequest
from schemas.plan import Plan
from schemas.retrieval import Chunk, Ranked
from schemas.usage import Role
from schemas.vocabulary import Language, Ranking
from tasks.lake.lake import Lake
from tasks.retrieval.chunking import split
from tasks.solvers.longemotion.chunk_rows import segments_of
from tasks.solvers.longemotion.context import LongItem, ModelRoles, RoleModel, SolverResources
from tasks.solvers.longemotion.longemotion_steps import read_long
from tasks.solvers.longemotion.solve import solve
from tasks.solvers.run import read_item

FAVOURABLE = "[Relevant] [Fully supported]"
"""Stands for a critic's reply: without a verdict it would be asked again."""

SENTENCE_TOKENS = 6
"""Fewest tokens of a sentence of what stands for other replies."""


def write_at_length(call: int, max_tokens: int) -> str:
    """Stands for any other reply, of a model that goes on for as long as it may: nothing but its length matters.

    No two pieces of it, and of other calls' replies, are equal: calls about equal pieces would be counted once.
    """
    return " ".join(f"Call {call}, sentence {number}." for number in range(max(max_tokens // SENTENCE_TOKENS, 1)))


@dataclass(frozen=True)
class LastFirstRetriever:
    """A retriever that finds a text the better the later it comes.

    Of what a model wrote itself, each step then finds what the step before it could not: no call would be made for two steps.
    """

    legacy_bos: bool

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        """As the real one does."""
        return split(text, chunk_tokens, overlap_tokens, legacy_bos=self.legacy_bos)

    async def rank(self, texts: Sequence[str], query: str, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:  # noqa: ARG002  the protocol's
        """The last one first."""
        return tuple(Ranked(place) for place in reversed(range(len(texts))))

    async def rank_outliers(self, texts: Sequence[str], ranking: Ranking, language: Language) -> tuple[Ranked, ...]:  # noqa: ARG002  the protocol's
        """The last one first."""
        return tuple(Ranked(place) for place in reversed(range(len(texts))))


@dataclass(frozen=True)
class PlannedCalls:
    """Calls by role.

    Those of a model that searches, and of a critic without a verdict, are a lower bound; those of a helper about what the model
    writes itself an upper one.
    """

    calls: dict[Role, list[ChatRequest]] = field(default_factory=dict)

    def player(self, role: Role, player: RoleModel) -> RoleModel:
        """The same model, whose calls are noted and not sent."""
        made = self.calls.setdefault(role, [])

        async def note(request: ChatRequest) -> ChatReply:
            made.append(request)
            text = FAVOURABLE if role == "critic" else write_at_length(len(made), player.entry.sampling.max_tokens)
            return ChatReply(text=text)

        return RoleModel(player.entry, note)


async def plan_long_requests(cell: EvalJob, parts: LongParts, plan: Plan, lake: Lake) -> dict[Role, list[ChatRequest]]:
    """The calls about a cell's items, by role.

    Args:
        cell: what is asked.
        parts: its parts.
        plan: resolved.
        lake: holds items and contexts.
    """
    planned, helpers = PlannedCalls(), helpers_of(plan, cell.entry, cell.setting)

    async def nobody(request: ChatRequest) -> ChatReply:
        raise AssertionError(f"{request.model} was to be asked in a forecast")

    core = planned.player("tested", RoleModel(cell.entry, nobody))
    sage = planned.player("sage", RoleModel(helpers.get("sage", cell.entry), nobody))
    critic = planned.player("critic", RoleModel(helpers.get("critic", cell.entry), nobody))
    hands = SolverResources(ModelRoles(core, sage, critic), LastFirstRetriever(plan.retrieval.counts_bos))
    job = parts.chunk_job
    for row, context in read_long(lake, parts.items, parts.contexts):
        item = read_item(row)
        chunks: tuple[Chunk, ...] = ()
        if job is not None:
            segments = segments_of(item.options or ()) if job.chunk_tokens is None else None
            chunks = segments or await hands.retriever.split(item.context or "", job.chunk_tokens or 1, job.overlap_tokens)
        for repetition in range(plan.repeat):
            await solve(LongItem(row["item_id"], item, context, chunks), parts.how, hands, repetition)
    return {role: made for role, made in planned.calls.items() if made}
