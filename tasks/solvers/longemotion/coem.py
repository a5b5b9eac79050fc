"""Setting `coem`: rank chunks, have the Sage enrich them, rank again with what it wrote, show the best of these packs.

What the Sage is asked depends on no more than the text and, where the task says so, on the question: models under test, and
repetitions, share its replies.
"""

import asyncio
from collections.abc import Sequence

from schemas.retrieval import Chunk, Ranked
from tasks.solvers.base import Call
from tasks.solvers.longemotion.base import blame, call_model, first_failed, number_texts, say
from tasks.solvers.longemotion.rag import arrange, pick, rank_pool, rank_texts, record
from tasks.solvers.longemotion.state import HelperNote, Piece, Pool, Query, Retrieved, RetrievedChunk, SolverState


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
    calls = await asyncio.gather(*(_ask_sage(state, text) for text in asked))
    if failed := first_failed(calls):
        return Retrieved(rows=rows, failed=blame(failed, "sage"))
    notes = [HelperNote.of(call) for call in calls]
    found = await (_rerank_raw if together else _rerank_packs)(state, Pool(chosen, pool.corpus), query, notes)
    return Retrieved(found.pieces, rows + found.rows, query.aspect, found.knowledge)


def describe(state: SolverState, chunk: Chunk, query: Query) -> str:
    """Return what the Sage is asked about one chunk."""
    texts = state.prompts.sage.template(state.language)
    question = query.text or ""
    match state.long_item.context.long_task:
        case "ec_emobench":
            return texts.ec_emobench.format(piece=chunk.text)
        case "ec_finentity":
            return texts.ec_finentity.format(subject=state.long_item.context.query or state.item.question, piece=chunk.text)
        case "ed":
            return texts.ed.format(piece=chunk.text)
        case "qa":
            return texts.qa.format(question=question, piece=chunk.text)
        case "es":
            return texts.es.format(aspect=query.aspect, question=question, piece=chunk.text)
        case "ee":
            return texts.ee.format(piece=chunk.text)
        case task:
            raise ValueError(f"{task}: the Sage is asked about all chunks at once")


def describe_together(state: SolverState, chunks: Sequence[Chunk]) -> str:
    """Return what the Sage is asked about a conversation."""
    pieces = number_texts([chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.number)])
    return state.prompts.sage.template(state.language).mc.format(pieces=pieces, messages=state.item.question)


async def _ask_sage(state: SolverState, text: str) -> Call:
    texts = state.prompts.sage
    return await call_model(state.resources.roles.sage, say(texts.template(state.language).system, text), texts.max_tokens)


async def _rerank_packs(state: SolverState, chosen: Pool, query: Query, notes: Sequence[HelperNote]) -> Retrieved:
    form = state.prompts.sage.template(state.language).pack
    packs = [form.format(text=chunk.text, note=note.text) for chunk, note in zip(chosen.chunks, notes, strict=True)]
    by_number = {
        chunk.number: Piece(chunk, pack, note.text) for chunk, pack, note in zip(chosen.chunks, packs, notes, strict=True)
    }
    ranking = await _rank_again(state, packs, query.text)
    best = pick(chosen, ranking, query.counts.top_k)
    noted = {chunk.number: note for chunk, note in zip(chosen.chunks, notes, strict=True)}
    return Retrieved(
        pieces=tuple(by_number[chunk.number] for chunk in arrange(best, query)),
        rows=record("reranked", chosen, query, ranking, {chunk.number for chunk in best}, noted),
    )


async def _rerank_raw(state: SolverState, chosen: Pool, query: Query, notes: Sequence[HelperNote]) -> Retrieved:
    (note,) = notes
    by_note = query._replace(text=note.text)
    ranking = await _rank_again(state, [chunk.text for chunk in chosen.chunks], note.text)
    best = pick(chosen, ranking, query.counts.top_k)
    noted = dict.fromkeys((chunk.number for chunk in chosen.chunks), note)
    return Retrieved(
        pieces=tuple(Piece(chunk, chunk.text) for chunk in arrange(best, query)),
        rows=record("reranked", chosen, by_note, ranking, {chunk.number for chunk in best}, noted),
        knowledge=note.text,
    )


async def _rank_again(state: SolverState, texts: Sequence[str], query: str | None) -> tuple[Ranked, ...]:
    # As published, emotion classification ranks its one pack no second time.
    return (Ranked(0),) if len(texts) == 1 else await rank_texts(state, texts, query)
