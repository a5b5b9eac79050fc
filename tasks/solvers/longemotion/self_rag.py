"""Setting `self_rag`: have a critic read every retrieved chunk, and leave out those of no use.

Chunks that are left out take no others with them, and how often the critic is asked has no bearing on the model under test: the
released code confuses both.
"""

import asyncio
import re

from schemas.retrieval import Chunk
from tasks.solvers.base import Call
from tasks.solvers.longemotion.base import say
from tasks.solvers.longemotion.rag import arrange, pick, rank_pool, record
from tasks.solvers.longemotion.state import HelperNote, Piece, Query, Retrieved, SolverState
from tasks.solvers.state import Pool, first_failed

MARK = re.compile(
    r"\[\s*(?:(?P<unfit>irrelevant)|(?P<fit>relevant)"
    r"|(?P<no>(?:no support|not supported|unsupported)(?:\s*/\s*contradictory)?)|(?P<yes>(?:fully|partially) supported))\s*\]",
    re.IGNORECASE,
)
"""Reflection marks, as the Self-RAG models and as the released code spell them."""

FAVOURABLE = "[Relevant] [Fully supported]"
"""A reply with a verdict."""

WITH_REMARK = frozenset({"qa", "es", "ed"})
"""Tasks that show the critic's words beside the chunk."""


async def retrieve_criticised(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks without those the critic dismisses; a chunk without a verdict is dismissed.

    Emotion detection keeps all, with the critic's words.
    """
    ranking = await rank_pool(state, pool, query)
    best = pick(pool, ranking, query.counts.top_k)
    asked = await asyncio.gather(*(criticise(state, chunk, query) for chunk in best))
    answered = [(chunk, call) for chunk, call in zip(best, asked, strict=True) if not call.reply.failure]
    notes = {chunk.number: HelperNote.of(call) for chunk, call in answered}
    useful = [chunk for chunk, call in answered if state.family == "ed" or read_marks(call.reply.text or "")]
    rows = record("initial", pool, query, ranking, {chunk.number for chunk in useful}, notes)
    calls = tuple(asked)
    if first_failed(calls):
        return Retrieved(rows=rows, calls=calls)
    pieces = tuple(_piece(state, chunk, notes[chunk.number]) for chunk in arrange(useful, query))
    return Retrieved(pieces, rows, query.aspect, calls=calls)


async def criticise(state: SolverState, chunk: Chunk, query: Query) -> Call:
    """Ask the critic about a chunk, once: it may be the model under test, which must not win by being asked more often."""
    texts = state.prompts.critic
    template = texts.template(state.language)
    messages = say(template.system, template.ask.format(instruction=_instruct(state, query), paragraph=chunk.text))
    return await state.resources.ask("critic", "criticise", messages, texts.max_tokens)


def read_marks(reply: str) -> bool | None:
    """Return what the marks of a reply say of a chunk; null if it bears none.

    Of each kind the last one counts. An irrelevant chunk is of no use, a relevant one as far as it supports; if the reply says
    nothing of support, it is.
    """
    found = [match.lastgroup for match in MARK.finditer(reply)]
    relevance = next((name for name in reversed(found) if name in {"fit", "unfit"}), None)
    support = next((name for name in reversed(found) if name in {"yes", "no"}), None)
    if relevance is None and support is None:
        return None
    return relevance != "unfit" and support != "no"


def _instruct(state: SolverState, query: Query) -> str:
    template = state.prompts.critic.template(state.language)
    if state.family == "ed":
        return template.ed
    # Emotion classification is ranked by a bare name, which says nothing of what is asked.
    question = state.item.question if state.family == "ec" else query.text
    text: str = getattr(template, state.family)
    return text.format(question=question)


def _piece(state: SolverState, chunk: Chunk, note: HelperNote) -> Piece:
    if state.family not in WITH_REMARK:
        return Piece(chunk, chunk.text)
    form = state.prompts.critic.template(state.language).pack
    return Piece(chunk, form.format(text=chunk.text, note=note.text), note.text)
