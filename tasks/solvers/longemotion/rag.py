"""Rank chunks and keep the best: settings `rag` and `retrieve_only`, and the first stage of the others."""

from collections.abc import Collection, Mapping, Sequence

from schemas.errors import UsageError
from schemas.retrieval import Chunk, Ranked
from schemas.vocabulary import RetrievalStage
from tasks.solvers.longemotion.state import HelperNote, Piece, Query, Retrieved, SolverState
from tasks.solvers.state import Pool, RetrievedChunk

MOST_RECORDED = 100
"""Ranks that are recorded of a ranking of chunks, unless more are kept."""

NO_NOTES: Mapping[int, HelperNote] = {}


async def rank_texts(state: SolverState, texts: Sequence[str], query: str | None) -> tuple[Ranked, ...]:
    """Return all texts, best first; without a query, the one least like the others first. No texts give no ranks."""
    return await state.retriever.rank(texts, query, state.options.retrieval.ranking, state.language) if texts else ()


async def rank_pool(state: SolverState, pool: Pool, query: Query) -> tuple[Ranked, ...]:
    """Return the chunks of a pool, best first. They are ranked even if all are kept, so that every ranking is recorded."""
    return await rank_texts(state, [chunk.text for chunk in pool.chunks], query.text)


def pick(pool: Pool, ranking: Sequence[Ranked], count: int) -> tuple[Chunk, ...]:
    """Return the best chunks, best first."""
    return tuple(pool.chunks[ranked.place] for ranked in ranking[:count])


def arrange(chunks: Sequence[Chunk], query: Query) -> tuple[Chunk, ...]:
    """Return chunks in the order they are shown in: that of the document, or, ranked against each other, as ranked."""
    return tuple(chunks) if query.text is None else tuple(sorted(chunks, key=lambda chunk: chunk.number))


def record(
    stage: RetrievalStage,
    pool: Pool,
    query: Query,
    ranking: Sequence[Ranked],
    kept: Collection[int],
    notes: Mapping[int, HelperNote] = NO_NOTES,
) -> tuple[RetrievedChunk, ...]:
    """Record a ranking as rows.

    Args:
        stage: `reranked` is recorded whole, the others up to rank MOST_RECORDED or the last that is wanted.
        pool: what was ranked.
        query: what ranked it.
        ranking: best first.
        kept: numbers of the chunks that went on.
        notes: what helpers wrote, by number of the chunk.
    """
    wanted = max(query.counts.initial_k or query.counts.top_k, MOST_RECORDED)
    rows = []
    for rank, ranked in enumerate(ranking if stage == "reranked" else ranking[:wanted]):
        number = pool.chunks[ranked.place].number
        note = notes.get(number)
        rows.append(
            RetrievedChunk(
                query_number=query.number,
                stage=stage,
                rank=rank,
                chunk=number,
                kept=number in kept,
                corpus=pool.corpus,
                query=query.text,
                dense=ranked.dense,
                bm25=ranked.bm25,
                fused=ranked.fused,
                enriched=note.text if note else None,
                helper=note.helper if note else None,
                helper_call_key=note.call_key if note else None,
            )
        )
    return tuple(rows)


async def retrieve_chunks(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks as they are."""
    ranking = await rank_pool(state, pool, query)
    best = pick(pool, ranking, query.counts.top_k)
    return Retrieved(
        pieces=tuple(Piece(chunk, chunk.text) for chunk in arrange(best, query)),
        rows=record("initial", pool, query, ranking, {chunk.number for chunk in best}),
        heading=query.aspect,
    )


def context_pool(state: SolverState) -> Pool:
    """Return the chunks of the item's own context.

    Raises:
        UsageError: if the item has a context, or segments, but no chunks. A first message of a dialogue has no context.
    """
    chunks, item = state.asked.chunks, state.item
    if not chunks and (item.context or state.family == "ed"):
        raise UsageError(
            "an item of a setting that retrieves has no chunks",
            where=f"item {state.asked.item_id}, setting {state.options.setting}",
            expected="the chunks of its context",
            got="none",
            next_step="run moodflow infer again, which splits contexts first",
        )
    return Pool(chunks)


def context_queries(state: SolverState) -> tuple[Query, ...]:
    """Return what ranks the chunks of the item's own context. Of emotion expression, each step has its own.

    Source: LongEmotion; emotion classification is ranked by the bare subject, a conversation by its last three messages.
    """
    counts, question = state.parameters.counts, state.item.question
    if state.family == "ed":
        return (Query(0, None, counts),)
    if state.family == "es":
        aspects = state.prompts.es.template(state.language).aspects.values()
        return tuple(Query(number, aspect.query, counts, aspect.heading) for number, aspect in enumerate(aspects))
    if state.family == "mc" or (state.family == "ec" and state.options.retrieval.question_as_query):
        return (Query(0, question, counts),)
    return (Query(0, state.asked.built_context.query or question, counts),)
