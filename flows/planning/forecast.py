"""Forecast the calls of a job of long items: its solver is run with invented replies."""

from collections.abc import Sequence
from dataclasses import dataclass

from flows.planning.jobs import EvalJob, LongParts, helpers_of
from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.plan import Plan
from schemas.retrieval import Chunk, Ranked
from schemas.usage import Role
from schemas.vocabulary import Language, Ranking
from tasks.lake.lake import Lake
from tasks.retrieval.chunking import split
from tasks.solvers.longemotion.chunk_rows import segments_of
from tasks.solvers.longemotion.solve import solve
from tasks.solvers.longemotion.state import LongItem, RoleModel, SolverResources
from tasks.solvers.longemotion.steps import read_long
from tasks.solvers.run import read_item

FAVOURABLE = "[Relevant] [Fully supported]"
"""Invented reply of a critic: without a verdict it would be asked again."""

SENTENCE_TOKENS = 6
"""Fewest tokens of a sentence of other invented replies."""


def write_at_length(call: int, max_tokens: int) -> str:
    """Return the longest reply a model may give; nothing but its length matters.

    No two pieces of it, and of other calls' replies, are equal: calls about equal pieces would be counted once.
    """
    return " ".join(f"Call {call}, sentence {number}." for number in range(max(max_tokens // SENTENCE_TOKENS, 1)))


@dataclass(frozen=True)
class LastFirstRetriever:
    """A retriever that ranks a text the higher the later it comes.

    Of what a model wrote itself, each step then finds what the step before it could not: no call would be made for two steps.
    """

    legacy_bos: bool

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        """Split as the real one does."""
        return split(text, chunk_tokens, overlap_tokens, legacy_bos=self.legacy_bos)

    async def rank(self, texts: Sequence[str], query: str, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:  # noqa: ARG002  the protocol's
        """Rank the last one first."""
        return tuple(Ranked(place) for place in reversed(range(len(texts))))

    async def rank_outliers(self, texts: Sequence[str], ranking: Ranking, language: Language) -> tuple[Ranked, ...]:  # noqa: ARG002  the protocol's
        """Rank the last one first."""
        return tuple(Ranked(place) for place in reversed(range(len(texts))))


async def plan_long_requests(job: EvalJob, parts: LongParts, plan: Plan, lake: Lake) -> dict[Role, list[ChatRequest]]:
    """Return the calls about a job's items, by role; none is sent.

    Those of a model that searches, and of a critic without a verdict, are a lower bound; those of a helper about what the model
    writes itself an upper one.

    Args:
        job: what is asked.
        parts: its parts.
        plan: resolved.
        lake: holds items and contexts.
    """
    calls: dict[Role, list[ChatRequest]] = {}

    def planned(role: Role, entry: ModelEntry) -> RoleModel:
        made = calls.setdefault(role, [])

        async def note(request: ChatRequest) -> ChatReply:
            made.append(request)
            return ChatReply(text=FAVOURABLE if role == "critic" else write_at_length(len(made), entry.sampling.max_tokens))

        return RoleModel(entry, note)

    entries: dict[Role, ModelEntry] = {"tested": job.entry, **helpers_of(plan, job.entry, job.setting)}
    roles = {role: planned(role, entry) for role, entry in entries.items()}
    resources = SolverResources(roles, LastFirstRetriever(plan.retrieval.counts_bos))
    splitting = parts.chunk_job
    for row, context in read_long(lake, parts.items, parts.contexts):
        item = read_item(row)
        chunks: tuple[Chunk, ...] = ()
        if splitting is not None:
            segments = segments_of(item.options or ()) if splitting.chunk_tokens is None else None
            chunks = segments or await resources.retriever.split(
                item.context or "", splitting.chunk_tokens or 1, splitting.overlap_tokens
            )
        for repetition in range(plan.repeat):
            await solve(LongItem(row["item_id"], item, context, chunks), parts.options, resources, repetition)
    return {role: made for role, made in calls.items() if made}
