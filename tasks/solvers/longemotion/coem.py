"""Setting `coem`: rank chunks, have the Sage enrich them, rank again with what it wrote, show the best of these packs.

What the Sage is asked depends on no more than the text and, where the task says so, on the question: models under test, and
repetitions, share its replies.
"""

import asyncio
from collections.abc import Sequence

from schemas.retrieval import Chunk, Ranked
from tasks.solvers.longemotion.base import number_texts, say
from tasks.solvers.longemotion.rag import arrange, pick, rank_pool, rank_texts, record
from tasks.solvers.longemotion.state import HelperNote, Piece, Query, Retrieved, SolverState
from tasks.solvers.state import Pool, RetrievedChunk, first_failed


async def retrieve_enriched(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks of both rankings, each with what the Sage wrote about it; in a conversation, about all of them.

    Emotion detection has no first ranking: the Sage enriches all segments.
    """
    rows, chosen = tuple[RetrievedChunk, ...](), pool.chunks
    if query.text is not None:
        ranking = await rank_pool(state, pool, query)
        chosen = pick(pool, ranking, query.counts.initial_k or len(ranking))
        rows = record("initial", pool, query, ranking, {chunk.number for chunk in chosen})
    if not chosen:
        return Retrieved(heading=query.aspect)
    together = state.family == "mc"
    asked = [describe_together(state, chosen)] if together else [describe(state, chunk, query) for chunk in chosen]
    sage = state.prompts.sage
    prompts = (say(sage.template(state.language).system, text) for text in asked)
    calls = await asyncio.gather(*(state.resources.ask("sage", "enrich", prompt, sage.max_tokens) for prompt in prompts))
    if first_failed(calls):
        return Retrieved(rows=rows, calls=tuple(calls))
    notes = [HelperNote.of(call) for call in calls]
    if together:
        # The one note ranks the chunks as they are.
        ranked_by = query._replace(text=notes[0].text)
        knowledge = notes[0].text
        notes *= len(chosen)
        pieces = [Piece(chunk, chunk.text) for chunk in chosen]
    else:
        ranked_by, knowledge = query, None
        form = sage.template(state.language).pack
        noted = zip(chosen, notes, strict=True)
        pieces = [Piece(chunk, form.format(text=chunk.text, note=note.text), note.text) for chunk, note in noted]
    # As published, emotion classification ranks its one pack no second time.
    texts = [piece.text for piece in pieces]
    ranking = (Ranked(0),) if len(texts) == 1 else await rank_texts(state, texts, ranked_by.text)
    best = pick(Pool(chosen), ranking, query.counts.top_k)
    by_number = {piece.chunk.number: piece for piece in pieces}
    notes_by_number = dict(zip(by_number, notes, strict=True))
    kept = {chunk.number for chunk in best}
    return Retrieved(
        pieces=tuple(by_number[chunk.number] for chunk in arrange(best, query)),
        rows=rows + record("reranked", Pool(chosen, pool.corpus), ranked_by, ranking, kept, notes_by_number),
        heading=query.aspect,
        knowledge=knowledge,
        calls=tuple(calls),
    )


def describe(state: SolverState, chunk: Chunk, query: Query) -> str:
    """Return what the Sage is asked about one chunk."""
    context = state.asked.built_context
    text: str = getattr(state.prompts.sage.template(state.language), context.task)
    subject = context.query or state.item.question
    return text.format(piece=chunk.text, question=query.text or "", aspect=query.aspect, subject=subject)


def describe_together(state: SolverState, chunks: Sequence[Chunk]) -> str:
    """Return what the Sage is asked about a conversation."""
    pieces = number_texts([chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.number)])
    return state.prompts.sage.template(state.language).mc.format(pieces=pieces, messages=state.item.question)
